r"""Optimal radii on (LeadingOnes, OneMax) compared lexicographically, the policy seeing ``(LO, OM)``.

Bellman equation on level :math:`i`, with the notation of :mod:`kflip.exact.flips` and :mod:`kflip.exact.levels`:

.. math::

    T(a) = \min_k \frac{1 + p_k (P_{k-1} W)(a) + q_k S_k(a)}{p_k + q_k R_k(a)}, \qquad
    S_k(a) = \sum_{a' > a} P_k(a, a') T(a'), \quad R_k(a) = \sum_{a' > a} P_k(a, a').

Neither fitness component can fall, so one pass over the levels downwards, and over ``a`` downwards inside a
level, is exact.  Standard and strict selection give the same equation: they differ only in offspring with the
parent's own ``(LO, OM)``, which lead to the same state with the same suffix law, a self-loop either way.
"""

from __future__ import annotations

from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import UPWARD, count_infinite
from kflip.exact.level_tables import LevelTables, open_level, push_value
from kflip.exact.levels import fold
from kflip.exact.scan import best_radius


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(first: int, last: int, values: FloatArray, table: IntArray, t: LevelTables) -> None:
    """Solve levels ``first, first - 1, ..., last``; ``values`` and ``table`` have shape (n+1, n+1)."""
    n = values.shape[0] - 1
    for i in range(first, last - 1, -1):
        N = n - i - 1
        fold(N, i, values, t.W)
        open_level(n, i, t)
        hint = 0
        for a in range(N, -1, -1):
            if t.infinite[1] > 0:
                count_infinite(t.T, N, t.counts[1])
            value, hint = best_radius(n, i, a, UPWARD, hint, t)
            push_value(N, a, value, t)
            values[i, i + a] = value
            table[i, i + a] = hint
