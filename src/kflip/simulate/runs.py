"""Runs: how long each of many runs took, how it ended, and what one may conclude from them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import BoolArray, FloatArray, IntArray
from kflip.errors import InputError
from kflip.setting import Setting
from kflip.simulate.ioh import write_ioh


class Trajectory(NamedTuple):
    """Changes of (LO, OM) in one run, four arrays of one shape; row 0 is the start, with ``iteration = k = 0``."""

    iteration: IntArray
    k: IntArray
    lo: IntArray
    om: IntArray


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Changes of (LO, OM) in many runs, one column per quantity and the runs one after the other.

    Attributes
    ----------
    iteration, k, lo, om
        Shape ``(rows,)``: the iteration that made the change, its radius, and LO and OM after it.
    ends
        Shape ``(runs,)``: run ``r`` holds the rows ``ends[r-1]..ends[r]-1``, the first run from row 0.
    """

    iteration: IntArray
    k: IntArray
    lo: IntArray
    om: IntArray
    ends: IntArray

    @property
    def run(self) -> IntArray:
        """The run each row belongs to, shape ``(rows,)``."""
        return np.repeat(np.arange(self.ends.size), np.diff(self.ends, prepend=0))

    def __getitem__(self, r: int) -> Trajectory:
        runs = self.ends.size
        if not -runs <= r < runs:
            raise IndexError(f"run {r} of {runs}")
        r %= runs
        rows = slice(int(self.ends[r - 1]) if r else 0, int(self.ends[r]))
        return Trajectory(self.iteration[rows], self.k[rows], self.lo[rows], self.om[rows])

    def __len__(self) -> int:
        return int(self.ends.size)


@dataclass(frozen=True, eq=False)
class Runs:
    """Independent runs of one policy.

    Attributes
    ----------
    setting, policy, level
        What was run: the setting, the policy's name, and ``"bits"`` or ``"state"``.
    seed
        Together with a run's number it determines the run.
    max_iterations
        Where runs were cut, or None.
    runtimes
        Shape ``(runs,)``: iterations until the optimum was first generated; for an unfinished run, until it was
        cut (``max_iterations``) or reached the state it can never leave.
    finished
        Shape ``(runs,)``: the optimum was generated.
    stuck
        Shape ``(runs,)``: the run reached a state that it can never leave, so its true runtime is infinite.
    trajectories
        The changes of (LO, OM) if they were recorded, else None.
    """

    setting: Setting
    policy: str
    level: str
    seed: int
    max_iterations: int | None
    runtimes: IntArray
    finished: BoolArray
    stuck: BoolArray
    trajectories: Trajectories | None = None

    def __post_init__(self) -> None:
        for array in (self.runtimes, self.finished, self.stuck):
            array.flags.writeable = False

    def __len__(self) -> int:
        return int(self.runtimes.size)

    @property
    def mean(self) -> float:
        """Mean runtime: ``inf`` if a run got stuck, otherwise NaN if one was cut (its runtime is unknown)."""
        if self.stuck.any():
            return float("inf")
        return float(self.runtimes.mean()) if self.finished.all() else float("nan")

    @property
    def std(self) -> float:
        """Sample standard deviation (divisor ``runs - 1``); NaN for one run or if a run did not finish."""
        if len(self) == 1 or not self.finished.all():
            return float("nan")
        return float(self.runtimes.std(ddof=1))

    @property
    def standard_error(self) -> float:
        """Standard error of :attr:`mean`."""
        return self.std / float(np.sqrt(len(self)))

    def confidence_interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Student's interval for the expected runtime; NaN where :attr:`std` is."""
        if not 0 < confidence < 1:
            raise InputError(f"a confidence lies strictly between 0 and 1, not {confidence!r}")
        from scipy.special import stdtrit  # half a second that no other command needs

        reach = float(stdtrit(len(self) - 1, (1 + confidence) / 2)) * self.standard_error
        return self.mean - reach, self.mean + reach

    def ecdf(self, budgets: ArrayLike) -> FloatArray:
        """Fraction of all runs that finished within each budget of iterations, in the shape of ``budgets``.

        Beyond ``max_iterations`` it stays at the fraction that finished: a lower bound if runs were cut.
        """
        times = np.sort(self.runtimes[self.finished])
        return np.asarray(np.searchsorted(times, np.asarray(budgets), side="right") / len(self))

    def trajectory(self, r: int) -> Trajectory:
        """The changes of run ``r``."""
        if self.trajectories is None:
            raise InputError("these runs were not recorded: simulate with record='trajectories'")
        return self.trajectories[r]

    def to_ioh(self, folder: str | os.PathLike[str]) -> Path:
        """Write the runs in the format of IOHprofiler: see :mod:`kflip.simulate.ioh`."""
        return write_ioh(self, Path(folder))
