"""Small tasks, what their records say, and the processes that do them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import kflip
from kflip.sweep import Store, Task, sweep

ROOT = Path(__file__).parents[2]

#: Long enough for compiling everything on a machine that has no compiled kernels yet.
PATIENCE = 240.0

LEARNERS = ("certainty-equivalence", "q-learning")


def learning(number: int, budget: int) -> list[Task]:
    """So many short tasks of learners."""
    cases = [(n, learner) for n in (4, 5, 6) for learner in LEARNERS]
    return [
        Task("small", kflip.Setting(n), budget, learner, j // len(cases)) for j, (n, learner) in _cycle(number, cases)
    ]


def _cycle(number: int, cases: list[tuple[int, str]]) -> list[tuple[int, tuple[int, str]]]:
    return [(j, cases[j % len(cases)]) for j in range(number)]


def rules() -> list[Task]:
    """A table, a rule that draws its radius, and one with memory."""
    names = ("one-bit", "max-drift", "random-radius", "self-adjusting")
    return [Task("small", kflip.Setting(n), 1000, name, 0) for n in (4, 5) for name in names]


def failing() -> Task:
    """A task that raises an error wherever it runs."""
    return Task("small", kflip.Setting(4, portfolio="powers-of-two"), 1000, "constant-3", 0)


def contents(folder: Path) -> list[dict[str, Any]]:
    """All records, without the time they took."""
    return [{name: item for name, item in record.items() if name != "seconds"} for record in Store(folder)]


def remains(folder: Path) -> list[str]:
    """Files that are not records."""
    return [path.name for path in folder.iterdir() if path.suffix != ".json"]


def drive(folder: str, cluster: str, number: str, budget: str) -> None:
    """A driver on its own; prints what it did."""
    outcome = sweep(learning(int(number), int(budget)), Store(folder), cluster=cluster)
    print(json.dumps([outcome.kept, outcome.done, [str(failure) for failure in outcome.failures]]))


def driver(folder: Path, cluster: str, number: int, budget: int) -> subprocess.Popen[str]:
    """:func:`drive` in a process."""
    command = "import sys; from tests.sweep.small import drive; drive(*sys.argv[1:])"
    arguments = [str(folder), cluster, str(number), str(budget)]
    return subprocess.Popen([sys.executable, "-c", command, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)


def workers_of(parent: int) -> list[int]:
    """Local worker processes of a driver."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
            status = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # gone since
            continue
        if b"kflip.sweep.worker" in command and status[1] == str(parent) and status[0] != "Z":
            found.append(int(entry.name))
    return found


def alive(process: int) -> bool:
    """Whether a process still runs."""
    try:
        return (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    """Look again and again."""
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


class DaskCluster:
    """A scheduler and workers, all of them processes that can be killed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.workers: list[subprocess.Popen[bytes]] = []
        wait_until(self._file.exists)
        self.address = str(json.loads(self._file.read_text())["address"])

    def add_worker(self) -> None:
        self.workers.append(self._start("worker", self.address, "--nthreads", "1", "--no-nanny"))

    def kill_oldest(self) -> None:
        worker = self.workers.pop(0)
        worker.kill()
        worker.wait()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--host", "127.0.0.1", "--no-dashboard"]
        with (self._folder / f"{arguments[0]}.log").open("ab") as log:
            return subprocess.Popen(
                command, cwd=ROOT, stdout=log, stderr=log, env=os.environ | {"OMP_NUM_THREADS": "1"}
            )


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[DaskCluster]:
    """A cluster of this machine."""
    cluster = DaskCluster(folder)
    try:
        for _ in range(workers):
            cluster.add_worker()
        yield cluster
    finally:
        cluster.close()
