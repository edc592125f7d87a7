r"""Rules with memory on LeadingOnes with standard selection, where OM moves without success.

On a level, with :math:`A_m = q_k P_k + (1 - p_k - q_k) I` the moves of a failure with memory :math:`m`,

.. math:: T_m = c_m + A_m T_{d(m)}, \qquad c_m = 1 + p_k P_{k-1} W_{u(m)},

vectors over the ones of the suffix.  Once around a cycle :math:`m_0, \dots, m_{L-1}` of failures

.. math:: T_{m_0} = g + B T_{m_0}, \qquad B = A_{m_0} \cdots A_{m_{L-1}}, \qquad
          g = c_{m_0} + A_{m_0} (c_{m_1} + A_{m_1} (\dots)),

one linear system; a row of :math:`B` misses 1 by the chance of a success on the way, the positive sum
:math:`\sum_j p_{m_j} \prod_{l<j} (1 - p_{m_l})`, the same in every state.  The other memories follow.  The variance
obeys the same equations with another cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import BoolArray, FloatArray, IntArray
from kflip.exact.adaptive.tables import AdaptiveTables, fill_law, prefix_chance
from kflip.exact.elimination import Chain, chain_space, eliminate, substitute


class LevelTables(NamedTuple):
    """More work space: ``endless`` and ``cost`` of shape (memories, n+1), and the product ``B`` with its rows' spans.

    ``moves`` has shape (2, n, n), ``first`` and ``last`` (2, n): a product is made from one half into the other.
    """

    endless: BoolArray
    cost: FloatArray
    moves: FloatArray
    first: IntArray
    last: IntArray
    chain: Chain


def level_tables(n: int, memories: int) -> LevelTables:
    """Allocate the work space."""
    return LevelTables(
        endless=np.zeros((memories, n + 1), dtype=np.bool_),
        cost=np.zeros((memories, n + 1)),
        moves=np.empty((2, n, n)),
        first=np.zeros((2, n), dtype=np.int64),
        last=np.zeros((2, n), dtype=np.int64),
        chain=chain_space(n),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def fails_endlessly(i: int, N: int, a: int, k: int, after: BoolArray, law: FloatArray) -> bool:
    """Whether a failure can lead from ``a`` to a state marked in ``after``."""
    if i > 0 and after[a]:
        return True
    if k <= N:
        first, last = fill_law(law, N, a, k)
        for b in range(first, last + 1, 2):
            if after[b]:
                return True
    return False


@njit(cache=True, nogil=True, error_model="numpy")
def mark_endless(i: int, N: int, t: AdaptiveTables, level: LevelTables) -> None:
    """Mark the states and memories from which a run may never end, on the full supports of the moves."""
    endless, law = level.endless, t.law
    after, cycle, ends, tree = t.failures.after, t.failures.cycle, t.failures.ends, t.failures.tree
    found = False
    for m in range(t.radius.size):
        k = t.radius[m]
        W = t.W[t.better[m]]
        for a in range(N + 1):
            endless[m, a] = False
            if k <= N + 1:
                first, last = fill_law(law, N, a, k - 1)
                for b in range(first, last + 1, 2):
                    endless[m, a] = endless[m, a] or np.isinf(W[b])
            found = found or endless[m, a]
    begin = 0
    for end in ends:
        hopeless = True
        for j in range(begin, end):
            hopeless = hopeless and t.radius[cycle[j]] > N + 1
        if hopeless:
            found = True
            for j in range(begin, end):
                endless[cycle[j], : N + 1] = True
        begin = end
    if not found:
        return
    grown = True
    while grown:
        grown = False
        for j in range(cycle.size - 1, -1, -1):
            m = cycle[j]
            for a in range(N + 1):
                if not endless[m, a] and fails_endlessly(i, N, a, t.radius[m], endless[after[m]], law):
                    endless[m, a] = grown = True
    for m in tree:
        for a in range(N + 1):
            endless[m, a] = endless[m, a] or fails_endlessly(i, N, a, t.radius[m], endless[after[m]], law)


@njit(cache=True, nogil=True, error_model="numpy")
def after_failure(i: int, N: int, a: int, k: int, f: FloatArray, t: AdaptiveTables) -> float:
    """``(A_m f)(a)``."""
    law = t.law
    prefix = prefix_chance(i, N, k, t.p, t.q)
    total = prefix * f[a] if prefix > 0.0 else 0.0
    if k > N:
        return total
    first, last = fill_law(law, N, a, k)
    moved = 0.0
    for b in range(first, last + 1, 2):
        moved += law[b] * f[b]
    return total + t.q[k] * moved


@njit(cache=True, nogil=True, error_model="numpy")
def spread_after_failure(i: int, N: int, a: int, k: int, f: FloatArray, shift: float, t: AdaptiveTables) -> float:
    """``(A_m (f - shift)^2)(a)``."""
    law = t.law
    prefix = prefix_chance(i, N, k, t.p, t.q)
    total = prefix * (f[a] - shift) ** 2 if prefix > 0.0 else 0.0
    if k > N:
        return total
    first, last = fill_law(law, N, a, k)
    moved = 0.0
    for b in range(first, last + 1, 2):
        moved += law[b] * (f[b] - shift) ** 2
    return total + t.q[k] * moved


@njit(cache=True, nogil=True, error_model="numpy")
def set_cost(i: int, N: int, m: int, variance: bool, t: AdaptiveTables, level: LevelTables) -> None:
    """Write what an iteration with memory ``m`` costs: time, or the mean square of ``1 + T' - T``."""
    law = t.law
    k, up, down = t.radius[m], t.better[m], t.failures.after[m]
    W, WV = t.W[up], t.WV[up]
    for a in range(N + 1):
        if level.endless[m, a]:
            continue
        total = 0.0
        shift = t.T[m, 0, a] - 1.0
        if k <= N + 1:
            first, last = fill_law(law, N, a, k - 1)
            for b in range(first, last + 1, 2):
                total += law[b] * (WV[b] + (W[b] - shift) ** 2 if variance else W[b])
            total *= t.p[k]
        level.cost[m, a] = total + (spread_after_failure(i, N, a, k, t.T[down, 0], shift, t) if variance else 1.0)


@njit(cache=True, nogil=True, error_model="numpy")
def compose(i: int, N: int, begin: int, end: int, t: AdaptiveTables, level: LevelTables) -> None:
    """Eliminate the chain of one round in the cycle ``begin..end-1``, seen from its first memory."""
    cycle, law, chain = t.failures.cycle, t.law, level.chain
    moves, firsts, lasts = level.moves, level.first, level.last
    old, new = 0, 1
    for a in range(N + 1):
        firsts[old, a] = lasts[old, a] = a
        moves[old, a, a] = 1.0
    leave = 0.0
    for j in range(end - 1, begin - 1, -1):
        m = cycle[j]
        k = t.radius[m]
        p = t.p[k] if k <= N + 1 else 0.0
        leave = p + (1.0 - p) * leave
        prefix = prefix_chance(i, N, k, t.p, t.q)
        for a in range(N + 1):
            first = last = a
            lower, upper = 1, 0
            if not level.endless[m, a]:
                if k <= N:
                    lower, upper = fill_law(law, N, a, k)
                if prefix > 0.0:
                    first, last = firsts[old, a], lasts[old, a]
                for b in range(lower, upper + 1, 2):
                    first, last = min(first, firsts[old, b]), max(last, lasts[old, b])
            row = moves[new, a]
            row[first : last + 1] = 0.0
            if not level.endless[m, a]:
                if prefix > 0.0:
                    for c in range(firsts[old, a], lasts[old, a] + 1):
                        row[c] += prefix * moves[old, a, c]
                for b in range(lower, upper + 1, 2):
                    share = t.q[k] * law[b]
                    for c in range(firsts[old, b], lasts[old, b] + 1):
                        row[c] += share * moves[old, b, c]
            firsts[new, a], lasts[new, a] = first, last
        old, new = new, old
    for a in range(N + 1):
        first, last = firsts[old, a], lasts[old, a]
        chain.first[a], chain.last[a] = first, last
        chain.moves[a, first : last + 1] = moves[old, a, first : last + 1]
        # nothing finite leads to an endless state: an isolated row keeps the system regular
        chain.leave[a] = 1.0 if level.endless[cycle[begin], a] else leave
    eliminate(N + 1, chain)


@njit(cache=True, nogil=True, error_model="numpy")
def go_back(i: int, N: int, m: int, t: AdaptiveTables, level: LevelTables, result: FloatArray) -> None:
    """``result_m = cost_m + A_m result_{d(m)}``."""
    k = t.radius[m]
    behind = result[t.failures.after[m], 0]
    for a in range(N + 1):
        if level.endless[m, a]:
            result[m, 0, a] = np.inf
        else:
            result[m, 0, a] = level.cost[m, a] + after_failure(i, N, a, k, behind, t)


@njit(cache=True, nogil=True, error_model="numpy")
def solve_cycle(
    i: int, N: int, begin: int, end: int, t: AdaptiveTables, level: LevelTables, result: FloatArray
) -> None:
    """Totals of the memories of one cycle, whose chain is eliminated, from their costs."""
    cycle = t.failures.cycle
    m = cycle[begin]
    # one round that ends with nothing left to pay; around a cycle of one memory that is its cost
    result[m, 0, : N + 1] = 0.0
    for j in range(end - 1, begin, -1):
        go_back(i, N, cycle[j], t, level, result)
    total = np.zeros(N + 1)
    k = t.radius[m]
    for a in range(N + 1):
        if not level.endless[m, a]:
            total[a] = level.cost[m, a]
            if end > begin + 1:
                total[a] += after_failure(i, N, a, k, result[cycle[begin + 1], 0], t)
    substitute(N + 1, level.chain, total, result[m, 0])
    for a in range(N + 1):
        if level.endless[m, a]:
            result[m, 0, a] = np.inf
    for j in range(end - 1, begin, -1):
        go_back(i, N, cycle[j], t, level, result)


@njit(cache=True, nogil=True, error_model="numpy")
def solve_whole_level(i: int, N: int, t: AdaptiveTables, level: LevelTables) -> None:
    """Mean ``T`` and variance ``V`` of every state of level ``i`` with every memory, from ``p, q, W, WV``."""
    mark_endless(i, N, t, level)
    cycle = t.failures.cycle
    begin = 0
    for end in t.failures.ends:
        compose(i, N, begin, end, t, level)
        for j in range(begin, end):
            set_cost(i, N, cycle[j], False, t, level)
        solve_cycle(i, N, begin, end, t, level, t.T)
        for j in range(begin, end):
            set_cost(i, N, cycle[j], True, t, level)
        solve_cycle(i, N, begin, end, t, level, t.V)
        begin = end
    for m in t.failures.tree:
        set_cost(i, N, m, False, t, level)
        go_back(i, N, m, t, level, t.T)
        set_cost(i, N, m, True, t, level)
        go_back(i, N, m, t, level, t.V)
