"""Sweeps: every task without an intact record is run, and recorded when it is finished.

The driver is the only writer, so workers need no shared folder, and what a record says does not depend on where its
task ran.  Whatever dies at whatever moment, the records are those of finished tasks: calling again does the rest.  Two
drivers in one folder are harmless.  They may compute a task twice; both write the same record, each in one piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import TypeAlias

from kflip.errors import InputError
from kflip.sweep.estimate import Estimate
from kflip.sweep.local import Local
from kflip.sweep.records import Store
from kflip.sweep.tasks import Task
from kflip.sweep.work import Backend


@dataclass(frozen=True)
class Failure:
    """A task that raised an error, in one line."""

    task: Task
    error: str

    def __str__(self) -> str:
        return f"{self.task}: {self.error}"


@dataclass(frozen=True)
class Outcome:
    """What a sweep did.

    Attributes
    ----------
    kept
        Tasks whose records were there before.
    done
        Tasks that were run and recorded.
    failures
        Tasks that failed; the next sweep tries them again.
    """

    kept: int
    done: int
    failures: tuple[Failure, ...]

    @property
    def total(self) -> int:
        """All tasks, each counted once."""
        return self.kept + self.done + len(self.failures)


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Attributes
    ----------
    total
        All tasks, each counted once.
    kept, done, failed
        Those with a record from before, those recorded now, those that failed.
    width
        How many run at a time; 0 while a cluster has no worker.
    seconds_left
        Estimate; None while nobody knows.
    """

    total: int
    kept: int
    done: int
    failed: int
    width: int
    seconds_left: float | None


Progress: TypeAlias = Callable[[Status], None]


def sweep(
    tasks: Iterable[Task],
    store: Store,
    *,
    workers: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run the tasks that have no intact record, and record them.

    Parameters
    ----------
    tasks
        In the order in which they begin; repeated ones count once.
    store
        Where the records are.
    workers
        Local processes; by default one for each core that may be used.
    cluster
        Address of a Dask scheduler such as ``"tcp://host:8786"``, or ``"dask"`` for the one that Dask's configuration
        names; by default tasks run on this machine.
    progress
        Called at the beginning, when a task is finished, and now and then.

    Notes
    -----
    On Ctrl-C running tasks are abandoned and no process is left; the records written so far are complete.

    Examples
    --------
    >>> from kflip import Setting
    >>> tasks = [Task("tiny", Setting(4), budget=1000, method="one-bit", seed=0)]
    >>> sweep(tasks, Store("results")).total  # doctest: +SKIP
    1
    """
    if workers is not None and cluster is not None:
        raise InputError("a cluster has its own workers: give workers or cluster, not both")
    unique = list({task.key: task for task in tasks}.values())
    store.prepare()
    records = [(task, store.find(task)) for task in unique]
    missing = [task for task, record in records if record is None]
    estimate = Estimate(missing)
    for task, record in records:
        if record is not None:
            estimate.learn(task, record["seconds"])
    kept, done, failures = len(unique) - len(missing), 0, list[Failure]()
    if missing:
        backend = backend_for(workers, cluster)
        with closing(backend.run(missing)) as stream:
            for item in chain([None], stream):
                if item is not None:
                    estimate.drop(item.task)
                    if item.result is None:
                        failures.append(Failure(item.task, item.error))
                    else:
                        store.save(item.task, item.result, item.seconds)
                        estimate.learn(item.task, item.seconds)
                        done += 1
                if progress is not None:
                    left = estimate.seconds_left(backend.width)
                    progress(Status(len(unique), kept, done, len(failures), backend.width, left))
    return Outcome(kept, done, tuple(failures))


def backend_for(workers: int | None, cluster: str | None) -> Backend:
    """Where tasks run; Dask is loaded only if it is asked for."""
    if cluster is None:
        return Local(workers)
    from kflip.sweep.cluster import Cluster

    return Cluster(cluster)
