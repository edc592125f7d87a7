r"""Flipping k bits of a random suffix: the one operator every exact computation needs.

On level :math:`i` (``LO = i``) the string is ``1^i 0`` followed by a suffix of :math:`N = n - i - 1` bits
with :math:`a = OM - i` ones, all placements equally likely.  Of :math:`k` flipped bits

* with probability :math:`p_k = \binom{N}{k-1} / \binom{n}{k}` one is the zero at position ``i+1``, none is in
  the prefix, and :math:`k-1` land in the suffix: LO improves;
* with probability :math:`q_k = \binom{N}{k} / \binom{n}{k}` all land in the suffix: LO stays;
* otherwise LO falls and the offspring is rejected.

Flipping :math:`k` suffix bits turns :math:`a` ones into :math:`a + k - 2X` with
:math:`X \sim \mathrm{Hypergeometric}(N, a, k)` ones lost:

.. math:: (P_k f)(a) = \mathrm{E}[f(a + k - 2X)].

Sums over :math:`X` start at the mode with weight 1, walk both ways with the ratio of neighbouring
weights, and are divided by the total weight.  Every term is positive, so the relative error stays near
1e-15, and nothing overflows: binomial coefficients are never formed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray

#: Which moves inside a level selection accepts: none (LO strict), to more ones (loom), all (LO standard).
REJECT, UPWARD, ANY = 0, 1, 2

#: A walk ends once a term cannot change the sum by this fraction, however large the remaining values are.
NEGLIGIBLE = 1e-19


@njit(cache=True, nogil=True, error_model="numpy")
def fill_probabilities(n: int, i: int, p: FloatArray, q: FloatArray) -> None:
    """Write ``p[k]`` and ``q[k]`` of level ``i`` for ``k = 0..n-i``; both are zero for larger ``k``."""
    N = n - i - 1
    p[0], q[0] = 0.0, 1.0
    p[1], q[1] = 1.0 / n, N / n
    for k in range(1, N + 1):
        p[k + 1] = p[k] * ((N - k + 1.0) / k * (k + 1.0) / (n - k))
        q[k + 1] = q[k] * (N - k) / (n - k)


@njit(cache=True, nogil=True, error_model="numpy")
def mode_of_lost_ones(N: int, a: int, k: int) -> tuple[int, int, int]:
    """Smallest, most likely and largest number ``X`` of ones among ``k`` flipped bits."""
    low = max(0, k - (N - a))
    high = min(a, k)
    mode = (k + 1) * (a + 1) // (N + 2)
    return low, min(max(mode, low), high), high


@njit(cache=True, nogil=True, error_model="numpy")
def mean_after(f: FloatArray, top: float, N: int, a: int, k: int) -> float:
    """``(P_k f)(a)`` for ``f >= 0`` bounded by ``top``."""
    low, mode, high = mode_of_lost_ones(N, a, k)
    total = 1.0
    acc = f[a + k - 2 * mode]
    w = 1.0
    for x in range(mode, high):
        w *= ((a - x) * (k - x)) / ((x + 1.0) * (N - a - k + x + 1.0))
        total += w
        acc += w * f[a + k - 2 * x - 2]
        if w * top < NEGLIGIBLE * acc:
            break
    w = 1.0
    for x in range(mode, low, -1):
        w *= (x * (N - a - k + x)) / ((a - x + 1.0) * (k - x + 1.0))
        total += w
        acc += w * f[a + k - 2 * x + 2]
        if w * top < NEGLIGIBLE * acc:
            break
    return acc / total


@njit(cache=True, nogil=True, error_model="numpy")
def accepted_after(f: FloatArray, top: float, floor: float, N: int, a: int, k: int, mode: int) -> tuple[float, float]:
    """Mean of ``f`` over accepted moves, and their probability.

    Returns ``S = E[f(a') ; accepted]`` and ``R = P[accepted]`` for ``a' = a + k - 2X``, where a move is accepted
    if ``a' > a`` (``UPWARD``) or ``a' != a`` (``ANY``; staying is a self-loop).  Terms that cannot matter beside
    ``floor`` are left out.
    """
    low, centre, high = mode_of_lost_ones(N, a, k)
    any_move = mode == ANY
    total = 1.0
    acc = 0.0
    mass = 0.0
    b = a + k - 2 * centre
    if b > a or (any_move and b < a):
        acc = f[b]
        mass = 1.0
    w = 1.0
    for x in range(centre, high):
        w *= ((a - x) * (k - x)) / ((x + 1.0) * (N - a - k + x + 1.0))
        total += w
        b = a + k - 2 * x - 2
        if b > a or (any_move and b < a):
            acc += w * f[b]
            mass += w
        if w * top < NEGLIGIBLE * max(acc, floor * total):
            break
    w = 1.0
    for x in range(centre, low, -1):
        w *= (x * (N - a - k + x)) / ((a - x + 1.0) * (k - x + 1.0))
        total += w
        b = a + k - 2 * x + 2
        if b > a or (any_move and b < a):
            acc += w * f[b]
            mass += w
        if w * top < NEGLIGIBLE * max(acc, floor * total):
            break
    return acc / total, mass / total


@njit(cache=True, nogil=True, error_model="numpy")
def add_law(row: FloatArray, scale: float, N: int, a: int, k: int) -> None:
    """Add ``scale * P[a + k - 2X = b]`` to ``row[b]`` for every possible ``b``."""
    low, mode, high = mode_of_lost_ones(N, a, k)
    total = 1.0
    w = 1.0
    for x in range(mode, high):
        w *= ((a - x) * (k - x)) / ((x + 1.0) * (N - a - k + x + 1.0))
        total += w
    w = 1.0
    for x in range(mode, low, -1):
        w *= (x * (N - a - k + x)) / ((a - x + 1.0) * (k - x + 1.0))
        total += w
    unit = scale / total
    row[a + k - 2 * mode] += unit
    w = unit
    for x in range(mode, high):
        w *= ((a - x) * (k - x)) / ((x + 1.0) * (N - a - k + x + 1.0))
        row[a + k - 2 * x - 2] += w
    w = unit
    for x in range(mode, low, -1):
        w *= (x * (N - a - k + x)) / ((a - x + 1.0) * (k - x + 1.0))
        row[a + k - 2 * x + 2] += w


@njit(cache=True, nogil=True, error_model="numpy")
def count_infinite(f: FloatArray, N: int, counts: IntArray) -> int:
    """Prefix counts of infinite entries by parity: ``counts[b + 2] = #{c <= b, c = b mod 2, f[c] = inf}``."""
    counts[0] = counts[1] = 0
    found = 0
    for b in range(N + 1):
        infinite = 1 if np.isinf(f[b]) else 0
        counts[b + 2] = counts[b] + infinite
        found += infinite
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def touches_infinite(counts: IntArray, N: int, a: int, k: int) -> bool:
    """Whether ``k`` flips can lead from ``a`` ones to an infinite entry, however small the probability."""
    low, _, high = mode_of_lost_ones(N, a, k)
    return bool(counts[a + k - 2 * low + 2] > counts[a + k - 2 * high])


@njit(cache=True, nogil=True, error_model="numpy")
def reaches_infinite(counts: IntArray, mode: int, N: int, a: int, k: int) -> bool:
    """Whether an accepted move inside the level can lead from ``a`` to an infinite entry."""
    if mode == REJECT or k > N:
        return False
    if mode == ANY:
        return touches_infinite(counts, N, a, k)
    most = a + k - 2 * max(0, k - (N - a))
    # targets a' > a have the parity of a + k
    return bool(most > a and counts[most + 2] > counts[a + 2 - k % 2])


@njit(cache=True, nogil=True, error_model="numpy")
def spread_after(mean: FloatArray, variance: FloatArray, top: float, shift: float, N: int, a: int, k: int) -> float:
    """``E[variance(a') + (mean(a') - shift)^2]`` for ``a' = a + k - 2X``; no term exceeds ``top``."""
    low, mode, high = mode_of_lost_ones(N, a, k)
    b = a + k - 2 * mode
    total = 1.0
    acc = variance[b] + (mean[b] - shift) ** 2
    w = 1.0
    for x in range(mode, high):
        w *= ((a - x) * (k - x)) / ((x + 1.0) * (N - a - k + x + 1.0))
        b = a + k - 2 * x - 2
        total += w
        acc += w * (variance[b] + (mean[b] - shift) ** 2)
        if w * top < NEGLIGIBLE * acc:
            break
    w = 1.0
    for x in range(mode, low, -1):
        w *= (x * (N - a - k + x)) / ((a - x + 1.0) * (k - x + 1.0))
        b = a + k - 2 * x + 2
        total += w
        acc += w * (variance[b] + (mean[b] - shift) ** 2)
        if w * top < NEGLIGIBLE * acc:
            break
    return acc / total
