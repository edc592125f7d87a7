"""The policy sees the whole string."""

from __future__ import annotations

from typing import Any

import numpy as np

from kflip._typing import FloatArray, IntArray
from kflip.exact import bits
from kflip.exact.bits import targets
from kflip.exact.sweeps import Progress
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy
from kflip.setting import Setting
from kflip.spaces.results import BellmanCheck, Moments, Optimum

#: Strings whose radius differs from the one the check prefers are looked at one by one, at most this many.
_LOOK_AT = 256


def kernels(setting: Setting) -> tuple[Any, Any]:
    """The walks that find the best radius of every string, and that follow a table."""
    return targets.best_radii, targets.follow_table


def solve(setting: Setting, progress: Progress | None) -> Optimum:
    """Optimal policy and values, level by level."""
    _require(setting, "solving")
    if setting.selection == "strict":
        values, table = bits.solve_strict(setting.n, _radii(setting), setting.objective, progress)
    else:
        values, table, _ = bits.solve_standard(setting.n, _radii(setting), setting.objective, progress)
    expected = float(values.mean())
    return Optimum(values, table, expected, expected, True)


def moments(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Moments:
    """Mean and variance of every string."""
    _require(setting, "evaluating a policy on")
    array = policy.table if isinstance(policy, Policy) else policy.probabilities
    radii = _radii(setting) if isinstance(policy, Policy) else policy.radii.astype(np.int64)
    values, variances = bits.evaluate(setting.n, setting.objective, setting.selection, radii, array, progress)
    mean = float(values.mean())
    if np.isinf(mean):
        return Moments(values, variances, mean, mean)
    return Moments(values, variances, mean, float((variances + (values - mean) ** 2).mean()))


def times(setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
    """Time with each radius in one string, by looking at all strings."""
    kind = setting.objective, setting.selection
    return bits.action_values(setting.n, *kind, _radii(setting), values, index[0])


def check(setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
    """Every string against every radius."""
    _require(setting, "checking")
    kind = setting.objective, setting.selection
    best, table = bits.bellman(setting.n, *kind, _radii(setting), values, progress)
    finite = np.isfinite(values)
    finite[-1] = False
    gains = (values[finite] - best[finite]).clip(0.0)
    wrong = np.isfinite(best[:-1]) & np.isinf(values[:-1])
    of_others = np.inf if wrong.any() else float((gains / values[finite]).max(initial=0.0))
    gaps = np.abs(values[finite] - best[finite]) / values[finite]
    of_policy = float(gaps[(table == policy.table)[finite]].max(initial=0.0))
    for x in np.flatnonzero(finite & (table != policy.table))[:_LOOK_AT]:
        chosen = times(setting, values, (int(x),))[setting.radii.index(int(policy.table[x]))]
        of_policy = max(of_policy, float(abs(chosen - values[x]) / values[x]))
    # the chance of leaving a string is at most 1
    delta = np.inf if wrong.any() else float(gains.max(initial=0.0))
    return BellmanCheck(of_policy, of_others, delta)


def _radii(setting: Setting) -> IntArray:
    return np.array(setting.radii, dtype=np.int64)


def _require(setting: Setting, what: str) -> None:
    require(bits.memory_needed(setting.n, setting.objective, setting.selection), f"{what} {setting}")
