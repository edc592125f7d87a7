"""Tasks on a Dask cluster, whose workers may join, leave and die.

A task's key on the cluster is the key of its record, so a driver that comes back while a worker still computes a task
of its dead predecessor joins in.  The scheduler gives the tasks of a dead worker to others; after a few deaths it
suspects the task, and we submit it anew, a few times.  When the driver leaves or dies, the scheduler forgets what it
had asked for.  Only a window of tasks is submitted at a time.

Results travel as plain values by Dask's own transport, which trusts the machines of the cluster.
"""

from __future__ import annotations

import importlib
import logging
import re
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from math import inf
from time import monotonic, sleep
from typing import Any

from kflip.errors import InputError
from kflip.sweep.tasks import Task
from kflip.sweep.work import Finished, finished, one_line, work

#: Stands for the scheduler that Dask's configuration names.
CONFIGURED = "dask"

#: Seconds until a scheduler that does not answer is given up, and between two looks at the number of workers.
PATIENCE, TICK = 10.0, 2.0

#: Seconds between two looks for results.
PAUSE = 0.02

#: How often a task is submitted; each time the scheduler survives a few deaths of its worker.
TRIES = 5

#: Tasks submitted at a time: so many, and some for each thread of the cluster.
WINDOW, WINDOW_PER_THREAD = 16, 3


class Cluster:
    """A connection to a scheduler.

    Parameters
    ----------
    address
        Such as ``"tcp://host:8786"``, or ``"dask"`` for what Dask's configuration says.
    """

    def __init__(self, address: str) -> None:
        try:
            self._dask: Any = importlib.import_module("distributed")
        except ImportError:
            raise InputError("a cluster needs Dask: pip install 'kflip[cluster]'") from None
        self.address = _configured() if address == CONFIGURED else address
        if not re.fullmatch(r"(tcp|tls|ucx|wss?)://\S+:\d{1,5}", self.address):
            raise InputError(f"a cluster is {CONFIGURED!r} or an address such as tcp://host:8786, not {self.address!r}")
        self.width = 0

    def run(self, tasks: Sequence[Task]) -> Generator[Finished | None, None, None]:
        """Every task once, in the order in which they finish; None now and then while nothing does.

        Closing the iterator leaves the cluster: the scheduler forgets tasks that nobody else asked for.
        """
        with self._connected() as client:
            try:
                yield from self._run(client, deque((task, 1) for task in tasks))
            except (OSError, self._dask.CancelledError):
                raise InputError(f"lost the Dask scheduler at {self.address}; finished tasks are recorded") from None

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        log = logging.getLogger("distributed.client")
        before = log.level
        log.setLevel(logging.CRITICAL)  # deaths are expected here, and what matters we say ourselves
        try:
            yield from self._client()
        finally:
            log.setLevel(before)

    def _client(self) -> Iterator[Any]:
        try:
            client = self._dask.Client(self.address, timeout=PATIENCE)
        except OSError as error:
            raise InputError(f"no Dask scheduler answers at {self.address} ({one_line(error)})") from None
        try:
            yield client
        finally:
            client.close(timeout=TICK)

    def _run(self, client: Any, waiting: deque[tuple[Task, int]]) -> Generator[Finished | None, None, None]:
        running: dict[str, tuple[Task, int]] = {}
        # results are fetched as they come: one that waits on a worker is lost when the worker dies
        stream = self._dask.as_completed(with_results=True, raise_errors=False, loop=client.loop)
        counted = -inf
        while waiting or running:
            if monotonic() - counted > TICK:
                self.width = sum(client.nthreads().values())
                counted = monotonic()
                yield None
            while waiting and len(running) < WINDOW + WINDOW_PER_THREAD * self.width:
                task, number = waiting.popleft()
                future = _submit(client, task, number)
                running[future.key] = task, number
                stream.add(future)
            batch = stream.next_batch(block=False)
            if not batch:
                sleep(PAUSE)
            for future, answer in batch:
                task, number = running.pop(future.key)
                if isinstance(answer, self._dask.CancelledError):
                    raise answer
                if isinstance(answer, dict):
                    yield finished(task, answer)
                elif not isinstance(answer[1], self._dask.KilledWorker):
                    yield Finished(task, error=one_line(answer[1]))
                elif number == TRIES:
                    yield Finished(task, error=f"its workers died again and again; submitted {TRIES} times")
                else:
                    waiting.appendleft((task, number + 1))


def _submit(client: Any, task: Task, number: int) -> Any:
    # a new name each time: the scheduler remembers that it suspects the old one
    name = f"kflip-{task.key}" if number == 1 else f"kflip-{task.key}-{number}"
    return client.submit(work, task.to_dict(), key=name, pure=True)


def _configured() -> str:
    config: Any = importlib.import_module("dask.config")
    address = config.get("scheduler-address", None)
    if not address:
        raise InputError(
            "Dask's configuration names no scheduler: set DASK_SCHEDULER_ADDRESS, or give --cluster tcp://host:port"
        )
    return str(address)
