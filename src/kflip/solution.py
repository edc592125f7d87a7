"""Solutions: the optimal policy of a setting, its values, and the evidence that it is optimal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import FloatArray, IntArray
from kflip.compilation import announce
from kflip.errors import InputError
from kflip.exact import bellman, lo_only, lo_standard, lo_strict, loom
from kflip.exact.levels import mean_from_start
from kflip.exact.scan import TIE_TOLERANCE, level_tables
from kflip.exact.sweeps import Progress, acceptance, in_slices, solve_lo_om
from kflip.memory import require
from kflip.policy import Policy, state_index
from kflip.setting import OBJECTIVES, SELECTIONS, Setting


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimal policy of a setting.

    Attributes
    ----------
    setting
        What was solved.
    policy
        The smallest optimal radius in every state; where no radius can finish, the smallest of the portfolio.
    values
        Expected remaining runtime of every state, in the shape of ``policy.table``; NaN where no state exists, 0 at the
        optimum, ``inf`` where the optimum cannot be reached for certain.
    expected_runtime
        Expected iterations from a uniformly random string until the optimum is first generated.
    """

    setting: Setting
    policy: Policy
    values: FloatArray
    expected_runtime: float

    def __post_init__(self) -> None:
        self.values.flags.writeable = False

    def optimal_radii(
        self, lo: int | None = None, om: int | None = None, *, x: ArrayLike | None = None
    ) -> tuple[int, ...]:
        """Every radius whose expected time is within a relative 1e-12 of the best in one state, ascending.

        Name the state as for :meth:`kflip.policy.Policy.at`.
        """
        index = state_index(self.setting.n, self.setting.state, lo, om, x)
        if self.values[index] == 0.0:
            return ()
        times = _TIMES[self.setting.state](self.setting, self.values, index)
        best = times.min()
        tied = np.isinf(times) if np.isinf(best) else times <= best * (1.0 + TIE_TOLERANCE)
        return tuple(int(k) for k, ties in zip(self.setting.radii, tied, strict=True) if ties)

    @cached_property
    def residual(self) -> float:
        """Largest relative violation of the Bellman equation over all states and radii."""
        return check_bellman(self.setting, self.values, self.policy).residual

    def __repr__(self) -> str:
        return f"Solution({self.setting}; expected runtime {self.expected_runtime:.6g})"


@dataclass(frozen=True)
class BellmanCheck:
    """How far values are from the Bellman equation; see :mod:`kflip.exact.bellman`.

    ``of_policy`` is the largest relative gap between a value and the time with the policy's radius, ``of_others`` the
    largest relative gain of any radius over a value; the policy is optimal in every state up to the factor
    ``1 + delta``.
    """

    of_policy: float
    of_others: float
    delta: float

    @property
    def residual(self) -> float:
        """The larger of the two relative gaps."""
        return max(self.of_policy, self.of_others)


def solve(setting: Setting, *, progress: Progress | None = None) -> Solution:
    """Compute the optimal policy of a setting exactly.

    Parameters
    ----------
    setting
        The benchmark.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> round(solve(Setting(8)).expected_runtime, 4)
    14.3683
    """
    announce(_KERNELS[setting.state, setting.objective, setting.selection])
    values, table, expected = _SOLVERS[setting.state](setting, progress)
    return Solution(setting, Policy(setting.n, setting.state, table, "optimal"), values, expected)


def check_bellman(
    setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None = None
) -> BellmanCheck:
    """Compare values with the Bellman equation in every state and for every radius of the portfolio."""
    return _CHECKS[setting.state](setting, values, policy, progress)


def _radii(setting: Setting) -> IntArray:
    return np.array(setting.radii, dtype=np.int64)


def _solve_lo(setting: Setting, progress: Progress | None) -> tuple[FloatArray, IntArray, float]:
    _need_markov(setting)
    n = setting.n
    table = lo_only.best_radii(n, _radii(setting))
    values, _, mean, _ = lo_only.values_of(n, lo_only.level_probabilities(n, table))
    return values, table, mean


def _solve_lo_om(setting: Setting, progress: Progress | None) -> tuple[FloatArray, IntArray, float]:
    n = setting.n
    matrices = 2 if (setting.objective, setting.selection) == ("lo", "standard") else 0
    require((n + 1) ** 2 * 8 * (2 + matrices), f"solving {setting}")
    values, table, _ = solve_lo_om(n, setting.objective, setting.selection, _radii(setting), progress)
    return values, table, mean_from_start(values)


_SOLVERS: dict[str, Callable[[Setting, Progress | None], tuple[FloatArray, IntArray, float]]] = {
    "lo": _solve_lo,
    "lo-om": _solve_lo_om,
}


#: The kernel whose compilation is worth announcing.
_KERNELS: dict[tuple[str, str, str], Any] = {
    **{("lo", objective, selection): lo_only.values_of for objective in OBJECTIVES for selection in SELECTIONS},
    ("lo-om", "loom", "standard"): loom.sweep,
    ("lo-om", "loom", "strict"): loom.sweep,
    ("lo-om", "lo", "standard"): lo_standard.sweep,
    ("lo-om", "lo", "strict"): lo_strict.sweep,
}


def _times_lo(setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
    _need_markov(setting)
    (lo,) = index
    n = setting.n
    # W_lo = T_lo - 1 / p of the best radius; folding the values anew keeps infinite states apart
    behind = 0.0
    for i in range(n - 1, lo, -1):
        behind = 0.5 * values[i] + 0.5 * behind
    p = np.array([lo_only.improvement_probability(n, lo, k) for k in setting.radii])
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / p + behind)


def _times_lo_om(setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
    mode = acceptance(setting.objective, setting.selection)
    return bellman.action_times(setting.n, mode, _radii(setting), values, index[0], index[1])[0]


_TIMES: dict[str, Callable[[Setting, FloatArray, tuple[int, ...]], FloatArray]] = {
    "lo": _times_lo,
    "lo-om": _times_lo_om,
}


def _check_lo(setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
    of_policy = of_others = delta = 0.0
    for lo in range(setting.n):
        times = _times_lo(setting, values, (lo,))
        value = values[lo]
        if np.isinf(value):
            if np.isfinite(times).any():
                return BellmanCheck(of_policy, np.inf, np.inf)
            continue
        chosen = times[setting.radii.index(int(policy.table[lo]))]
        of_policy = max(of_policy, abs(chosen - value) / value)
        gains = (value - times).clip(0.0)
        of_others = max(of_others, float(gains.max()) / value)
        p = np.array([lo_only.improvement_probability(setting.n, lo, k) for k in setting.radii])
        delta = max(delta, float((gains * p).max()))
    return BellmanCheck(float(of_policy), float(of_others), delta)


def _check_lo_om(setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
    record = np.zeros(4)
    tables = level_tables(setting.n, _radii(setting))
    mode = acceptance(setting.objective, setting.selection)
    table = policy.table.astype(np.int64)
    writable = values.copy()

    def run(first: int, last: int) -> None:
        bellman.sweep(first, last, mode, writable, table, tables, record)

    in_slices(setting.n, run, progress)
    return BellmanCheck(
        float(record[bellman.OF_POLICY]), float(record[bellman.OF_OTHERS]), float(record[bellman.DELTA])
    )


_CHECKS: dict[str, Callable[[Setting, FloatArray, Policy, Progress | None], BellmanCheck]] = {
    "lo": _check_lo,
    "lo-om": _check_lo_om,
}


def _need_markov(setting: Setting) -> None:
    if setting.objective == "loom":
        raise InputError("LO alone is not a Markov state of objective 'loom': selection looks at OM")
