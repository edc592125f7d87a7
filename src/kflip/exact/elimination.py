r"""Solving one level's linear system without a single subtraction.

The states of a level form an absorbing chain: from ``a`` it moves to ``b`` in the level with probability
:math:`C_{ab}` and leaves the level with probability :math:`x_a > 0`.  For costs :math:`g_a` the expected totals obey

.. math:: \Bigl(x_a + \sum_{b \ne a} C_{ab}\Bigr) T_a = g_a + \sum_{b \ne a} C_{ab} T_b.

Eliminating a state hands its moves and its exit to the states that lead to it (Grassmann, Taksar and Heyman 1985).
The diagonal is always the sum of what leaves, never one minus what stays, so every operation adds, multiplies or
divides positive numbers: each :math:`T_a` has a small *relative* error even if exit probabilities span hundreds of
orders of magnitude.  Rows are kept inside an envelope ``first..last`` of their non-zeros, because radii are small on
most levels and the matrix is a narrow band.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray


class Chain(NamedTuple):
    """One level's chain, and after :func:`eliminate` its factors.

    ``moves`` has shape (size, size) and holds :math:`C_{ab}` for ``first[a] <= b <= last[a]`` (anything elsewhere);
    ``leave`` is :math:`x_a`; ``total`` the diagonal; ``reach[b]`` the last row whose envelope starts at or before
    ``b``.
    """

    moves: FloatArray
    first: IntArray
    last: IntArray
    leave: FloatArray
    total: FloatArray
    reach: IntArray


def chain_space(size: int) -> Chain:
    """Allocate a chain of at most ``size`` states; pages of ``moves`` that stay unused cost nothing."""
    return Chain(
        moves=np.empty((size, size)),
        first=np.zeros(size, dtype=np.int64),
        last=np.zeros(size, dtype=np.int64),
        leave=np.zeros(size),
        total=np.zeros(size),
        reach=np.zeros(size, dtype=np.int64),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def eliminate(size: int, chain: Chain) -> None:
    """Eliminate states ``0, 1, ...`` in turn; ``moves`` then holds the multipliers below the diagonal."""
    C, first, last, leave = chain.moves, chain.first, chain.last, chain.leave
    total, reach = chain.total, chain.reach
    reach[:size] = -1
    for r in range(size):
        reach[first[r]] = r
    for s in range(1, size):
        reach[s] = max(reach[s], reach[s - 1])
    for s in range(size):
        out = leave[s]
        for b in range(s + 1, last[s] + 1):
            out += C[s, b]
        total[s] = out
        for r in range(s + 1, reach[s] + 1):
            if first[r] > s or last[r] < s or C[r, s] == 0.0:
                continue
            share = C[r, s] / out
            C[r, s] = share
            leave[r] += share * leave[s]
            if last[s] > last[r]:
                C[r, last[r] + 1 : last[s] + 1] = 0.0
                last[r] = last[s]
            for b in range(s + 1, last[s] + 1):
                C[r, b] += share * C[s, b]


@njit(cache=True, nogil=True, error_model="numpy")
def substitute(size: int, chain: Chain, cost: FloatArray, result: FloatArray) -> None:
    """Solve an eliminated chain for ``cost``, which is overwritten; a state that cannot leave gets ``inf``."""
    C, first, last, total, reach = chain.moves, chain.first, chain.last, chain.total, chain.reach
    for s in range(size):
        for r in range(s + 1, reach[s] + 1):
            if first[r] <= s <= last[r]:
                cost[r] += C[r, s] * cost[s]
    for s in range(size - 1, -1, -1):
        acc = cost[s]
        for b in range(s + 1, last[s] + 1):
            acc += C[s, b] * result[b]
        result[s] = acc / total[s] if total[s] > 0.0 else np.inf
