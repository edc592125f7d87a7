r"""Exact mean and variance of the runtime of any policy on the ``(LO, OM)`` chain.

Level by level from the top.  With :math:`\pi_k(a)` the policy's radii and :math:`C_{ab}` the accepted moves inside a
level,

.. math:: \Bigl(\sum_k \pi_k p_k + \sum_b C_{ab}\Bigr) T(a) = 1 + \sum_k \pi_k p_k (P_{k-1} W)(a) + \sum_b C_{ab} T(b).

Selection decides only which moves inside the level count (:data:`~kflip.exact.flips.REJECT`, ``UPWARD``, ``ANY``), so
one evaluator serves every setting.  The variance obeys the same equations with another cost, because the one-step
surprises :math:`1 + T(s') - T(s)` of a run are uncorrelated:

.. math:: V(s) = \mathrm{E}[(1 + T(s') - T(s))^2] + \mathrm{E}[V(s')],

a sum of positive terms.  States from which the run may never end get ``inf``; that is decided on the full
supports of the moves, however improbable, not on floating-point weights.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.elimination import Chain, chain_space, eliminate, substitute
from kflip.exact.flips import (
    REJECT,
    UPWARD,
    add_law,
    count_infinite,
    fill_probabilities,
    mean_after,
    reaches_infinite,
    spread_after,
    touches_infinite,
)
from kflip.exact.levels import fold_variance


class EvaluationTables(NamedTuple):
    """Work space of one evaluation.

    ``W, WV`` are mean and variance of the time behind an improvement, ``T, V`` those of the level's states.
    ``radius, weight`` of shape (n, m) hold the policy of the level, ``moves`` of shape (n, n) its accepted moves inside
    the level between ``first`` and ``last``.
    """

    p: FloatArray
    q: FloatArray
    W: FloatArray
    WV: FloatArray
    T: FloatArray
    V: FloatArray
    cost: FloatArray
    leave: FloatArray
    radius: IntArray
    weight: FloatArray
    infinite_w: IntArray
    infinite_t: IntArray
    moves: FloatArray
    first: IntArray
    last: IntArray
    chain: Chain


def evaluation_tables(n: int, mode: int, choices: int) -> EvaluationTables:
    """Allocate the work space for a policy that mixes at most ``choices`` radii; LO strict needs no matrices."""
    size = 1 if mode == REJECT else n
    return EvaluationTables(
        p=np.zeros(n + 2),
        q=np.zeros(n + 2),
        W=np.zeros(n + 1),
        WV=np.zeros(n + 1),
        T=np.zeros(n + 1),
        V=np.zeros(n + 1),
        cost=np.zeros(n + 1),
        leave=np.zeros(n + 1),
        radius=np.zeros((n, choices), dtype=np.int64),
        weight=np.zeros((n, choices)),
        infinite_w=np.zeros(n + 3, dtype=np.int64),
        infinite_t=np.zeros(n + 3, dtype=np.int64),
        moves=np.empty((size, size)),
        first=np.zeros(n, dtype=np.int64),
        last=np.zeros(n, dtype=np.int64),
        chain=chain_space(size),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def set_radii(N: int, i: int, table: IntArray, t: EvaluationTables) -> None:
    """Take the policy of level ``i`` from a table of radii, shape (n+1, n+1)."""
    radius, weight = t.radius, t.weight
    for a in range(N + 1):
        radius[a, 0] = table[i, i + a]
        weight[a, 0] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def set_weights(N: int, i: int, radii: IntArray, probabilities: FloatArray, t: EvaluationTables) -> None:
    """Take the policy of level ``i`` from probabilities over ``radii``, shape (n+1, n+1, m)."""
    radius, weight = t.radius, t.weight
    for a in range(N + 1):
        for c in range(radii.size):
            radius[a, c] = radii[c]
            weight[a, c] = probabilities[i, i + a, c]


@njit(cache=True, nogil=True, error_model="numpy")
def mark_infinite(N: int, mode: int, t: EvaluationTables) -> int:
    """Set ``T`` to ``inf`` where a run may never end and to 0 elsewhere; return how many are infinite.

    A radius up to ``N + 1`` leaves the level in the end, a larger one never leaves the state.  What can reach an
    infinite state is infinite too.
    """
    T, radius, weight = t.T, t.radius, t.weight
    below = count_infinite(t.W, N, t.infinite_w)
    for a in range(N + 1):
        leaves = lost = False
        for c in range(radius.shape[1]):
            k = radius[a, c]
            if weight[a, c] > 0.0 and k <= N + 1:
                leaves = True
                lost = lost or (below > 0 and touches_infinite(t.infinite_w, N, a, k - 1))
        T[a] = 0.0 if leaves and not lost else np.inf
    found = -1
    infinite = count_infinite(T, N, t.infinite_t)
    while found != infinite:
        found = infinite
        if found == 0:
            break
        for a in range(N + 1):
            for c in range(radius.shape[1]):
                if weight[a, c] > 0.0 and reaches_infinite(t.infinite_t, mode, N, a, radius[a, c]):
                    T[a] = np.inf
        infinite = count_infinite(T, N, t.infinite_t)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def fill_row(N: int, a: int, mode: int, top: float, t: EvaluationTables) -> None:
    """Write exit probability, cost and accepted moves of state ``a``."""
    p, q, W, radius, weight = t.p, t.q, t.W, t.radius, t.weight
    cost, leave = 1.0, 0.0
    widest = 0
    for c in range(radius.shape[1]):
        k, share = radius[a, c], weight[a, c]
        if share > 0.0 and k <= N + 1:
            leave += share * p[k]
            cost += share * p[k] * mean_after(W, top, N, a, k - 1)
            if k <= N:
                widest = max(widest, k)
    t.leave[a], t.cost[a] = leave, cost
    if mode == REJECT:
        return
    first = max(0, a - widest)
    last = min(N, a + widest)
    row = t.moves[a]
    row[first : last + 1] = 0.0
    for c in range(radius.shape[1]):
        k, share = radius[a, c], weight[a, c]
        if share > 0.0 and k <= N:
            add_law(row, share * q[k], N, a, k)
    row[a] = 0.0
    t.first[a] = a if mode == UPWARD else first
    t.last[a] = last


@njit(cache=True, nogil=True, error_model="numpy")
def solve_level(N: int, mode: int, t: EvaluationTables) -> None:
    """Expected time ``T`` of every state of the level, from ``p, q, W`` and the policy in ``radius, weight``."""
    infinite = mark_infinite(N, mode, t)
    T, W, cost, leave, chain = t.T, t.W, t.cost, t.leave, t.chain
    top = 0.0
    for b in range(N + 1):
        if not np.isinf(W[b]):
            top = max(top, W[b])
    for a in range(N + 1):
        if np.isinf(T[a]):
            # no finite state leads here: an isolated row keeps the system regular
            cost[a], leave[a] = 0.0, 1.0
            t.first[a] = t.last[a] = a
        else:
            fill_row(N, a, mode, top, t)
    if mode == REJECT:
        for a in range(N + 1):
            if not np.isinf(T[a]):
                T[a] = cost[a] / leave[a]
        return
    for a in range(N + 1):
        first, last = t.first[a], t.last[a]
        chain.first[a], chain.last[a], chain.leave[a] = first, last, leave[a]
        chain.moves[a, first : last + 1] = t.moves[a, first : last + 1]
    eliminate(N + 1, chain)
    if infinite == 0:
        substitute(N + 1, chain, cost, T)
    else:
        substitute(N + 1, chain, cost, t.V)
        for a in range(N + 1):
            if not np.isinf(T[a]):
                T[a] = t.V[a]


@njit(cache=True, nogil=True, error_model="numpy")
def solve_variance(N: int, mode: int, t: EvaluationTables) -> None:
    """Variance ``V`` of the time of every state, after :func:`solve_level`."""
    p, W, WV, T, V, cost = t.p, t.W, t.WV, t.T, t.V, t.cost
    radius, weight, moves = t.radius, t.weight, t.moves
    high = deviation = 0.0
    for b in range(N + 1):
        if not np.isinf(W[b]):
            high = max(high, W[b])
            deviation = max(deviation, WV[b])
    for a in range(N + 1):
        V[a] = np.inf
        cost[a] = 0.0
        if np.isinf(T[a]):
            continue
        shift = T[a] - 1.0
        top = deviation + max(high, T[a]) ** 2
        acc = 0.0
        for c in range(radius.shape[1]):
            k, share = radius[a, c], weight[a, c]
            if share > 0.0 and k <= N + 1:
                acc += share * p[k] * spread_after(W, WV, top, shift, N, a, k - 1)
        stay = 1.0 - t.leave[a]
        if mode != REJECT:
            for b in range(t.first[a], t.last[a] + 1):
                if moves[a, b] > 0.0:
                    acc += moves[a, b] * (T[b] - shift) ** 2
                    stay -= moves[a, b]
        cost[a] = acc + max(stay, 0.0)
    if mode == REJECT:
        for a in range(N + 1):
            if not np.isinf(T[a]):
                V[a] = cost[a] / t.leave[a]
        return
    substitute(N + 1, t.chain, cost, V)
    for a in range(N + 1):
        if np.isinf(T[a]):
            V[a] = np.inf


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    first: int,
    last: int,
    mode: int,
    table: IntArray,
    radii: IntArray,
    probabilities: FloatArray,
    values: FloatArray,
    variances: FloatArray,
    t: EvaluationTables,
) -> None:
    """Evaluate levels ``first, first - 1, ..., last`` of a table, or of probabilities if there are any.

    ``values`` and ``variances`` have shape (n+1, n+1).
    """
    n = values.shape[0] - 1
    for i in range(first, last - 1, -1):
        N = n - i - 1
        fold_variance(N, i, values, variances, t.W, t.WV)
        fill_probabilities(n, i, t.p, t.q)
        if radii.size:
            set_weights(N, i, radii, probabilities, t)
        else:
            set_radii(N, i, table, t)
        solve_level(N, mode, t)
        solve_variance(N, mode, t)
        for a in range(N + 1):
            values[i, i + a] = t.T[a]
            variances[i, i + a] = t.V[a]
