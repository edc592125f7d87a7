r"""LeadingOnes when the policy sees LO alone.

*The suffix stays uniform.*  A policy that sees only LO picks :math:`k` independently of the suffix, and whether LO
improves depends only on positions ``1..i+1``.  Given that, the flipped suffix positions are independent of the
suffix bits, so a uniform suffix XOR the flips is uniform again; a rejected or neutral offspring leaves a uniform
suffix as well, under standard and strict selection alike.  Hence from a random start

.. math:: T_i = \frac{1}{p_k(i)} + W_i, \qquad W_i = \tfrac12 T_{i+1} + \tfrac12 W_{i+1}, \qquad W_{n-1} = 0,

for both selections, the levels do not influence each other, and the best radius maximises :math:`p_k(i)`.  Because
:math:`p_{k+1} > p_k` exactly if :math:`k + 1 < (n + 1)/(i + 1)`, the peak is at :math:`\lfloor n/(i+1) \rfloor`,
and the best radius of a portfolio is one of the two around it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray

#: Relative difference below which two success probabilities count as equal.
TIE = 1e-12


@njit(cache=True, nogil=True)
def improvement_probability(n: int, i: int, k: int) -> float:
    r"""``p_k`` of level ``i`` as a product of at most ``min(k - 1, i)`` factors; 0 if ``k > n - i``."""
    if k > n - i:
        return 0.0
    p = k / n
    # C(n-i-1, k-1) / C(n-1, k-1) = C(n-k, i) / C(n-1, i): take the shorter product
    few, many = (k - 1, i) if k - 1 <= i else (i, k - 1)
    for t in range(few):
        p *= (n - 1 - many - t) / (n - 1 - t)
    return p


@njit(cache=True, nogil=True)
def best_radii(n: int, radii: IntArray) -> IntArray:
    """Radius of the portfolio with the largest ``p_k`` for every LO, shape (n+1,), 0 at the optimum."""
    table = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        above = int(np.searchsorted(radii, n // (i + 1), side="right"))
        best, chosen = 0.0, radii[0]
        for c in range(max(0, above - 1), min(radii.size, above + 1)):
            p = improvement_probability(n, i, radii[c])
            if p > best * (1.0 + TIE):
                best, chosen = p, radii[c]
        table[i] = chosen
    return table


@njit(cache=True, nogil=True)
def level_probabilities(n: int, table: IntArray) -> FloatArray:
    """Chance of improving LO in one iteration with ``table[i]`` flips, shape (n,)."""
    p = np.zeros(n)
    for i in range(n):
        p[i] = improvement_probability(n, i, table[i])
    return p


@njit(cache=True, nogil=True)
def mixed_probabilities(n: int, radii: IntArray, weights: FloatArray) -> FloatArray:
    """Chance of improving LO in one iteration with radii drawn from ``weights[i]``, shape (n,)."""
    p = np.zeros(n)
    for i in range(n):
        for c in range(radii.size):
            if weights[i, c] > 0.0:
                p[i] += weights[i, c] * improvement_probability(n, i, radii[c])
    return p


@njit(cache=True, nogil=True)
def values_of(n: int, p: FloatArray) -> tuple[FloatArray, FloatArray, float, float]:
    """Mean and variance of the remaining time for every LO, shapes (n+1,), and both from a random start."""
    T = np.zeros(n + 1)
    V = np.zeros(n + 1)
    mean = variance = 0.0
    for i in range(n - 1, -1, -1):
        if p[i] > 0.0:
            T[i] = 1.0 / p[i] + mean
            V[i] = (1.0 - p[i]) / (p[i] * p[i]) + variance
        else:
            T[i] = V[i] = np.inf
        # the mixture that a random next bit makes; its spread is 0 or infinite together with the means
        spread = T[i] - mean if not np.isinf(T[i]) else 0.0
        variance = 0.5 * V[i] + 0.5 * variance + 0.25 * spread * spread
        mean = 0.5 * T[i] + 0.5 * mean
    return T, V, mean, variance
