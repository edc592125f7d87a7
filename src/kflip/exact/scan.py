r"""The best radius of one state, without evaluating every radius.

With :math:`S_k, R_k` the mean value and the probability of the accepted moves inside the level, radius :math:`k` gives

.. math:: Q_k = \frac{1 + p_k (P_{k-1} W)(a) + q_k S_k}{p_k + q_k R_k},

and it beats a time :math:`b` already achieved exactly if

.. math:: D_k(b) = 1 + p_k\,((P_{k-1} W)(a) - b) + q_k\,(S_k - R_k b) < 0.

Radii are ruled out in blocks that double while it works and halve while it does not.  A block is skipped if one of
three lower bounds of :math:`D_k(b)`, of growing sharpness, is positive for all its radii:

1. the minimum of ``W`` and ``T`` over the level; past the peak of :math:`p_k` it rules out all larger radii at once;
2. the minimum over the window that holds all but ``TAIL`` of the probability (Serfling's inequality for sampling
   without replacement), Hoeffding's bound of :math:`R_k`, and the level's minimum for the tail;
3. the last evaluated radius :math:`k'`.  The :math:`d = |k - k'|` flips between them change ``a`` by some
   :math:`\delta` with :math:`\mathrm{E}\delta = (k - k')(1 - 2a/N)` and variance at most :math:`d`.  If the steps
   :math:`f(a+1) - f(a)` in the window widened by :math:`d` lie in :math:`s \pm h`, then
   :math:`\mathrm{E} f` moves by at least :math:`s\,\mathrm{E}\delta - h \sqrt{d + (\mathrm{E}\delta)^2}`.

Range minima come from the sparse tables of :mod:`kflip.exact.level_tables`.
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
    mean_after,
    reaches_infinite,
    touches_infinite,
)
from kflip.exact.level_tables import (
    FALL_T,
    FALL_W,
    LOW_T,
    LOW_W,
    MIN_T,
    MIN_W,
    REACH,
    RISE_T,
    RISE_W,
    TAIL,
    TOP_T,
    TOP_W,
    LevelTables,
    P,
    Q,
    range_min,
)

#: Radii whose expected times differ by less than this fraction count as tied.
TIE_TOLERANCE = 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def least_change(low_step: float, high_step: float, drift: float, drift_end: float, size: float) -> float:
    """Smallest possible change of a mean whose function has steps between ``low_step`` and ``high_step``.

    Its argument moves by ``drift`` to ``drift_end`` on average and by ``size`` in root mean square.
    """
    if np.isinf(low_step) or np.isinf(high_step):
        return -np.inf
    slope = low_step + high_step
    return 0.5 * (min(slope * drift, slope * drift_end) - (high_step - low_step) * size)


@njit(cache=True, nogil=True, error_model="numpy")
def leads_astray(counts: IntArray, N: int, a: int, k: int, mode: int) -> bool:
    """Whether radius ``k`` can lead from ``a`` to a state that may never finish, however small the probability."""
    return touches_infinite(counts[0], N, a, k - 1) or reaches_infinite(counts[1], mode, N, a, k)


@njit(cache=True, nogil=True, error_model="numpy")
def moves_of(
    N: int, a: int, k: int, mode: int, W: FloatArray, T: FloatArray, top_w: float, top_t: float
) -> tuple[float, float, float]:
    """``(P_{k-1} W)(a)``, ``S_k`` and ``R_k``."""
    mean = mean_after(W, top_w, N, a, k - 1)
    if mode == REJECT or k > N or (mode == UPWARD and a == N):
        return mean, 0.0, 0.0
    # p_k P W / q_k: what S_k stands beside
    floor = mean * k / (N - k + 1.0)
    S, R = accepted_after(T, top_t, floor, N, a, k, mode)
    return mean, S, R


#: Next to a radius within this factor of the best, short walks cost less than bounds that will not decide anyway.
SHORT, CLOSE = 24, 1.002

#: What the bounds say of a block of radii: one may be better, none is, and no larger radius is either.
POSSIBLE, WORSE, ALL_WORSE = 0, 1, 2


class Anchor(NamedTuple):
    """The last evaluated radius (0 if none), its ``P W``, and its mean of ``T - b`` over accepted moves."""

    radius: int
    mean: float
    inside: float


@njit(cache=True, nogil=True, error_model="numpy", inline="always")  # a fifth faster than a call
def judge(
    n: int,
    i: int,
    a: int,
    first: int,
    last: int,
    mode: int,
    b: float,
    next_value: float,
    anchor: Anchor,
    by_radius: FloatArray,
    sparse: FloatArray,
    log2: IntArray,
    bounds: FloatArray,
) -> int:
    """Whether a radius in ``first..last`` may beat time ``b`` in state ``a``; ``next_value`` is ``T(a + 1)``."""
    N = n - i - 1
    peak = n // (i + 1)
    p = by_radius[P, min(max(peak, first), last)]
    q = by_radius[Q, first]
    min_w, min_t = bounds[MIN_W], bounds[MIN_T]
    inside = mode != REJECT
    gap_t = min(0.0, min_t - b) if inside else 0.0
    if 1.0 + p * (min_w - b) + q * gap_t > 0.0:
        return ALL_WORSE if first > peak else WORSE
    lead = 1.0 - TAIL * (p + q) * (b - min(min_w, min_t))
    excess = 2.0 * a / N - 1.0 if N > 0 else 0.0
    near, far = a - min(first, N) * excess, a - min(last, N) * excess
    width = by_radius[REACH, min(max((N + 2) // 2, first), last)]  # it rises to the middle, then falls
    left = max(0, int(min(near, far) - width))
    right = min(N, int(max(near, far) + width) + 1)
    start = 0 if mode == ANY else a + 1
    bound_w = min(0.0, range_min(sparse, LOW_W, log2, N, left, right) - b)
    bound_t = 0.0
    if inside and right >= start:
        bound_t = min(0.0, range_min(sparse, LOW_T, log2, N, max(left, start), right) - b)
        if mode == UPWARD and bound_t < 0.0 and excess > 0.0 and excess * excess * first > 1.0:
            bound_t *= np.exp(-0.5 * excess * excess * first)
    if lead + p * bound_w + q * bound_t > 0.0:
        return WORSE
    if anchor.radius == 0:
        return POSSIBLE
    d = max(abs(last - anchor.radius), abs(first - anchor.radius))
    left = max(0, left - d)
    right = min(N, right + d)
    drift, drift_end = (anchor.radius - first) * excess, (anchor.radius - last) * excess
    size = np.sqrt(d + (d * excess) ** 2)
    low_step = range_min(sparse, RISE_W, log2, N, left, right)
    high_step = -range_min(sparse, FALL_W, log2, N, left, right)
    moved = anchor.mean - b + least_change(low_step, high_step, drift, drift_end, size)
    bound_w = max(bound_w, min(0.0, moved))
    if inside and right >= start:
        low_step = range_min(sparse, RISE_T, log2, N, max(left, start), right)
        high_step = -range_min(sparse, FALL_T, log2, N, max(left, start), right)
        if mode == UPWARD and left <= a:
            low_step = min(low_step, min(0.0, next_value - b))
            high_step = max(high_step, max(0.0, next_value - b))
        moved = anchor.inside + least_change(low_step, high_step, drift, drift_end, size)
        bound_t = max(bound_t, min(0.0, moved))
    return WORSE if lead + p * bound_w + q * bound_t > 0.0 else POSSIBLE


@njit(cache=True, nogil=True, error_model="numpy")
def best_radius(n: int, i: int, a: int, mode: int, hint: int, t: LevelTables) -> tuple[float, int]:
    """Smallest ``Q_k`` over the portfolio and the smallest radius that attains it.

    Where no radius can finish, all tie at ``inf`` and the smallest of the portfolio is returned.  The scan goes up and
    then down from ``hint``, a radius of the portfolio or 0; a good one makes the bounds sharp at once.
    """
    N = n - i - 1
    radii, by_radius, W, T = t.radii, t.by_radius, t.W, t.T
    sparse, log2, bounds, counts = t.sparse, t.log2, t.bounds, t.counts
    top_w, top_t = bounds[TOP_W], bounds[TOP_T]
    infinite = t.infinite[0] + t.infinite[1] > 0
    next_value = T[a + 1] if a < N else 0.0
    end = int(np.searchsorted(radii, N + 1, side="right"))
    middle = min(int(np.searchsorted(radii, hint)), end - 1)
    best = np.inf
    radius = 0
    last = 0
    last_mean = last_S = last_R = 0.0
    last_value = np.inf
    step = 1
    turn = middle
    block = 1
    while end > 0:
        if turn >= end or turn < 0:
            if step < 0:
                break
            step, turn, block, last_value = -1, middle - 1, 1, np.inf
            continue
        b = best * (1.0 + TIE_TOLERANCE)
        cheap = block == 1 and radii[turn] <= SHORT and last_value < best * CLOSE
        if radius > 0 and not cheap:
            block = min(block, end - turn if step > 0 else turn + 1)
            inside = last_S - last_R * b
            if mode == ANY:
                # count the way back to a itself as T(a), then allow for T(a) > b
                inside += (1.0 - last_R) * (T[a] - b) - max(0.0, T[a] - b)
            anchor = Anchor(last, last_mean, inside)
            far = radii[turn + step * (block - 1)]
            first, to = min(radii[turn], far), max(radii[turn], far)
            verdict = judge(n, i, a, first, to, mode, b, next_value, anchor, by_radius, sparse, log2, bounds)
            if verdict != POSSIBLE:
                turn = end if verdict == ALL_WORSE and step > 0 else turn + step * block
                block *= 2
                continue
            if block > 1:
                block = (block + 1) // 2
                continue
        k = radii[turn]
        turn += step
        if infinite and leads_astray(counts, N, a, k, mode):
            continue
        mean, S, R = moves_of(N, a, k, mode, W, T, top_w, top_t)
        p, q = by_radius[P, k], by_radius[Q, k]
        leave = p + q * R
        if leave == 0.0:
            continue
        last, last_mean, last_S, last_R = k, mean, S, R
        value = last_value = (1.0 + p * mean + q * S) / leave
        if value < best * (1.0 - TIE_TOLERANCE) or radius == 0:
            best, radius = value, k
        elif value <= b:
            radius = min(radius, k)
            best = min(best, value)
    return best, max(radius, radii[0])
