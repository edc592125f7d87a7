r"""(LeadingOnes, OneMax) for policies that see LO alone: the exact effect of every radius on every level.

Selection looks at OM, so LO is not a Markov state and no Bellman equation holds.  But the expected runtime can be
written around any one level :math:`i`.  With :math:`e_i` the law in which level :math:`i` is entered and :math:`c_i`
that in which it is passed (:mod:`kflip.exact.occupancy`),

.. math:: E = \mathrm{const} + \sum_a e_i(a)\, T_i(a; k_i) + \sum_a c_i(a)\, W_i(a),

where :math:`e_i, c_i` and the constant depend only on the radii below level :math:`i` and :math:`W_i` only on those
above.  So the best :math:`k_i` beside all others fixed is found from one level, and a sweep upwards or downwards over
all levels is coordinate descent with exact values at the cost of a few evaluations.

All states of a level use the same radius, so LO improves with the same probability in each iteration:
:math:`T_i(a; k) = 1 / p_k + \mathrm{E}[W_i(\text{exit})] \ge 1 / p_k + \min W_i`, which rules out most radii unseen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import UPWARD, accepted_after, add_law, fill_probabilities, mean_after
from kflip.exact.levels import fold
from kflip.exact.occupancy import random_start, split
from kflip.exact.scan import TIE_TOLERANCE


class SearchTables(NamedTuple):
    """State of one search.

    ``table`` of shape (n+1,) is the current policy.  ``values`` of shape (n+1, n+1) and ``behind[i] = W_i`` belong to it
    where the last sweep downwards has been, ``entering[i] = e_i`` and ``passing[i] = c_i`` where the last sweep upwards
    has; ``behind, entering, passing`` have shape (n, n+1).  ``start`` is the law of a random first state.
    """

    radii: IntArray
    table: IntArray
    values: FloatArray
    behind: FloatArray
    entering: FloatArray
    passing: FloatArray
    start: FloatArray
    p: FloatArray
    q: FloatArray


def search_tables(n: int, radii: IntArray, table: IntArray) -> SearchTables:
    """Allocate the state of a search that begins with ``table``, shape (n+1,)."""
    return SearchTables(
        radii=radii,
        table=table.copy(),
        values=np.zeros((n + 1, n + 1)),
        behind=np.zeros((n, n + 1)),
        entering=np.zeros((n, n + 1)),
        passing=np.zeros((n, n + 1)),
        start=random_start(n),
        p=np.zeros(n + 2),
        q=np.zeros(n + 2),
    )


@njit(cache=True, nogil=True)
def fill_times(N: int, k: int, p: float, q: float, W: FloatArray, T: FloatArray) -> None:
    """Write ``T(a; k)`` of a level whose states all use radius ``k <= N + 1``."""
    top_w = 0.0
    for b in range(N + 1):
        top_w = max(top_w, W[b])
    top_t = top_w + 1.0 / p
    for a in range(N, -1, -1):
        mean = mean_after(W, top_w, N, a, k - 1)
        S = R = 0.0
        if k <= N and a < N:
            S, R = accepted_after(T, top_t, (1.0 + p * mean) / q, N, a, k, UPWARD)
        T[a] = (1.0 + p * mean + q * S) / (p + q * R)


@njit(cache=True, nogil=True)
def lowest(N: int, W: FloatArray) -> float:
    """Smallest ``W(a)``, ``a = 0..N``."""
    least = W[0]
    for b in range(1, N + 1):
        least = min(least, W[b])
    return least


@njit(cache=True, nogil=True)
def choose(
    n: int, i: int, entering: FloatArray, W: FloatArray, t: SearchTables, T: FloatArray, below: float
) -> tuple[int, float]:
    """Smallest radius that minimises ``sum_a e(a) T(a; k)``, and that sum; (0, ``below``) if none gets below ``below``.

    ``t.p, t.q`` must be those of level ``i``; ``T`` is work space.
    """
    N = n - i - 1
    p, q, radii = t.p, t.q, t.radii
    mass = entering[: N + 1].sum()
    least = lowest(N, W)
    best, radius = below, 0
    for k in radii:
        if k > N + 1:
            break
        if mass * (1.0 / p[k] + least) >= best:
            if k * (i + 1) > n:
                break  # p_k falls from its peak on
            continue
        fill_times(N, k, p[k], q[k], W, T)
        total = 0.0
        for a in range(N + 1):
            total += entering[a] * T[a]
        if total < best * (1.0 - TIE_TOLERANCE):
            best, radius = total, k
    return radius, best


@njit(cache=True, nogil=True)
def sweep_down(t: SearchTables, search: bool) -> int:
    """Values of the current policy from the top; with ``search``, after giving every level its best radius.

    Returns how many radii changed.
    """
    n = t.table.size - 1
    W, T = np.zeros(n + 1), np.zeros(n + 1)
    changed = 0
    for i in range(n - 1, -1, -1):
        N = n - i - 1
        fold(N, i, t.values, W)
        t.behind[i, : N + 1] = W[: N + 1]
        fill_probabilities(n, i, t.p, t.q)
        if search:
            k, _ = choose(n, i, t.entering[i], W, t, T, np.inf)
            changed += k != t.table[i]
            t.table[i] = k
        k = t.table[i]
        fill_times(N, k, t.p[k], t.q[k], W, T)
        t.values[i, i:n] = T[: N + 1]
    return changed


@njit(cache=True, nogil=True)
def leave_level(N: int, k: int, p: float, q: float, entering: FloatArray, u: FloatArray) -> None:
    """Add to ``u`` what leaves a level entered as ``entering`` whose states all use radius ``k``."""
    arriving = entering[: N + 1].copy()
    row = np.zeros(N + 1)
    for a in range(N + 1):
        if arriving[a] == 0.0:
            continue
        out = p
        if k <= N:
            add_law(row, q, N, a, k)
            for b in range(a + 1, N + 1):
                out += row[b]
        visits = arriving[a] / out
        for b in range(a + 1, N + 1):
            arriving[b] += visits * row[b]
        row[:] = 0.0
        add_law(u, visits * p, N, a, k - 1)


@njit(cache=True, nogil=True)
def sweep_up(t: SearchTables, search: bool) -> int:
    """Laws in which the levels are entered and passed; with ``search``, after giving every level its best radius.

    Returns how many radii changed.
    """
    n = t.table.size - 1
    u, T = np.zeros(n + 1), np.zeros(n + 1)
    changed = 0
    for i in range(n):
        N = n - i - 1
        entering = t.entering[i]
        entering[: N + 1] = t.start[i, i:n]
        split(N + 1, u, entering)
        t.passing[i, : N + 1] = u[: N + 1]
        fill_probabilities(n, i, t.p, t.q)
        if search:
            k, _ = choose(n, i, entering, t.behind[i], t, T, np.inf)
            changed += k != t.table[i]
            t.table[i] = k
        k = t.table[i]
        leave_level(N, k, t.p[k], t.q[k], entering, u)
    return changed


@njit(cache=True, nogil=True)
def set_level(i: int, k: int, t: SearchTables, T: FloatArray) -> None:
    """Use radius ``k`` on level ``i``: write its values, given ``behind[i]``, and ``behind[i - 1]``."""
    n = t.table.size - 1
    N = n - i - 1
    t.table[i] = k
    fill_probabilities(n, i, t.p, t.q)
    fill_times(N, k, t.p[k], t.q[k], t.behind[i], T)
    t.values[i, i:n] = T[: N + 1]
    if i > 0:
        W = t.behind[i - 1]
        W[: N + 1] = t.behind[i, : N + 1]
        fold(N + 1, i - 1, t.values, W)


@njit(cache=True, nogil=True)
def sweep_pairs(t: SearchTables) -> int:
    """From the top, give every two neighbouring levels their best pair of radii; laws and values must be up to date.

    Returns how many pairs changed; the laws above a change are then out of date.
    """
    n = t.table.size - 1
    T = np.zeros(n + 1)
    changed = 0
    for i in range(n - 2, -1, -1):
        N = n - i - 1
        entering, passing = t.entering[i], t.passing[i]
        old = best_pair = t.table[i], t.table[i + 1]
        best = 0.0
        for a in range(N + 1):
            best += passing[a] * t.behind[i, a] + entering[a] * t.values[i, i + a]
        for k in t.radii:
            if k > N:
                break
            set_level(i + 1, k, t, T)
            fill_probabilities(n, i, t.p, t.q)
            fixed = 0.0
            for a in range(N + 1):
                fixed += passing[a] * t.behind[i, a]
            radius, total = choose(n, i, entering, t.behind[i], t, T, best * (1.0 - TIE_TOLERANCE) - fixed)
            if radius > 0:
                best = fixed + total
                best_pair = radius, k
        set_level(i + 1, best_pair[1], t, T)
        set_level(i, best_pair[0], t, T)
        changed += best_pair != old
    return changed


def expected_runtime(t: SearchTables) -> float:
    """Expected runtime from a random string, if the values are up to date."""
    return float((t.start * t.values).sum())


def descend(t: SearchTables, pairs: bool) -> float:
    """Improve the policy until no single radius, and with ``pairs`` no pair of neighbouring ones, does better.

    Returns the expected runtime.
    """
    sweep_down(t, search=False)
    best = expected_runtime(t)
    while True:
        changed = sweep_up(t, search=True) + sweep_down(t, search=True)
        if pairs and changed == 0:
            changed = sweep_pairs(t)
        before, best = best, expected_runtime(t)
        # radii that tie may still change places
        if changed == 0 or best >= before * (1.0 - TIE_TOLERANCE):
            return best
