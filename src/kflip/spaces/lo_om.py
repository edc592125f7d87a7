"""The policy sees (LO, OM)."""

from __future__ import annotations

from typing import Any

import numpy as np

from kflip._typing import FloatArray, IntArray
from kflip.exact import bellman, chain, lo_standard, lo_strict, loom
from kflip.exact.flips import ANY, REJECT, UPWARD
from kflip.exact.level_tables import level_tables
from kflip.exact.levels import mean_from_start, moments_from_start
from kflip.exact.sweeps import Progress, acceptance, evaluate_lo_om, in_slices, solve_lo_om
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy
from kflip.setting import Setting
from kflip.spaces.results import BellmanCheck, Moments, Optimum

_KERNELS: dict[int, Any] = {UPWARD: loom.sweep, REJECT: lo_strict.sweep, ANY: lo_standard.sweep}


def kernels(setting: Setting) -> tuple[Any, Any]:
    """The sweeps over the levels."""
    return _KERNELS[acceptance(setting.objective, setting.selection)], chain.sweep


def solve(setting: Setting, progress: Progress | None) -> Optimum:
    """Optimal policy and values, level by level."""
    mode = acceptance(setting.objective, setting.selection)
    _require(setting, 2 + (2 if mode == ANY else 0), "solving")
    values, table, _ = solve_lo_om(setting.n, setting.objective, setting.selection, _radii(setting), progress)
    expected = mean_from_start(values)
    return Optimum(values, table, expected, expected, True)


def moments(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Moments:
    """Mean and variance of every state, by elimination on every level."""
    mode = acceptance(setting.objective, setting.selection)
    _require(setting, 2 + (0 if mode == REJECT else 2), "evaluating a policy on")
    kind = setting.objective, setting.selection
    if isinstance(policy, Policy):
        values, variances = evaluate_lo_om(setting.n, *kind, table=policy.table, progress=progress)
    else:
        values, variances = evaluate_lo_om(
            setting.n, *kind, radii=policy.radii, probabilities=policy.probabilities, progress=progress
        )
    return Moments(values, variances, *moments_from_start(values, variances))


def times(setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
    """Time with each radius in the state ``(lo, om)``."""
    mode = acceptance(setting.objective, setting.selection)
    return bellman.action_times(setting.n, mode, _radii(setting), values, index[0], index[1])[0]


def check(setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
    """Every state against every radius that bounds do not rule out."""
    record = np.zeros(bellman.RECORD_SIZE)
    tables = level_tables(setting.n, _radii(setting))
    mode = acceptance(setting.objective, setting.selection)
    table = policy.table.astype(np.int64)
    # a compiled function is compiled once more for read-only arrays
    values = values.copy()

    def run(first: int, last: int) -> None:
        bellman.sweep(first, last, mode, values, table, tables, record)

    in_slices(setting.n, run, progress)
    return BellmanCheck(
        float(record[bellman.OF_POLICY]), float(record[bellman.OF_OTHERS]), float(record[bellman.DELTA])
    )


def _radii(setting: Setting) -> IntArray:
    return np.array(setting.radii, dtype=np.int64)


def _require(setting: Setting, tables: int, what: str) -> None:
    require((setting.n + 1) ** 2 * 8 * tables, f"{what} {setting}")
