"""Level by level from the top: mean and variance of a rule with memory in every ``(LO, OM)`` state."""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.adaptive.by_level import LevelTables, level_tables, solve_whole_level
from kflip.exact.adaptive.by_state import solve_states
from kflip.exact.adaptive.tables import AdaptiveTables, adaptive_tables
from kflip.exact.flips import ANY, fill_probabilities
from kflip.exact.levels import fold_variance
from kflip.exact.sweeps import Progress, acceptance, in_slices


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    first: int,
    last: int,
    mode: int,
    start: int,
    values: FloatArray,
    variances: FloatArray,
    t: AdaptiveTables,
    level: LevelTables,
) -> None:
    """Evaluate levels ``first, first - 1, ..., last``; what the memory ``start`` gives goes to the tables.

    ``values`` and ``variances`` have shape (n+1, n+1).
    """
    n = values.shape[0] - 1
    for i in range(first, last - 1, -1):
        N = n - i - 1
        for m in range(t.radius.size):
            # the level above is row 0 of what is known
            fold_variance(N, -1, t.T[m], t.V[m], t.W[m], t.WV[m])
        fill_probabilities(n, i, t.p, t.q)
        if mode == ANY:
            solve_whole_level(i, N, t, level)
        else:
            solve_states(i, N, mode, t)
        for a in range(N + 1):
            values[i, i + a] = t.T[start, 0, a]
            variances[i, i + a] = t.V[start, 0, a]


def evaluate_adaptive(
    n: int,
    objective: str,
    selection: str,
    radius: IntArray,
    better: IntArray,
    worse: IntArray,
    start: int,
    progress: Progress | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the remaining time in every ``(LO, OM)`` state, shapes (n+1, n+1).

    The rule flips ``radius[m]`` bits with memory ``m``, goes on with ``better[m]`` after a strictly better offspring
    and with ``worse[m]`` otherwise, shapes (memories,), and has memory ``start`` when it meets the state.
    """
    mode = acceptance(objective, selection)
    values = np.full((n + 1, n + 1), np.nan)
    values[n, n] = 0.0
    variances = values.copy()
    tables = adaptive_tables(n, radius, better, worse)
    level = level_tables(n if mode == ANY else 1, radius.size)

    def run(first: int, last: int) -> None:
        sweep(first, last, mode, start, values, variances, tables, level)

    in_slices(n, run, progress)
    return values, variances
