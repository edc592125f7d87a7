r"""The best radius of one state, without evaluating every radius.

With :math:`S_k, R_k` the mean value and the probability of the accepted moves inside the level, radius :math:`k` gives

.. math:: Q_k = \frac{1 + p_k (P_{k-1} W)(a) + q_k S_k}{p_k + q_k R_k},

and it beats a time :math:`b` already achieved exactly if

.. math:: D_k(b) = 1 + p_k\,((P_{k-1} W)(a) - b) + q_k\,(S_k - R_k b) < 0.

A radius is evaluated only if three lower bounds of :math:`D_k(b)` of growing sharpness all fail to be positive:

1. the minimum of ``W`` and ``T`` over the level; past the peak of :math:`p_k` it rules out all larger radii at once;
2. the minimum over the window that holds all but ``TAIL`` of the probability (Serfling's inequality for sampling
   without replacement), Hoeffding's bound of :math:`R_k`, and the level's minimum for the tail;
3. the last evaluated radius :math:`k'`.  The :math:`d = |k - k'|` flips between them change ``a`` by some
   :math:`\delta` with :math:`\mathrm{E}\delta = (k - k')(1 - 2a/N)` and variance at most :math:`d`.  If the steps
   :math:`f(a+1) - f(a)` in the window widened by :math:`d` lie in :math:`s \pm h`, then
   :math:`\mathrm{E} f` moves by at least :math:`s\,\mathrm{E}\delta - h \sqrt{d + (\mathrm{E}\delta)^2}`.

Range minima come from sparse tables that grow as the level is filled from ``a = N`` downwards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import (
    ANY,
    REJECT,
    UPWARD,
    accepted_after,
    count_infinite,
    fill_probabilities,
    mean_after,
    touches_infinite,
)

#: Radii whose expected times differ by less than this fraction count as tied.
TIE_TOLERANCE = 1e-12

#: Probability left outside a pruning window, and the window's half-width in units of sqrt(k (1 - (k-1)/N)):
#: Serfling gives P(|X - EX| >= t) <= 2 exp(-2 t^2 / (k (1 - (k-1)/N))), and a' moves by two per unit of X.
TAIL = 1e-6
HALF_WIDTH = 2.0 * np.sqrt(0.5 * np.log(2.0 / TAIL))


class LevelTables(NamedTuple):
    """Work space of one sweep over the levels of an ``n``-bit setting.

    ``p, q, reach`` are indexed by radius, ``W, T`` by the ones ``a`` in the suffix.  ``low_*``, ``rise_*`` and
    ``fall_*`` are sparse tables, shape (log2 n + 2, n + 2), of ``f``, of its steps ``f(a+1) - f(a)`` and of minus them.
    ``bounds`` holds the largest and smallest finite ``W`` and ``T`` of the level, ``infinite`` how many entries of each
    are infinite.
    """

    radii: IntArray
    p: FloatArray
    q: FloatArray
    reach: FloatArray
    W: FloatArray
    T: FloatArray
    low_w: FloatArray
    rise_w: FloatArray
    fall_w: FloatArray
    low_t: FloatArray
    rise_t: FloatArray
    fall_t: FloatArray
    log2: IntArray
    infinite_w: IntArray
    infinite_t: IntArray
    bounds: FloatArray
    infinite: IntArray


TOP_W, MIN_W, TOP_T, MIN_T = 0, 1, 2, 3


def level_tables(n: int, radii: IntArray) -> LevelTables:
    """Allocate the work space for an ``n``-bit setting with the given portfolio."""
    log2 = np.zeros(n + 3, dtype=np.int64)
    for x in range(2, n + 3):
        log2[x] = log2[x >> 1] + 1
    rows = int(log2[n + 2]) + 1

    def sparse() -> FloatArray:
        return np.zeros((rows, n + 2))

    return LevelTables(
        radii=np.ascontiguousarray(radii, dtype=np.int64),
        p=np.zeros(n + 2),
        q=np.zeros(n + 2),
        reach=np.zeros(n + 2),
        W=np.zeros(n + 1),
        T=np.zeros(n + 1),
        low_w=sparse(),
        rise_w=sparse(),
        fall_w=sparse(),
        low_t=sparse(),
        rise_t=sparse(),
        fall_t=sparse(),
        log2=log2,
        infinite_w=np.zeros(n + 3, dtype=np.int64),
        infinite_t=np.zeros(n + 3, dtype=np.int64),
        bounds=np.zeros(4),
        infinite=np.zeros(2, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def push(table: FloatArray, r: int, value: float) -> None:
    """Append entry ``r`` to a sparse table of range minima."""
    table[0, r] = value
    j = 1
    while (1 << j) <= r + 1:
        table[j, r] = min(table[j - 1, r], table[j - 1, r - (1 << (j - 1))])
        j += 1


@njit(cache=True, nogil=True)
def range_min(table: FloatArray, log2: IntArray, N: int, a: int, b: int) -> float:
    """Minimum over the entries of ``a..b``; entry ``a`` was pushed at ``N - a``."""
    length = b - a + 1
    j = log2[length]
    end = N - a
    return min(table[j, end], table[j, end - length + (1 << j)])


@njit(cache=True, nogil=True)
def push_steps(rise: FloatArray, fall: FloatArray, f: FloatArray, N: int, a: int) -> None:
    """Append the step from ``a`` to ``a + 1``; next to an infinite value it is unbounded both ways."""
    up = down = 0.0
    if a < N:
        if np.isinf(f[a]) or np.isinf(f[a + 1]):
            up = down = -np.inf
        else:
            up = f[a + 1] - f[a]
            down = -up
    push(rise, N - a, up)
    push(fall, N - a, down)


@njit(cache=True, nogil=True)
def least_change(low_step: float, high_step: float, drift: float, size: float) -> float:
    """Smallest possible change of a mean when ``a`` moves by ``drift`` on average and ``size`` in square mean root."""
    if np.isinf(low_step) or np.isinf(high_step):
        return -np.inf
    return 0.5 * ((low_step + high_step) * drift - (high_step - low_step) * size)


@njit(cache=True, nogil=True)
def open_level(n: int, i: int, t: LevelTables) -> None:
    """Prepare probabilities, bounds and sparse tables of level ``i`` from ``t.W``; ``T`` starts empty."""
    N = n - i - 1
    fill_probabilities(n, i, t.p, t.q)
    for k in range(1, N + 2):
        # one for the radius k - 1 of the improving move, one for rounding
        t.reach[k] = HALF_WIDTH * np.sqrt(max(1.0, k * (1.0 - (k - 1.0) / (N + 1.0)))) + 2.0
    t.infinite[0] = count_infinite(t.W, N, t.infinite_w)
    t.infinite[1] = 0
    t.bounds[TOP_W], t.bounds[MIN_W] = 0.0, np.inf
    t.bounds[TOP_T], t.bounds[MIN_T] = 0.0, np.inf
    for a in range(N, -1, -1):
        w = t.W[a]
        push(t.low_w, N - a, w)
        push_steps(t.rise_w, t.fall_w, t.W, N, a)
        if not np.isinf(w):
            t.bounds[TOP_W] = max(t.bounds[TOP_W], w)
            t.bounds[MIN_W] = min(t.bounds[MIN_W], w)


@njit(cache=True, nogil=True)
def push_value(N: int, a: int, value: float, t: LevelTables) -> None:
    """Enter ``T(a)``, after all larger ``a``, into the tables of the level."""
    t.T[a] = value
    push(t.low_t, N - a, value)
    push_steps(t.rise_t, t.fall_t, t.T, N, a)
    if np.isinf(value):
        t.infinite[1] += 1
    else:
        t.bounds[TOP_T] = max(t.bounds[TOP_T], value)
        t.bounds[MIN_T] = min(t.bounds[MIN_T], value)


@njit(cache=True, nogil=True)
def moves_of(
    N: int,
    a: int,
    k: int,
    mode: int,
    W: FloatArray,
    T: FloatArray,
    bounds: FloatArray,
    infinite: IntArray,
    infinite_w: IntArray,
    infinite_t: IntArray,
) -> tuple[float, float, float]:
    """``(P_{k-1} W)(a)``, ``S_k`` and ``R_k``; the first is infinite where the optimum may become unreachable."""
    if infinite[0] > 0 and touches_infinite(infinite_w, N, a, k - 1):
        return np.inf, 0.0, 0.0
    mean = mean_after(W, bounds[TOP_W], N, a, k - 1)
    if mode == REJECT or k > N or (mode == UPWARD and a == N):
        return mean, 0.0, 0.0
    if infinite[1] > 0:
        if mode == ANY:
            if touches_infinite(infinite_t, N, a, k):
                return np.inf, 0.0, 0.0
        else:
            most = a + k - 2 * max(0, k - (N - a))
            # targets a' > a of the parity of a + k
            if most > a and infinite_t[most + 2] > infinite_t[a + 2 - k % 2]:
                return np.inf, 0.0, 0.0
    # p_k P W / q_k: what S_k stands beside
    floor = mean * k / (N - k + 1.0)
    S, R = accepted_after(T, bounds[TOP_T], floor, N, a, k, mode)
    return mean, S, R


#: What a bound says of a radius: it may be better, it cannot be, and neither can any larger one.
POSSIBLE, WORSE, ALL_WORSE = 0, 1, 2


@njit(cache=True, nogil=True, forceinline=True)
def window_bound(
    n: int,
    i: int,
    a: int,
    k: int,
    mode: int,
    b: float,
    p: float,
    q: float,
    reach: float,
    bounds: FloatArray,
    low_w: FloatArray,
    low_t: FloatArray,
    log2: IntArray,
) -> tuple[int, float, float, float, int, int]:
    """Bounds 1 and 2 of the module's docstring for radius ``k`` against time ``b``.

    Returns a verdict, then what bound 3 can sharpen: the cost left of one iteration, bounds of ``P W - b`` and
    ``S - R b``, and the window ``left..right``.
    """
    N = n - i - 1
    min_w, min_t = bounds[MIN_W], bounds[MIN_T]
    inside = mode != REJECT
    gap_t = min(0.0, min_t - b) if inside else 0.0
    if 1.0 + p * (min_w - b) + q * gap_t > 0.0:
        # p_k falls from its peak on, q_k always does
        return ALL_WORSE if k * (i + 1) > n else WORSE, 0.0, 0.0, 0.0, 0, 0
    excess = 2.0 * a / N - 1.0 if N > 0 else 0.0
    centre = a - min(k, N) * excess
    left = max(0, int(centre - reach))
    right = min(N, int(centre + reach) + 1)
    start = 0 if mode == ANY else a + 1
    lead = 1.0 - TAIL * (p + q) * (b - min(min_w, min_t))
    bound_w = range_min(low_w, log2, N, left, right) - b
    bound_t = 0.0
    if inside and right >= start:
        bound_t = min(0.0, range_min(low_t, log2, N, max(left, start), right) - b)
        if mode == UPWARD and bound_t < 0.0 and excess > 0.0 and excess * excess * k > 1.0:
            bound_t *= np.exp(-0.5 * excess * excess * k)
    verdict = WORSE if lead + p * bound_w + q * bound_t > 0.0 else POSSIBLE
    return verdict, lead, bound_w, bound_t, left, right


@njit(cache=True, nogil=True)
def best_radius(n: int, i: int, a: int, mode: int, hint: int, t: LevelTables) -> tuple[float, int]:
    """Smallest ``Q_k`` over the portfolio and the smallest radius that attains it.

    Where no radius can finish, all tie at ``inf`` and the smallest of the portfolio is returned.  ``hint`` is a
    radius of the portfolio to try first, or 0; a good one makes the bounds sharp at once.
    """
    N = n - i - 1
    # local names: reading a field of a named tuple inside a loop costs a reference count each time
    radii, p_of, q_of, reach, log2 = t.radii, t.p, t.q, t.reach, t.log2
    W, T, bounds, infinite = t.W, t.T, t.bounds, t.infinite
    infinite_w, infinite_t = t.infinite_w, t.infinite_t
    low_w, rise_w, fall_w = t.low_w, t.rise_w, t.fall_w
    low_t, rise_t, fall_t = t.low_t, t.rise_t, t.fall_t
    excess = 2.0 * a / N - 1.0 if N > 0 else 0.0
    start = 0 if mode == ANY else a + 1
    best = np.inf
    radius = 0
    last = 0
    last_mean = last_S = last_R = 0.0
    for turn in range(-1, radii.size):
        k = hint if turn < 0 else radii[turn]
        if k > N + 1:
            break
        if k == 0 or (k == hint and turn >= 0):
            continue
        b = best * (1.0 + TIE_TOLERANCE)
        p, q = p_of[k], q_of[k]
        if radius > 0:
            verdict, lead, bound_w, bound_t, left, right = window_bound(
                n, i, a, k, mode, b, p, q, reach[k], bounds, low_w, low_t, log2
            )
            if verdict == ALL_WORSE:
                break
            if verdict == WORSE:
                continue
            d = abs(k - last)
            left = max(0, left - d)
            right = min(N, right + d)
            drift = (last - k) * excess
            size = np.sqrt(d + drift * drift)
            low_step = range_min(rise_w, log2, N, left, right)
            high_step = -range_min(fall_w, log2, N, left, right)
            bound_w = max(bound_w, last_mean - b + least_change(low_step, high_step, drift, size))
            if mode != REJECT and right >= start:
                low_step = range_min(rise_t, log2, N, max(left, start), right)
                high_step = -range_min(fall_t, log2, N, max(left, start), right)
                if mode == ANY:
                    base = last_S + (1.0 - last_R) * T[a] - b - max(0.0, T[a] - b)
                else:
                    base = last_S - last_R * b
                    if left <= a:
                        jump = T[a + 1] - b
                        low_step = min(low_step, min(0.0, jump))
                        high_step = max(high_step, max(0.0, jump))
                bound_t = max(bound_t, base + least_change(low_step, high_step, drift, size))
            if lead + p * bound_w + q * bound_t > 0.0:
                continue
        mean, S, R = moves_of(N, a, k, mode, W, T, bounds, infinite, infinite_w, infinite_t)
        leave = p + q * R
        if np.isinf(mean) or leave == 0.0:
            continue
        last, last_mean, last_S, last_R = k, mean, S, R
        value = (1.0 + p * mean + q * S) / leave
        if value < best * (1.0 - TIE_TOLERANCE) or radius == 0:
            best, radius = value, k
        elif value <= b:
            radius = min(radius, k)
            best = min(best, value)
    return best, max(radius, radii[0])
