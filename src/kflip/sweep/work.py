"""One task done somewhere else: plain values go there, plain values come back.

The same function serves local processes and clusters.  An exception is an answer too, one line long: it reaches the
driver whatever its type, and other tasks go on.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from kflip.errors import InputError
from kflip.sweep.tasks import Task, run


@dataclass(frozen=True)
class Finished:
    """A task that came back.

    Attributes
    ----------
    task
        Which one.
    result, seconds
        What it found and how long it took; no result if it failed.
    error
        Why it failed, in one line; empty if it did not.
    """

    task: Task
    result: dict[str, Any] | None = None
    seconds: float = 0.0
    error: str = ""


class Backend(Protocol):
    """Where tasks run."""

    @property
    def width(self) -> int:
        """How many tasks run at a time, now."""

    def run(self, tasks: Sequence[Task]) -> Generator[Finished | None, None, None]:
        """Every task once, in the order in which they finish; None now and then while nothing does.

        Closing the iterator abandons what is running.
        """


def work(content: dict[str, Any]) -> dict[str, Any]:
    """Do the task that :meth:`Task.to_dict` described; an answer for :func:`finished`."""
    begin = perf_counter()
    try:
        result = run(Task.from_dict(content))
    except Exception as error:  # whatever a learner raises is this task's failure, not the sweep's
        return {"error": one_line(error)}
    return {"result": result, "seconds": perf_counter() - begin}


def finished(task: Task, answer: dict[str, Any]) -> Finished:
    """The task with the answer of :func:`work`."""
    return Finished(task, **answer)


def one_line(error: BaseException) -> str:
    """An exception in one line; its type is told unless the message was written for the user."""
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}".removesuffix(": ")
