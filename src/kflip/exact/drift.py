r"""Looking one iteration ahead: the expected gain of LeadingOnes, and the chance of any success.

An improvement that leaves :math:`a'` ones among the :math:`N` suffix bits, in random order, is followed by
:math:`a' / (N - a' + 1)` further leading ones on average, so radius :math:`k` gains

.. math:: p_k \, (P_{k-1} g)(a), \qquad g(a') = \frac{N + 1}{N - a' + 1}.

On (LO, OM) the offspring is better with probability :math:`p_k + q_k R_k(a)`, where :math:`R_k(a)` is the chance that
:math:`k` flips in the suffix raise OM.  It is at most :math:`p_k + q_k = \binom{n-i}{k} / \binom{n}{k}`, which falls as
:math:`k` grows: once that is below the best chance seen, no larger radius can win.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import UPWARD, accepted_after, fill_probabilities, mean_after
from kflip.exact.level_tables import HALF_WIDTH, TAIL
from kflip.exact.scan import TIE_TOLERANCE


@njit(cache=True, nogil=True)
def max_drift_level(n: int, i: int, radii: IntArray, p: FloatArray, q: FloatArray, table: IntArray) -> None:
    """Write the smallest radius of largest gain for every state of level ``i`` into ``table[i]``."""
    N = n - i - 1
    fill_probabilities(n, i, p, q)
    gain = np.empty(N + 1)
    for b in range(N + 1):
        gain[b] = (N + 1.0) / (N - b + 1.0)
    for a in range(N + 1):
        best = 0.0
        radius = radii[0]
        excess = 2.0 * a / N - 1.0 if N > 0 else 0.0
        for k in radii:
            if k > N + 1:
                break
            if best > 0.0:
                # g rises, so over all but TAIL of the probability it is at most its value at the window's right end
                reach = HALF_WIDTH * np.sqrt(max(1.0, k * (1.0 - (k - 1.0) / (N + 1.0)))) + 2.0
                right = min(N, int(a - min(k, N) * excess + reach) + 1)
                if p[k] * (gain[right] + TAIL * (N + 1.0)) < best:
                    continue
            value = p[k] * mean_after(gain, N + 1.0, N, a, k - 1)
            if value > best * (1.0 + TIE_TOLERANCE):
                best, radius = value, k
        table[i, i + a] = radius


def max_drift_table(n: int, radii: IntArray) -> IntArray:
    """Radius of largest expected LO gain in every ``(LO, OM)`` state, shape (n+1, n+1)."""
    table = np.zeros((n + 1, n + 1), dtype=np.int64)
    p, q = np.zeros(n + 2), np.zeros(n + 2)
    for i in range(n):
        max_drift_level(n, i, radii, p, q, table)
    return table


@njit(cache=True, nogil=True)
def success_chance(N: int, a: int, k: int, p: FloatArray, q: FloatArray, unit: FloatArray) -> float:
    """``p_k + q_k R_k(a)`` for ``k <= N + 1``; ``unit`` holds ones, shape (n+1,)."""
    chance: float = p[k]
    if k <= N:
        # p_k / q_k = k / (N - k + 1): climbs that do not show beside an improvement of LO need no sum
        chance += q[k] * accepted_after(unit, 1.0, k / (N - k + 1.0), N, a, k, UPWARD)[1]
    return chance


@njit(cache=True, nogil=True)
def max_success_table(n: int, radii: IntArray) -> IntArray:
    """Radius most likely to improve (LO, OM) in every ``(LO, OM)`` state, shape (n+1, n+1)."""
    table = np.zeros((n + 1, n + 1), dtype=np.int64)
    p, q, unit = np.zeros(n + 2), np.zeros(n + 2), np.ones(n + 1)
    for i in range(n):
        N = n - i - 1
        fill_probabilities(n, i, p, q)
        for a in range(N + 1):
            best = 0.0
            radius = radii[0]
            for k in radii:
                if k > N + 1 or p[k] + q[k] < best:
                    break
                chance = success_chance(N, a, k, p, q, unit)
                if chance > best * (1.0 + TIE_TOLERANCE):
                    best, radius = chance, k
            table[i, i + a] = radius
    return table


@njit(cache=True, nogil=True)
def max_success_radii(n: int, radii: IntArray) -> IntArray:
    """Radius most likely to improve (LO, OM) if the suffix is uniformly random, shape (n+1,), 0 at the optimum."""
    table = np.zeros(n + 1, dtype=np.int64)
    p, q, tie = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
    tie[0] = 1.0
    for k in range(2, n + 1, 2):
        tie[k] = tie[k - 2] * (k - 1.0) / k
    for i in range(n):
        fill_probabilities(n, i, p, q)
        best = 0.0
        table[i] = radii[0]
        for k in radii:
            if k > n - i or p[k] + q[k] < best:
                break
            chance = p[k] + q[k] * 0.5 * (1.0 - tie[k])
            if chance > best * (1.0 + TIE_TOLERANCE):
                best, table[i] = chance, k
    return table
