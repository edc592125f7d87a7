r"""(LeadingOnes, OneMax) for policies that see LO alone: the exact effect of every radius on every level.

Selection looks at OM, so LO is not a Markov state and no Bellman equation holds.  But the expected runtime can be
written around any one level :math:`i`.  With :math:`e_i` the law in which level :math:`i` is entered and :math:`c_i`
that in which it is passed (:mod:`kflip.exact.occupancy`),

.. math:: E = \mathrm{const} + \sum_a e_i(a)\, T_i(a; k_i) + \sum_a c_i(a)\, W_i(a),

where the constant, :math:`e_i` and :math:`c_i` depend only on the radii below level :math:`i` and :math:`W_i` only on
those above.  So the best :math:`k_i` beside all others fixed is found from one level, and a sweep upwards or downwards
over all levels is coordinate descent with exact values at the cost of a few evaluations.

Policies that see ``(LO, OM)`` do at least as well from every state, so :math:`W_i \ge W_i^*` with the optimal values
of :mod:`kflip.exact.loom`, and :math:`T_i(a; k) \ge B_i(a; k)`, the same level's times in front of :math:`W_i^*`.
These bounds are computed once, are close, and rule out almost all radii unseen.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import UPWARD, accepted_after, add_law, fill_probabilities, mean_after
from kflip.exact.levels import binomial_weights, fold, fold_to, mean_from_start
from kflip.exact.occupancy import split
from kflip.exact.scan import TIE_TOLERANCE


class Bounds(NamedTuple):
    """What no policy that sees LO alone can beat.

    ``p, q`` have shape (n, n+2), the chances of every level and radius.  ``behind[i] = W_i^*`` has shape (n, n+1).
    ``times[offset[i] + c * (n - i) + a]`` is :math:`B_i(a; k)` for radius number ``c`` of the portfolio.
    """

    radii: IntArray
    p: FloatArray
    q: FloatArray
    behind: FloatArray
    times: FloatArray
    offset: IntArray


class Search(NamedTuple):
    """State of one search.

    ``table`` of shape (n+1,) is the current policy.  ``values`` of shape (n+1, n+1) and ``behind[i] = W_i`` belong to
    it as far down as the last sweep has been, ``entering[i] = e_i`` as far up; the last two have shape (n, n+1).  ``T``
    of shape (n+1,) is work space.
    """

    table: IntArray
    values: FloatArray
    behind: FloatArray
    entering: FloatArray
    T: FloatArray


def search_from(table: IntArray) -> Search:
    """Allocate a search that begins with ``table``, shape (n+1,)."""
    n = table.size - 1
    return Search(
        table=table.copy(),
        values=np.zeros((n + 1, n + 1)),
        behind=np.zeros((n, n + 1)),
        entering=np.zeros((n, n + 1)),
        T=np.zeros(n + 1),
    )


def bounds_of(n: int, radii: IntArray, values: FloatArray) -> Bounds:
    """Bounds from the optimal ``values`` of all ``(LO, OM)`` states, which must be finite."""
    count = [int(np.searchsorted(radii, n - i, side="right")) for i in range(n)]
    offset = np.concatenate([[0], np.cumsum([c * (n - i) for i, c in enumerate(count)])])
    bounds = Bounds(
        radii, np.zeros((n, n + 2)), np.zeros((n, n + 2)), np.zeros((n, n + 1)), np.zeros(offset[-1]), offset
    )
    for i in range(n):
        fill_probabilities(n, i, bounds.p[i], bounds.q[i])
        bounds.behind[i, : n - i] = fold_to(i, values)
        fill_bounds(n, i, bounds)
    return bounds


def bytes_of_bounds(n: int, radii: IntArray) -> int:
    """Memory that :func:`bounds_of` takes."""
    return 8 * sum(int(np.searchsorted(radii, n - i, side="right")) * (n - i) for i in range(n))


@njit(cache=True, nogil=True)
def fill_times(N: int, k: int, p: float, q: float, W: FloatArray, T: FloatArray) -> None:
    """Write ``T(a; k)`` of a level whose states all use radius ``k <= N + 1`` in front of ``W``."""
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
def fill_bounds(n: int, i: int, bounds: Bounds) -> None:
    """Write the times of level ``i`` for every radius in front of ``W_i^*``.

    All states improve LO with the same probability, so ``T(a; k) >= 1 / p_k``.  That alone is enough where it exceeds
    what flipping one bit takes.
    """
    N = n - i - 1
    T: FloatArray = np.zeros(N + 1)
    begin = bounds.offset[i]
    hopeless = n + 2.0 * bounds.behind[i].max()
    for k in bounds.radii:
        if k > N + 1:
            break
        if bounds.p[i, k] * hopeless < 1.0:
            T[:] = 1.0 / bounds.p[i, k]
        else:
            fill_times(N, k, bounds.p[i, k], bounds.q[i, k], bounds.behind[i], T)
        bounds.times[begin : begin + N + 1] = T
        begin += N + 1


@njit(cache=True, nogil=True)
def weighted(size: int, weights: FloatArray, f: FloatArray, begin: int) -> float:
    """``sum_a weights[a] f[begin + a]``."""
    acc = 0.0
    for a in range(size):
        acc += weights[a] * f[begin + a]
    return acc


@njit(cache=True, nogil=True)
def best_for_level(i: int, s: Search, bounds: Bounds) -> int:
    """Smallest radius that minimises ``sum_a e_i(a) T_i(a; k)``, given ``s.entering[i]`` and ``s.behind[i]``."""
    n = s.table.size - 1
    N = n - i - 1
    entering, W, T = s.entering[i], s.behind[i], s.T
    radii = bounds.radii
    best, radius = np.inf, 0
    # the present radius first: it makes the bounds useful at once
    for c in range(-1, radii.size):
        k = s.table[i] if c < 0 else radii[c]
        if k > N + 1:
            break
        if c >= 0 and (
            k == s.table[i] or weighted(N + 1, entering, bounds.times, bounds.offset[i] + c * (N + 1)) > best
        ):
            continue
        fill_times(N, k, bounds.p[i, k], bounds.q[i, k], W, T)
        total = weighted(N + 1, entering, T, 0)
        if total < best * (1.0 - TIE_TOLERANCE):
            best, radius = total, k
        elif total <= best * (1.0 + TIE_TOLERANCE):
            radius = min(radius, k)
    return radius


@njit(cache=True, nogil=True)
def sweep_down(s: Search, bounds: Bounds, search: bool) -> int:
    """Values of the current policy from the top; with ``search``, after giving every level its best radius.

    Returns how many radii changed.
    """
    n = s.table.size - 1
    W: FloatArray = np.zeros(n + 1)
    changed = 0
    for i in range(n - 1, -1, -1):
        N = n - i - 1
        fold(N, i, s.values, W)
        s.behind[i, : N + 1] = W[: N + 1]
        if search:
            k = best_for_level(i, s, bounds)
            changed += k != s.table[i]
            s.table[i] = k
        k = s.table[i]
        fill_times(N, k, bounds.p[i, k], bounds.q[i, k], W, s.T)
        s.values[i, i:n] = s.T[: N + 1]
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
        # moves that gain ones: their targets have the parity of a + k
        gains = range(a + 2 - k % 2, min(N, a + k) + 1, 2) if k <= N else range(0)
        if k <= N:
            add_law(row, q, N, a, k)
        for b in gains:
            out += row[b]
        visits = arriving[a] / out
        for b in gains:
            arriving[b] += visits * row[b]
        row[:] = 0.0
        add_law(u, visits * p, N, a, k - 1)


@njit(cache=True, nogil=True)
def sweep_up(ones: FloatArray, s: Search, bounds: Bounds) -> int:
    """Give every level from the lowest its best radius; return how many changed.

    ``ones`` is the law of the ones in a random string, shape (n+1,); the values must be up to date.
    """
    n = s.table.size - 1
    u = ones.copy()
    changed = 0
    for i in range(n):
        N = n - i - 1
        entering = s.entering[i]
        entering[: N + 1] = 0.0
        split(N + 1, u, entering)
        k = best_for_level(i, s, bounds)
        changed += k != s.table[i]
        s.table[i] = k
        leave_level(N, k, bounds.p[i, k], bounds.q[i, k], entering, u)
    return changed


def descend(s: Search, bounds: Bounds) -> float:
    """Improve the policy until no single radius does better; return the expected runtime, all of ``s`` up to date."""
    ones = binomial_weights(s.table.size - 1)
    sweep_down(s, bounds, False)
    best = mean_from_start(s.values)
    while True:
        changed = sweep_up(ones, s, bounds) + sweep_down(s, bounds, True)
        before, best = best, mean_from_start(s.values)
        # radii that tie may still change places
        if changed == 0 or best >= before * (1.0 - TIE_TOLERANCE):
            return best
