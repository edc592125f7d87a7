r"""Sums over all strings at Hamming distance k, for every string and every k, without ever storing them all.

On level :math:`i` the policy sees the suffix :math:`z \in \{0,1\}^N`.  A move by :math:`k` flips either keeps the
zero at position ``i+1`` and changes :math:`k` suffix bits, or flips it and changes :math:`k - 1` of them, so with
:math:`X` a function of the strings on the level and :math:`Y` one of the strings above it everything needed is

.. math:: H_k(z) = \sum_{|y \oplus z| = k} X(y) + \sum_{|y \oplus z| = k - 1} Y(y),

the coefficients of :math:`X + xY` summed with weight :math:`x^{|y \oplus z|}`.  That sum is a product over the bits.
Fix the bits of the target one after the other: if :math:`F_t(y)[k]` is the sum over the sources whose last
:math:`N - t` bits are :math:`y` and which differ from the target in :math:`k` of the first :math:`t` bits, then

.. math:: F_{t+1}(y)[k] = F_t(b\,y)[k] + F_t(\bar b\,y)[k-1] \qquad\text{for target bit } b.

A depth-first walk over the targets costs :math:`2^{N-1} N^2` additions of positive terms, keeps one array a depth
(a few times :math:`2^N` numbers in all) and ends at every target with all its :math:`H_k` at hand.

Two refinements: the first ``heads`` bits are summed directly, so that the blocks of targets that share them are
independent (threads, interrupts); and the last three bits, the ``lanes``, are treated first and for all their
targets at once, so that the innermost loops run over adjacent numbers.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kflip._typing import FloatArray

#: Unsigned, so that no index needs a test for being negative: the innermost loops then become vector code.
Unsigned: TypeAlias = NDArray[np.uint64]

LANE_BITS = 3


class Layout(NamedTuple):
    """Where the walk keeps its arrays.

    At depth ``t`` the planes ``k = lows[t] .. planes[t] - 1``, each of ``2**(N - t)`` numbers, start at
    ``offsets[t]`` of the scratch array of ``size`` numbers; only depths from ``heads`` to ``N - lanes`` exist.
    ``first_planes`` are those at the first of these depths, ``last_planes`` and ``last_offset`` belong to the last.
    """

    N: int
    heads: int
    lanes: int
    planes: Unsigned
    lows: Unsigned
    offsets: Unsigned
    first_planes: int
    last_planes: int
    last_offset: int
    size: int


def layout(N: int, k_low: int, k_high: int) -> Layout:
    """Plan a walk that ends with ``H_k`` for ``k_low <= k <= k_high``."""
    lanes = min(LANE_BITS, N)
    heads = head_bits(N)
    depths = np.arange(N - lanes + 1)
    planes = np.minimum(depths + lanes + 1, k_high) + 1
    lows = np.maximum(0, k_low - (N - lanes - depths))
    sizes = np.where(depths < heads, 0, planes << (N - depths))
    offsets = np.cumsum(sizes) - sizes
    return Layout(
        N,
        heads,
        lanes,
        planes.astype(np.uint64),
        lows.astype(np.uint64),
        offsets.astype(np.uint64),
        int(planes[heads]),
        int(planes[-1]),
        int(offsets[-1]),
        int(sizes.sum()),
    )


def head_bits(N: int) -> int:
    """How many bits are summed directly: none for small levels, more where the walk's arrays would be large."""
    return 0 if N < 12 else max(4, min(N - 18, 6))


@njit(cache=True, nogil=True)
def weight(x: int) -> int:
    """Number of ones of ``0 <= x < 2**62``."""
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((x * 0x0101010101010101) >> 56) & 0xFF


@njit(cache=True, nogil=True)
def open_block(head: int, X: FloatArray, Y: FloatArray, plan: Layout, scratch: FloatArray) -> None:
    """Fill depth ``heads`` for the targets that begin with ``head``; an empty ``X`` counts as zero."""
    M = 1 << (plan.N - plan.heads)
    planes = plan.first_planes
    scratch[: planes * M] = 0.0
    for g in range(1 << plan.heads):
        d = weight(g ^ head)
        if X.size > 0 and d < planes:
            plane = scratch[d * M : (d + 1) * M]
            source = X[g * M : (g + 1) * M]
            for y in range(M):
                plane[y] += source[y]
        if d + 1 < planes:
            plane = scratch[(d + 1) * M : (d + 2) * M]
            source = Y[g * M : (g + 1) * M]
            for y in range(M):
                plane[y] += source[y]
    for b in range(plan.lanes):
        step = 1 << b
        for k in range(min(plan.heads + b + 2, planes - 1), 0, -1):
            plane = scratch[k * M : (k + 1) * M]
            nearer = scratch[(k - 1) * M : k * M]
            for y in range(0, M, 2 * step):
                for z in range(step):
                    plane[y + z] += nearer[y + step + z]
                    plane[y + step + z] += nearer[y + z]


@njit(cache=True, nogil=True)
def _fix_bit(
    scratch: FloatArray,
    parent: np.uint64,
    child: np.uint64,
    planes: np.uint64,
    k_low: np.uint64,
    k_end: np.uint64,
    length: np.uint64,
    bit: np.uint64,
) -> None:
    """One step of the recursion: from ``planes`` planes of two halves to planes ``k_low .. k_end - 1``."""
    one = np.uint64(1)
    pair = length + length
    keep = parent + bit * length
    flip = parent + (one - bit) * length
    if k_low == 0:
        for y in range(length):
            scratch[child + y] = scratch[keep + y]
        k_low = one
    for k in range(k_low, min(planes, k_end)):
        to, stay, move = child + k * length, keep + k * pair, flip + (k - one) * pair
        for y in range(length):
            scratch[to + y] = scratch[stay + y] + scratch[move + y]
    if k_end > planes:
        to, move = child + planes * length, flip + (planes - one) * pair
        for y in range(length):
            scratch[to + y] = scratch[move + y]


@njit(cache=True, nogil=True)
def descend(group: int, block: int, lightest: int, heaviest: int, plan: Layout, scratch: FloatArray) -> int:
    """Bring the path to a group of ``2**lanes`` targets up to date, after the groups before it in its block.

    ``block`` is the first group of the block.  Returns 0 at the group, or the number of groups to skip because
    none of their targets has between ``lightest`` and ``heaviest`` ones.
    """
    depths = plan.N - plan.lanes
    t = plan.heads + 1
    if group != block:
        t = depths
        while (group >> (depths - t)) & 1 == 0:
            t -= 1
    planes, lows, offsets = plan.planes, plan.lows, plan.offsets
    while t <= depths:
        prefix = group >> (depths - t)
        ones = weight(prefix)
        if ones > heaviest or ones + plan.N - t < lightest:
            return 1 << (depths - t)
        _fix_bit(
            scratch,
            offsets[t - 1],
            offsets[t],
            planes[t - 1],
            lows[t],
            planes[t],
            np.uint64(1 << (plan.N - t)),
            np.uint64(prefix & 1),
        )
        t += 1
    return 0


@njit(cache=True, nogil=True)
def leaf(plan: Layout, scratch: FloatArray) -> FloatArray:
    """Where :func:`descend` leaves ``H_k`` of a group: shape ``(k_high + 1, 2**lanes)``."""
    planes, start, width = plan.last_planes, plan.last_offset, 1 << plan.lanes
    return scratch[start : start + planes * width].reshape((planes, width))
