r"""Checking values against the Bellman equation, and the time that every radius would take.

For values :math:`T` that some policy attains, let

.. math:: \delta = \max_{s, k} \; \bigl( T(s) - 1 - \textstyle\sum_{s'} P_k(s, s') T(s') \bigr)^+

be the largest gain of one iteration with any radius in any state.  Then :math:`T / (1 + \delta)` satisfies
:math:`f \le 1 + P_k f` for every radius, hence lies below the optimal values, while :math:`T` lies above them: the
policy is optimal up to the factor :math:`1 + \delta` in every state at once.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import count_infinite
from kflip.exact.level_tables import TOP_T, TOP_W, LevelTables, P, Q, level_tables, open_level, push_value
from kflip.exact.levels import fold, fold_to
from kflip.exact.scan import ALL_WORSE, POSSIBLE, Anchor, judge, leads_astray, moves_of

#: Entries of the record that a check keeps: the largest relative gap between a value and the time with the policy's
#: radius, the largest relative gain of any other radius, and the bound ``delta``.
OF_POLICY, OF_OTHERS, DELTA = 0, 1, 2
RECORD_SIZE = 3


@njit(cache=True, nogil=True, error_model="numpy")
def enter_level(n: int, i: int, values: FloatArray, t: LevelTables) -> None:
    """Prepare the tables of level ``i`` for given values, ``t.W`` holding ``W_i``."""
    N = n - i - 1
    open_level(n, i, t)
    for a in range(N, -1, -1):
        push_value(N, a, values[i, i + a], t)
    count_infinite(t.T, N, t.counts[1])


@njit(cache=True, nogil=True, error_model="numpy")
def time_with(N: int, a: int, k: int, mode: int, t: LevelTables) -> tuple[float, float]:
    """Expected time when ``k`` is used until the state changes, and the chance of a change per iteration."""
    if k > N + 1 or leads_astray(t.counts, N, a, k, mode):
        return np.inf, 0.0
    mean, S, R = moves_of(N, a, k, mode, t.W, t.T, t.bounds[TOP_W], t.bounds[TOP_T])
    p, q = t.by_radius[P, k], t.by_radius[Q, k]
    leave = p + q * R
    if leave == 0.0:
        return np.inf, 0.0
    return (1.0 + p * mean + q * S) / leave, leave


@njit(cache=True, nogil=True, error_model="numpy")
def times_of_radii(n: int, i: int, a: int, mode: int, t: LevelTables, times: FloatArray, leaves: FloatArray) -> None:
    """Expected time and chance of leaving the state with each radius of the portfolio, nothing pruned."""
    radii = t.radii
    for c in range(radii.size):
        times[c], leaves[c] = time_with(n - i - 1, a, radii[c], mode, t)


@njit(cache=True, nogil=True, error_model="numpy")
def check_state(n: int, i: int, a: int, mode: int, chosen: int, t: LevelTables, record: FloatArray) -> None:
    """Compare ``T(a)`` with the time of the chosen radius and of every radius that bounds do not rule out."""
    N = n - i - 1
    radii, by_radius, sparse, log2, bounds = t.radii, t.by_radius, t.sparse, t.log2, t.bounds
    value = t.T[a]
    next_value = t.T[a + 1] if a < N else 0.0
    finite = not np.isinf(value)
    nothing = Anchor(0, 0.0, 0.0)
    if finite:
        time = time_with(N, a, chosen, mode, t)[0]
        record[OF_POLICY] = max(record[OF_POLICY], abs(time - value) / value)
    for k in radii:
        if k > N + 1:
            break
        if finite:
            verdict = judge(n, i, a, k, k, mode, value, next_value, nothing, by_radius, sparse, log2, bounds)
            if verdict == ALL_WORSE:
                break
            if verdict != POSSIBLE:
                continue
        time, leave = time_with(N, a, k, mode, t)
        if time < value:
            record[OF_OTHERS] = max(record[OF_OTHERS], (value - time) / value if finite else np.inf)
            record[DELTA] = max(record[DELTA], (value - time) * leave)


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    first: int,
    last: int,
    mode: int,
    values: FloatArray,
    table: IntArray,
    t: LevelTables,
    record: FloatArray,
) -> None:
    """Check every state of levels ``first, first - 1, ..., last`` against every radius."""
    n = values.shape[0] - 1
    for i in range(first, last - 1, -1):
        fold(n - i - 1, i, values, t.W)
        enter_level(n, i, values, t)
        for a in range(n - i):
            check_state(n, i, a, mode, table[i, i + a], t, record)


def action_times(
    n: int, mode: int, radii: IntArray, values: FloatArray, lo: int, om: int
) -> tuple[FloatArray, FloatArray]:
    """For one state and every radius of the portfolio: time if it is used until the state changes, chance of a change.

    With ``times`` and ``leaves``, using the radius for one iteration only and then following the policy of ``values``
    costs ``value + leaves * (times - value)``.
    """
    t = level_tables(n, radii)
    t.W[: n - lo] = fold_to(lo, values)
    times, leaves = np.zeros(len(radii)), np.zeros(len(radii))
    enter_level(n, lo, values, t)
    times_of_radii(n, lo, om - lo, mode, t, times, leaves)
    return times, leaves
