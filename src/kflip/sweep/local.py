"""Tasks on this machine: a few worker processes, each watched by a thread of the driver.

A worker is a fresh interpreter that speaks lines of JSON (:mod:`kflip.sweep.worker`).  Nothing is forked, so compiled
and deep-learning threads of the driver do no harm, and a script that calls this needs no ``__main__`` guard.  If a
worker dies, only the task it had is begun again, in a new process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import IO, Any

from kflip.errors import InputError
from kflip.sweep.tasks import Task
from kflip.sweep.work import Finished, finished

#: How often a task is begun before the death of its worker counts as its failure.
TRIES = 5

#: Workers share the cores among themselves; threads inside would only compete.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)

_COMMAND = [sys.executable, "-c", "from kflip.sweep.worker import serve; serve()"]

_Item = Finished | BaseException


class _ClosedError(Exception):
    """The sweep is over."""


class Local:
    """Worker processes of this machine, by default one for each core that we may use."""

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise InputError(f"workers must be at least 1, not {workers}")
        self.width = usable_cores() if workers is None else workers

    def run(self, tasks: Sequence[Task]) -> Generator[Finished, None, None]:
        """Every task once, in the order in which they finish; no process is left when the iterator is closed."""
        waiting: SimpleQueue[Task] = SimpleQueue()
        for task in tasks:
            waiting.put(task)
        done: SimpleQueue[_Item] = SimpleQueue()
        workers = [_Worker() for _ in range(min(self.width, len(tasks)))]
        threads = [threading.Thread(target=_watch, args=(worker, waiting, done), daemon=True) for worker in workers]
        try:
            for thread in threads:
                thread.start()
            for _ in tasks:
                item = done.get()
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            for worker in workers:
                worker.kill()
            for thread in threads:
                if thread.ident is not None:
                    thread.join()


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _watch(worker: _Worker, waiting: SimpleQueue[Task], done: SimpleQueue[_Item]) -> None:
    """Give a worker task after task."""
    try:
        while True:
            done.put(_do(worker, waiting.get_nowait()))
    except (Empty, _ClosedError):
        pass
    except BaseException as error:  # the main thread tells the user
        done.put(error)
    finally:
        worker.end()


def _do(worker: _Worker, task: Task) -> Finished:
    line = json.dumps(task.to_dict()) + "\n"
    for _ in range(TRIES):
        answer = worker.ask(line)
        if answer is not None:
            return finished(task, answer)
    return Finished(task, error=f"its worker process died {TRIES} times; the last time: {worker.last_words}")


class _Worker:
    """A process that answers one line at a time, replaced when it dies."""

    def __init__(self) -> None:
        self.last_words = ""
        self._process: subprocess.Popen[str] | None = None
        self._stderr: IO[bytes] | None = None
        self._closed = False
        self._lock = threading.Lock()

    def ask(self, line: str) -> dict[str, Any] | None:
        """The answer, or None if the process died over it."""
        process = self._running()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a worker without pipes")
        answer = ""
        try:
            process.stdin.write(line)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:  # it died before it could listen
            pass
        if answer.endswith("\n"):
            return dict(json.loads(answer))
        self._bury()
        return None

    def kill(self) -> None:
        """End the process, from any thread, for good: :meth:`ask` then raises an error in its own."""
        with self._lock:
            self._closed = True
            if self._process is not None:
                self._process.kill()

    def end(self) -> None:
        """End the process and leave nothing behind, from the thread that asked."""
        self.kill()
        self._bury()

    def _running(self) -> subprocess.Popen[str]:
        with self._lock:
            if self._closed:
                raise _ClosedError
            if self._process is None:
                self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
                self._process = subprocess.Popen(
                    _COMMAND,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._stderr,
                    encoding="utf-8",
                    env=os.environ | ONE_THREAD,
                )
            return self._process

    def _bury(self) -> None:
        with self._lock:
            process, stderr, self._process, self._stderr = self._process, self._stderr, None, None
        if stderr is None:
            return
        with stderr:
            if process is None:  # it could not be started
                return
            process.kill()  # it may have closed its pipe and live on
            with suppress(OSError), process:  # a line that it did not read cannot be flushed
                pass
            self.last_words = _last_words(process.wait(), stderr)


def _last_words(code: int, stderr: IO[bytes]) -> str:
    """How a process ended, and the last line it wrote."""
    stderr.seek(max(0, stderr.seek(0, os.SEEK_END) - 4096))
    lines = stderr.read().decode(errors="replace").split("\n")
    said = next((line.strip() for line in reversed(lines) if line.strip()), "")
    end = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{end}, {said}" if said else end
