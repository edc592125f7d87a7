r"""Work space of a sweep over the levels: probabilities by radius, and minima over any range of ``W`` and ``T``.

A level is filled from ``a = N`` downwards.  For every new entry the sparse tables take the minimum over the last
:math:`1, 2, 4, \dots` entries, so the minimum over any range is that of two of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import count_infinite, fill_probabilities

#: Probability left outside a pruning window, and the window's half-width in units of sqrt(k (1 - (k-1)/N)):
#: Serfling gives P(|X - EX| >= t) <= 2 exp(-2 t^2 / (k (1 - (k-1)/N))), and a' moves by two per unit of X.
TAIL = 1e-6
HALF_WIDTH = 2.0 * np.sqrt(0.5 * np.log(2.0 / TAIL))


#: Rows of ``LevelTables.by_radius``.
P, Q, REACH = 0, 1, 2

#: Layers of ``LevelTables.sparse``: ``f``, its steps ``f(a+1) - f(a)``, and minus its steps, for ``W`` and for ``T``.
LOW_W, RISE_W, FALL_W, LOW_T, RISE_T, FALL_T = 0, 1, 2, 3, 4, 5

#: Entries of ``LevelTables.bounds``: largest and smallest finite ``W`` and ``T`` of the level.
TOP_W, MIN_W, TOP_T, MIN_T = 0, 1, 2, 3


class LevelTables(NamedTuple):
    """Work space of one sweep over the levels of an ``n``-bit setting.

    Arrays are grouped because every array handed to a compiled function costs two atomic operations.

    ``by_radius`` has shape (3, n+2): :math:`p_k`, :math:`q_k` and the half-width of the window of ``k`` flips.  ``W``
    and ``T`` are indexed by the ones in the suffix.  ``sparse``, shape (6, log2 n + 2, n+2), answers range minima.
    ``counts`` has shape (2, n+3): infinite entries of ``W`` and of ``T`` up to an index, by parity; ``infinite`` how
    many there are.
    """

    radii: IntArray
    by_radius: FloatArray
    W: FloatArray
    T: FloatArray
    sparse: FloatArray
    log2: IntArray
    bounds: FloatArray
    counts: IntArray
    infinite: IntArray


def level_tables(n: int, radii: IntArray) -> LevelTables:
    """Allocate the work space for an ``n``-bit setting with the given portfolio."""
    log2 = np.zeros(n + 3, dtype=np.int64)
    for x in range(2, n + 3):
        log2[x] = log2[x >> 1] + 1
    return LevelTables(
        radii=np.ascontiguousarray(radii, dtype=np.int64),
        by_radius=np.zeros((3, n + 2)),
        W=np.zeros(n + 1),
        T=np.zeros(n + 1),
        sparse=np.zeros((6, int(log2[n + 2]) + 1, n + 2)),
        log2=log2,
        bounds=np.zeros(4),
        counts=np.zeros((2, n + 3), dtype=np.int64),
        infinite=np.zeros(2, dtype=np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def push(sparse: FloatArray, layer: int, r: int, value: float) -> None:
    """Append entry ``r`` to a layer of range minima."""
    sparse[layer, 0, r] = value
    j = 1
    while (1 << j) <= r + 1:
        sparse[layer, j, r] = min(sparse[layer, j - 1, r], sparse[layer, j - 1, r - (1 << (j - 1))])
        j += 1


@njit(cache=True, nogil=True, error_model="numpy")
def range_min(sparse: FloatArray, layer: int, log2: IntArray, N: int, a: int, b: int) -> float:
    """Minimum of a layer over ``a..b``; entry ``a`` was pushed at ``N - a``."""
    length = b - a + 1
    j = log2[length]
    end = N - a
    return min(sparse[layer, j, end], sparse[layer, j, end - length + (1 << j)])


@njit(cache=True, nogil=True, error_model="numpy")
def push_function(sparse: FloatArray, layer: int, f: FloatArray, N: int, a: int) -> None:
    """Append ``f(a)`` and its step to ``a + 1``; next to an infinite value the step is unbounded both ways."""
    up = down = 0.0
    if a < N:
        if np.isinf(f[a]) or np.isinf(f[a + 1]):
            up = down = -np.inf
        else:
            up = f[a + 1] - f[a]
            down = -up
    push(sparse, layer, N - a, f[a])
    push(sparse, layer + 1, N - a, up)
    push(sparse, layer + 2, N - a, down)


@njit(cache=True, nogil=True, error_model="numpy")
def open_level(n: int, i: int, t: LevelTables) -> None:
    """Prepare probabilities, bounds and sparse tables of level ``i`` from ``t.W``; ``T`` starts empty."""
    N = n - i - 1
    W, sparse, bounds = t.W, t.sparse, t.bounds
    fill_probabilities(n, i, t.by_radius[P], t.by_radius[Q])
    for k in range(1, N + 2):
        # two more: the improving move flips k - 1 bits, and rounding
        t.by_radius[REACH, k] = HALF_WIDTH * np.sqrt(max(1.0, k * (1.0 - (k - 1.0) / (N + 1.0)))) + 2.0
    t.infinite[0] = count_infinite(W, N, t.counts[0])
    t.infinite[1] = 0
    t.counts[1, : N + 3] = 0
    bounds[TOP_W], bounds[MIN_W] = 0.0, np.inf
    bounds[TOP_T], bounds[MIN_T] = 0.0, np.inf
    for a in range(N, -1, -1):
        push_function(sparse, LOW_W, W, N, a)
        if not np.isinf(W[a]):
            bounds[TOP_W] = max(bounds[TOP_W], W[a])
            bounds[MIN_W] = min(bounds[MIN_W], W[a])


@njit(cache=True, nogil=True, error_model="numpy")
def push_value(N: int, a: int, value: float, t: LevelTables) -> None:
    """Enter ``T(a)``, after all larger ``a``, into the tables of the level."""
    bounds = t.bounds
    t.T[a] = value
    push_function(t.sparse, LOW_T, t.T, N, a)
    if np.isinf(value):
        t.infinite[1] += 1
    else:
        bounds[TOP_T] = max(bounds[TOP_T], value)
        bounds[MIN_T] = min(bounds[MIN_T], value)
