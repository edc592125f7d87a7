r"""What both ways of evaluating a rule with memory share: the work space, and the law of one iteration.

With memory :math:`m` the rule flips :math:`k = k_m` bits of a string on level :math:`i`.  LO improves with probability
:math:`p_k`; all flips are in the suffix with probability :math:`q_k`; the prefix is hit, and the offspring rejected,
with probability :math:`1 - p_k - q_k`, which is zero on level 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.adaptive.failures import Failures, failures_of
from kflip.exact.flips import add_law, mode_of_lost_ones


class AdaptiveTables(NamedTuple):
    """Work space of one evaluation.

    ``radius`` and ``better`` (the memory after a success), shapes (memories,), and ``failures`` are the rule.  ``T, V``
    of shape (memories, 1, n+1) are mean and variance of the level's states, ``W, WV`` of shape (memories, n+1) those
    behind an improvement of LO; ``law`` of shape (n+1,) is one law of the ones after some flips.
    """

    radius: IntArray
    better: IntArray
    failures: Failures
    p: FloatArray
    q: FloatArray
    T: FloatArray
    V: FloatArray
    W: FloatArray
    WV: FloatArray
    law: FloatArray


def adaptive_tables(n: int, radius: IntArray, better: IntArray, worse: IntArray) -> AdaptiveTables:
    """Allocate the work space."""
    size = radius.size
    return AdaptiveTables(
        radius=radius.copy(),
        better=better.copy(),
        failures=failures_of(worse),
        p=np.zeros(n + 2),
        q=np.zeros(n + 2),
        T=np.zeros((size, 1, n + 1)),
        V=np.zeros((size, 1, n + 1)),
        W=np.zeros((size, n + 1)),
        WV=np.zeros((size, n + 1)),
        law=np.zeros(n + 1),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def fill_law(law: FloatArray, N: int, a: int, k: int) -> tuple[int, int]:
    """Write ``law[b] = P[a + k - 2X = b]``; returns the least and the largest possible ``b``, two steps apart each.

    Entries between them of the other parity are left as they were.
    """
    low, _, high = mode_of_lost_ones(N, a, k)
    first, last = a + k - 2 * high, a + k - 2 * low
    for b in range(first, last + 1, 2):
        law[b] = 0.0
    add_law(law, 1.0, N, a, k)
    return first, last


@njit(cache=True, nogil=True, error_model="numpy")
def prefix_chance(i: int, N: int, k: int, p: FloatArray, q: FloatArray) -> float:
    """``k`` flips hit the prefix of ``i`` ones."""
    if i == 0:
        return 0.0
    return max(0.0, 1.0 - p[k] - q[k]) if k <= N + 1 else 1.0
