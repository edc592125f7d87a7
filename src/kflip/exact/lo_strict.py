r"""Optimal radii on LeadingOnes with strict selection, the policy seeing ``(LO, OM)``.

Only improvements of LO are accepted, so the states of a level do not see each other:

.. math:: T(a) = \min_k \left[ \frac{1}{p_k} + (P_{k-1} W)(a) \right].

One pass over the levels downwards is exact.  Where :math:`k = 1` is best for good, each acceptance takes
:math:`n` iterations and gains one bit: :math:`T = (n - OM)\, n`.
"""

from __future__ import annotations

from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import REJECT
from kflip.exact.level_tables import LevelTables, open_level
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
            value, hint = best_radius(n, i, a, REJECT, hint, t)
            values[i, i + a] = value
            table[i, i + a] = hint
