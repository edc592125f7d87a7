"""How a sweep shows where it is: a line that moves on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from kflip.cli import common

if TYPE_CHECKING:
    from kflip.sweep.drive import Progress as Hook
    from kflip.sweep.drive import Status

#: Seconds between two lines in a pipe.
PAUSE = 10.0


@contextmanager
def watching() -> Iterator[Hook]:
    """The hook to give to :func:`kflip.sweep.sweep`."""
    if not common.on_terminal(sys.stderr):
        yield _Lines()
        return
    columns = TextColumn("sweep"), BarColumn(), TextColumn("{task.description}", markup=False), _TimeLeft()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def move(status: Status) -> None:
            finished = status.kept + status.done + status.failed
            # the estimate holds until the next one: in between it is counted down
            until = None if status.seconds_left is None else monotonic() + status.seconds_left
            bar.update(task, total=status.total, completed=finished, description=counts(status), until=until)

        yield move


class _Lines:
    """A line at the beginning, at the end, and now and then."""

    def __init__(self) -> None:
        self._last = -PAUSE

    def __call__(self, status: Status) -> None:
        over = status.kept + status.done + status.failed == status.total
        if over or monotonic() - self._last >= PAUSE:
            self._last = monotonic()
            typer.echo(f"{counts(status)}, {left(status.seconds_left)}", err=True)


class _TimeLeft(ProgressColumn):
    """Counts the last estimate down."""

    def render(self, task: Task) -> Text:
        until = task.fields.get("until")
        return Text(left(None if until is None else max(0.0, until - monotonic())))


def counts(status: Status) -> str:
    """Tasks done, failed and kept, and a word if nobody works."""
    text = f"{status.kept + status.done + status.failed}/{status.total} tasks"
    if status.failed:
        text += f", {status.failed} failed"
    return text if status.width else f"{text}, waiting for workers"


def left(seconds: float | None) -> str:
    """An estimate in words, as coarse as it is."""
    if seconds is None:
        return "time left unknown"
    if seconds < 60:
        return f"about {seconds:.0f} s left"
    minutes = round(seconds / 60)
    return f"about {minutes} min left" if minutes < 120 else f"about {minutes // 60} h {minutes % 60:02} min left"
