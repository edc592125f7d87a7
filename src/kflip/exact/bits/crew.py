"""Work on one level, block by block, on a few threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from types import TracebackType
from typing import TypeVar

import numpy as np

from kflip._typing import FloatArray

Result = TypeVar("Result")

#: More threads than this wait for memory, and each needs its own scratch array.
MAX_THREADS = 4


def thread_count() -> int:
    """How many threads a crew has."""
    return min(MAX_THREADS, os.cpu_count() or 1)


def share_of_level(progress: Callable[[float], None] | None, i: int) -> Callable[[float], None]:
    """Turn the finished fraction of level ``i`` into that of all levels, the one above taking half as long."""

    def report(part: float) -> None:
        if progress is not None:
            progress(2.0 ** (-i - 1) * (1.0 + part))

    return report


class Crew:
    """Threads with a scratch array each; the kernels release the interpreter, so they run side by side.

    A kernel works on one block for well under a second.  An exception in the main thread, an interrupt among them,
    drops the blocks not yet begun.
    """

    def __init__(self) -> None:
        threads = thread_count()
        self._pool = ThreadPoolExecutor(threads)
        self._scratch: SimpleQueue[FloatArray] = SimpleQueue()
        for _ in range(threads):
            self._scratch.put(np.empty(0))

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)

    def map(self, work: Callable[[int, FloatArray], Result], heads: Iterable[int], size: int) -> list[Result]:
        """``work(head, scratch)`` for every block, each with a scratch array of at least ``size`` numbers."""

        def task(head: int) -> Result:
            scratch = self._scratch.get()
            try:
                if scratch.size < size:
                    scratch = np.empty(0)  # frees the smaller one before the larger is taken
                    scratch = np.empty(size)
                return work(head, scratch)
            finally:
                self._scratch.put(scratch)

        blocks = list(heads)
        if len(blocks) == 1:
            return [task(blocks[0])]
        futures = [self._pool.submit(task, head) for head in blocks]
        return [future.result() for future in futures]
