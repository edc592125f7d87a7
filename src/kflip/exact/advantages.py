r"""What every radius would cost in every state, and what a policy loses where.

For values :math:`T` and one iteration with radius :math:`k`, whatever the values continue with afterwards,

.. math:: Q(s, k) = 1 + \sum_{s'} P_k(s, s') T(s') = \ell_k\, t_k + (1 - \ell_k)\, T(s),

with :math:`\ell_k` the chance that the state changes and :math:`t_k` the time if :math:`k` is used until it does.

The expected runtime of a policy :math:`\pi` with visits :math:`v` (:mod:`kflip.exact.occupancy`) exceeds that of an
optimal policy with values :math:`T^*` by a sum over states (performance-difference lemma),

.. math:: E_\pi - E^* = \sum_s v(s) \sum_k \pi_k(s) \bigl(Q^*(s, k) - T^*(s)\bigr),

because :math:`T^*(s_0) - \sum_t (T^*(s_t) - T^*(s_{t+1}))` telescopes along a run.  No term is negative, so the
regret of the policy is split over the states that cause it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.bellman import enter_level, time_with
from kflip.exact.flips import ANY, REJECT, mode_of_lost_ones
from kflip.exact.level_tables import LevelTables, level_tables
from kflip.exact.levels import fold, fold_to
from kflip.exact.scan import TIE_TOLERANCE


@njit(cache=True, nogil=True)
def always_moves(N: int, i: int, a: int, k: int, mode: int) -> bool:
    """Whether ``k`` flips change the state for certain."""
    if i > 0:
        return False  # the flips may hit the prefix
    if k == N + 1:
        return True
    low, _, high = mode_of_lost_ones(N, a, k)
    if mode == ANY:
        return k % 2 == 1 or not low <= k // 2 <= high
    return mode != REJECT and k > 2 * high


@njit(cache=True, nogil=True)
def fill_action_values(n: int, i: int, mode: int, t: LevelTables, Q: FloatArray) -> None:
    """Write ``Q[a, c]`` for the level ``i`` entered in ``t`` and every radius of the portfolio; shape (n-i, m)."""
    N = n - i - 1
    T, radii = t.T, t.radii
    for a in range(N + 1):
        for c in range(radii.size):
            k = radii[c]
            if k > N + 1:
                Q[a, c] = 1.0 + T[a]
                continue
            time, leave = time_with(N, a, k, mode, t)
            if np.isinf(time) or (np.isinf(T[a]) and not always_moves(N, i, a, k, mode)):
                Q[a, c] = np.inf
            elif np.isinf(T[a]):
                Q[a, c] = time
            else:
                Q[a, c] = leave * time + max(0.0, 1.0 - leave) * T[a]


def action_values_of_level(n: int, mode: int, radii: IntArray, values: FloatArray, lo: int) -> FloatArray:
    """``Q`` of every state with the given LO and every radius, shape (n-lo, m)."""
    t = level_tables(n, radii)
    t.W[: n - lo] = fold_to(lo, values)
    enter_level(n, lo, values, t)
    Q = np.zeros((n - lo, len(radii)))
    fill_action_values(n, lo, mode, t, Q)
    return Q


@njit(cache=True, nogil=True)
def advantage_of(N: int, a: int, k: int, mode: int, t: LevelTables) -> tuple[float, bool]:
    """``Q - T`` of radius ``k`` and whether it is optimal; the level entered in ``t`` must have optimal values."""
    best = t.T[a]
    if np.isinf(best):
        return np.nan, True  # all radii tie
    if k > N + 1:
        return 1.0, False
    time, leave = time_with(N, a, k, mode, t)
    if time <= best * (1.0 + TIE_TOLERANCE):
        return 0.0, True
    return np.inf if np.isinf(time) else leave * (time - best), False


@njit(cache=True, nogil=True)
def sweep(
    first: int,
    last: int,
    mode: int,
    values: FloatArray,
    table: IntArray,
    radii: IntArray,
    probabilities: FloatArray,
    t: LevelTables,
    advantage: FloatArray,
    hit: FloatArray,
) -> None:
    """For levels ``first, first - 1, ..., last``: mean advantage of the policy's radii, and the share of optimal ones.

    All tables have shape (n+1, n+1); the policy comes as in :func:`kflip.exact.chain.sweep`, ``values`` are optimal.
    """
    n = values.shape[0] - 1
    for i in range(first, last - 1, -1):
        N = n - i - 1
        fold(N, i, values, t.W)
        enter_level(n, i, values, t)
        for a in range(N + 1):
            advantage[i, i + a] = hit[i, i + a] = 0.0
            for c in range(max(1, radii.size)):
                k = radii[c] if radii.size else table[i, i + a]
                share = probabilities[i, i + a, c] if radii.size else 1.0
                if share > 0.0:
                    loss, optimal = advantage_of(N, a, k, mode, t)
                    advantage[i, i + a] += share * loss
                    hit[i, i + a] += share if optimal else 0.0
