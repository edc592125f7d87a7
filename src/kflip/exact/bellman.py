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
from kflip.exact.levels import fold, fold_to
from kflip.exact.scan import (
    ALL_WORSE,
    POSSIBLE,
    LevelTables,
    level_tables,
    moves_of,
    open_level,
    push_value,
    window_bound,
)

#: Entries of the record that a check keeps: the largest relative gap between a value and the time with the policy's
#: radius, the largest relative gain of any other radius, the bound ``delta``, and how many radii were evaluated.
OF_POLICY, OF_OTHERS, DELTA, EVALUATED = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def load_level(n: int, i: int, values: FloatArray, t: LevelTables) -> None:
    """Prepare the tables of level ``i`` for given values, ``t.W`` holding ``W_{i+1}``."""
    N = n - i - 1
    fold(N, i, values, t.W)
    open_level(n, i, t)
    for a in range(N, -1, -1):
        push_value(N, a, values[i, i + a], t)
    count_infinite(t.T, N, t.infinite_t)


@njit(cache=True, nogil=True)
def times_of_radii(n: int, i: int, a: int, mode: int, t: LevelTables, times: FloatArray, leaves: FloatArray) -> None:
    """Expected time and chance of leaving the state with each radius of the portfolio, nothing pruned."""
    N = n - i - 1
    radii, p_of, q_of = t.radii, t.p, t.q
    for c in range(radii.size):
        k = radii[c]
        times[c] = np.inf
        leaves[c] = 0.0
        if k <= N + 1:
            mean, S, R = moves_of(N, a, k, mode, t.W, t.T, t.bounds, t.infinite, t.infinite_w, t.infinite_t)
            leaves[c] = p_of[k] + q_of[k] * R
            if not np.isinf(mean) and leaves[c] > 0.0:
                times[c] = (1.0 + p_of[k] * mean + q_of[k] * S) / leaves[c]


@njit(cache=True, nogil=True)
def check_state(n: int, i: int, a: int, mode: int, chosen: int, t: LevelTables, record: FloatArray) -> None:
    """Compare ``T(a)`` with the time of the chosen radius and of every radius that bounds do not rule out."""
    N = n - i - 1
    radii, p_of, q_of, reach, log2 = t.radii, t.p, t.q, t.reach, t.log2
    W, T, bounds, infinite = t.W, t.T, t.bounds, t.infinite
    infinite_w, infinite_t, low_w, low_t = t.infinite_w, t.infinite_t, t.low_w, t.low_t
    value = T[a]
    finite = not np.isinf(value)
    for k in radii:
        if k > N + 1:
            break
        p, q = p_of[k], q_of[k]
        if finite and k != chosen:
            verdict = window_bound(n, i, a, k, mode, value, p, q, reach[k], bounds, low_w, low_t, log2)[0]
            if verdict == ALL_WORSE and k > chosen:
                break
            if verdict != POSSIBLE:
                continue
        mean, S, R = moves_of(N, a, k, mode, W, T, bounds, infinite, infinite_w, infinite_t)
        record[EVALUATED] += 1
        leave = p + q * R
        time = np.inf if np.isinf(mean) or leave == 0.0 else (1.0 + p * mean + q * S) / leave
        if not finite:
            if not np.isinf(time):
                record[OF_OTHERS] = record[DELTA] = np.inf
            continue
        if k == chosen:
            record[OF_POLICY] = max(record[OF_POLICY], abs(time - value) / value)
        gain = value - time
        if gain > 0.0:
            record[OF_OTHERS] = max(record[OF_OTHERS], gain / value)
            record[DELTA] = max(record[DELTA], gain * leave)
    if finite and chosen > N + 1:
        record[OF_POLICY] = np.inf


@njit(cache=True, nogil=True)
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
        load_level(n, i, values, t)
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
    open_level(n, lo, t)
    for a in range(n - lo - 1, -1, -1):
        push_value(n - lo - 1, a, float(values[lo, lo + a]), t)
    count_infinite(t.T, n - lo - 1, t.infinite_t)
    times_of_radii(n, lo, om - lo, mode, t, times, leaves)
    return times, leaves
