r"""Rules with memory where a state changes on success alone: loom with either selection, and LO strict.

In state :math:`a` of a level with memory :math:`m`, radius :math:`k` and :math:`u(m)` the memory after a success,

.. math:: T_m(a) = 1 + p_k (P_{k-1} W_{u(m)})(a) + q_k \sum_{b > a} P_k(a, b) T_{u(m)}(b) + f_m(a) T_{d(m)}(a),

the sum only on loom.  What follows a success lies on a higher level or has more ones, so with :math:`a` downwards
it is known, and :mod:`~kflip.exact.adaptive.failures` solves for all memories of the state.  The variance obeys the
same equations with another cost, as in :mod:`kflip.exact.chain`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import BoolArray, FloatArray
from kflip.exact.adaptive.failures import follow_failures, spread_endless
from kflip.exact.adaptive.tables import AdaptiveTables, fill_law, prefix_chance
from kflip.exact.flips import UPWARD


@njit(cache=True, nogil=True, error_model="numpy")
def weigh(
    i: int,
    N: int,
    a: int,
    m: int,
    mode: int,
    t: AdaptiveTables,
    cost: FloatArray,
    hit: FloatArray,
    fail: FloatArray,
    endless: BoolArray,
) -> None:
    """Write cost, chances of success and failure of state ``a`` with memory ``m``, and whether success may be endless.

    A chance is zero exactly if the event is impossible, as far as it is above the smallest double.
    """
    p, q, law = t.p, t.q, t.law
    k, up = t.radius[m], t.better[m]
    W, T = t.W[up], t.T[up, 0]
    prefix = prefix_chance(i, N, k, p, q)
    cost[m], hit[m], fail[m] = 1.0, 0.0, prefix
    endless[m] = False
    if k > N + 1:
        return
    first, last = fill_law(law, N, a, k - 1)
    total = 0.0
    for b in range(first, last + 1, 2):
        endless[m] = endless[m] or np.isinf(W[b])
        total += law[b] * W[b]
    cost[m] += p[k] * total
    hit[m] = p[k]
    if k > N:
        return
    if mode != UPWARD:
        fail[m] += q[k]
        return
    first, last = fill_law(law, N, a, k)
    total = rise = stay = 0.0
    for b in range(first, last + 1, 2):
        if b > a:
            endless[m] = endless[m] or np.isinf(T[b])
            total += law[b] * T[b]
            rise += law[b]
        else:
            stay += law[b]
    cost[m] += q[k] * total
    hit[m] += q[k] * rise
    fail[m] += q[k] * stay


@njit(cache=True, nogil=True, error_model="numpy")
def surprise(N: int, a: int, m: int, mode: int, fail: float, t: AdaptiveTables) -> float:
    """Mean square of ``1 + T' - T`` in state ``a`` with memory ``m``, with the variance that follows a success."""
    law = t.law
    k, up = t.radius[m], t.better[m]
    W, WV, T, V = t.W[up], t.WV[up], t.T[up, 0], t.V[up, 0]
    shift = t.T[m, 0, a] - 1.0
    cost = 0.0
    if fail > 0.0:
        cost = fail * (t.T[t.failures.after[m], 0, a] - shift) ** 2
    if k > N + 1:
        return cost
    first, last = fill_law(law, N, a, k - 1)
    total = 0.0
    for b in range(first, last + 1, 2):
        total += law[b] * (WV[b] + (W[b] - shift) ** 2)
    cost += t.p[k] * total
    if k > N or mode != UPWARD:
        return cost
    first, last = fill_law(law, N, a, k)
    total = 0.0
    for b in range(first, last + 1, 2):
        if b > a:
            total += law[b] * (V[b] + (T[b] - shift) ** 2)
    return cost + t.q[k] * total


@njit(cache=True, nogil=True, error_model="numpy")
def solve_states(i: int, N: int, mode: int, t: AdaptiveTables) -> None:
    """Mean ``T`` and variance ``V`` of every state of level ``i`` with every memory, from ``p, q, W, WV``."""
    size = t.radius.size
    cost, hit, fail, result = np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(size)
    endless = np.zeros(size, dtype=np.bool_)
    for a in range(N, -1, -1):
        for m in range(size):
            weigh(i, N, a, m, mode, t, cost, hit, fail, endless)
        spread_endless(t.radius <= N + 1, fail > 0.0, t.failures, endless)
        follow_failures(cost, hit, fail, endless, t.failures, result)
        t.T[:, 0, a] = result
        for m in range(size):
            cost[m] = 0.0 if endless[m] else surprise(N, a, m, mode, fail[m], t)
        follow_failures(cost, hit, fail, endless, t.failures, result)
        t.V[:, 0, a] = result
