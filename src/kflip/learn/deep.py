"""Deep agents: trained in a thread of their own, one at a time, with snapshots on the way.

Stable-Baselines3 draws from the global generators of Python, NumPy and PyTorch.  :func:`apart` seeds them, computes on
one thread, since sums in another order round differently, and puts everything back.  Only one deep agent is trained at
a time in a process; others wait.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event, Lock, Thread

import numpy as np
import torch
from stable_baselines3.common.callbacks import BaseCallback

from kflip._typing import BoolArray, RadiusArray
from kflip.errors import TooLargeError
from kflip.learn.events import Events
from kflip.learn.training import Learner, Snapshot
from kflip.setting import Setting

#: Held by whoever uses the global generators.
_ONE_AT_A_TIME = Lock()

#: Longest strings whose features are tabulated.
LONGEST_STRING = 20


class DeepLearner(Learner):
    """A learner of Stable-Baselines3, whose training is one long call: it runs in a thread and hands snapshots out."""

    def check(self, setting: Setting) -> None:
        """Refuse long strings as states: their tables must fit into memory."""
        super().check(setting)
        if setting.state == "bits" and setting.n > LONGEST_STRING:
            raise TooLargeError(f"{self.name} learns on strings of at most {LONGEST_STRING} bits, not {setting.n}")

    @abstractmethod
    def practise(self, setting: Setting, marks: Sequence[int], seed: int, shots: Shots) -> None:
        """Train with a :class:`Curve` that puts its snapshots into ``shots``."""

    def snapshots(self, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Snapshots as they come; a caller who stops asking ends the training."""
        shots = Shots()

        def work() -> None:
            try:
                with _ONE_AT_A_TIME, apart(seed) as own:
                    self.practise(setting, marks, own, shots)
                shots.queue.put(None)
            except BaseException as error:  # raised again where the caller waits
                shots.queue.put(error)

        thread = Thread(target=work, daemon=True)
        thread.start()
        try:
            while (item := shots.queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            shots.unwanted.set()
            thread.join()


class Shots:
    """Where a training puts its snapshots, and whether anybody still wants them."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[Snapshot | BaseException | None] = SimpleQueue()
        self.unwanted = Event()


class Curve(BaseCallback):  # type: ignore[misc]
    """Takes a snapshot at every mark, and stops the training when the budget of :class:`Events` is spent.

    Parameters
    ----------
    setting
        The benchmark.
    marks
        Ascending numbers of iterations.
    show
        Gives the present policy table.
    shots
        Where the snapshots go.
    """

    def __init__(self, setting: Setting, marks: Sequence[int], show: Callable[[], RadiusArray], shots: Shots) -> None:
        super().__init__()
        self.setting, self.marks, self.show, self.shots = setting, marks, show, shots
        self._taken = 0

    def finish(self) -> None:
        """Marks that were not reached show the final policy."""
        while self._taken < len(self.marks) and not self.shots.unwanted.is_set():
            self._take()

    def seen(self) -> tuple[int, BoolArray]:
        """Iterations spent, and the states seen to be left with each radius, shape (rows, m)."""
        env: Events = self.training_env
        return env.spent, env.left

    def _on_step(self) -> bool:
        if self.training_env.exhausted:
            return False
        return self.look()

    def look(self) -> bool:
        """Take what is due, the last one not before the end of the training; whether to go on."""
        spent, _ = self.seen()
        while self._taken < len(self.marks) - 1 and spent >= self.marks[self._taken]:
            self._take()
        return not self.shots.unwanted.is_set()

    def _take(self) -> None:
        spent, left = self.seen()
        table = self.show()
        chosen = np.searchsorted(self.setting.radii, table.reshape(-1))
        kept = left[np.arange(chosen.size), chosen].reshape(table.shape)
        self.shots.queue.put(Snapshot(spent, table, kept))
        self._taken += 1


@contextmanager
def apart(seed: int) -> Iterator[int]:
    """Global generators seeded with what is yielded, and one thread; both are as before in the end."""
    before = random.getstate(), np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
    torch.set_num_threads(1)
    try:
        yield int(np.random.SeedSequence(seed).generate_state(1)[0])
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        torch.set_rng_state(before[2])
        torch.set_num_threads(before[3])
