r"""What a walk over the suffixes of a level does at each of them.

Every kernel walks one block of targets (:mod:`kflip.exact.bits.distance`) and turns the sums :math:`H_k(z)` into

* :func:`best_radii`: :math:`\min_k (c_k + H_k(z)) / d_k` and the smallest radius that attains it;
* :func:`extremes`: the smallest and the largest :math:`H_k` among the targets of every weight;
* :func:`follow_table`, :func:`follow_mix`: :math:`\sum_k \pi_k(z) H_k(z) / \binom{n}{k}`, the mean over the accepted
  offspring of a given policy.

Targets outside ``lightest <= |z| <= heaviest`` are left alone.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.exact.bits.distance import Layout, descend, leaf, open_block, weight
from kflip.exact.scan import TIE_TOLERANCE


@njit(cache=True, nogil=True)
def best_radii(
    head: int,
    X: FloatArray,
    Y: FloatArray,
    plan: Layout,
    scratch: FloatArray,
    lightest: int,
    heaviest: int,
    radii: IntArray,
    constant: FloatArray,
    divisor: FloatArray,
    values: FloatArray,
    table: RadiusArray,
) -> None:
    """Write value and radius of every target; ``constant`` and ``divisor`` belong to ``radii``.

    Where all radii are infinite the table keeps what it holds.
    """
    lanes = 1 << plan.lanes
    sums = leaf(plan, scratch)
    quotients = np.empty((radii.size, lanes))
    best = np.empty(lanes)
    open_block(head, X, Y, plan, scratch)
    depth = plan.N - plan.lanes - plan.heads
    block = head << depth
    group = block
    while group < block + (1 << depth):
        skip = descend(group, block, lightest, heaviest, plan, scratch)
        if skip > 0:
            group += skip
            continue
        for q in range(lanes):
            best[q] = np.inf
        for r in range(radii.size):
            k, c, d = radii[r], constant[r], divisor[r]
            for q in range(lanes):
                value = (c + sums[k, q]) / d
                quotients[r, q] = value
                best[q] = value if value < best[q] else best[q]
        ones = weight(group)
        for q in range(lanes):
            here = ones + weight(q)
            if here < lightest or here > heaviest:
                continue
            z = group * lanes + q
            values[z] = best[q]
            if np.isinf(best[q]):
                continue
            limit = best[q] * (1.0 + TIE_TOLERANCE)
            r = 0
            while quotients[r, q] > limit:
                r += 1
            table[z] = radii[r]
        group += 1


@njit(cache=True, nogil=True)
def extremes(
    head: int,
    Y: FloatArray,
    plan: Layout,
    scratch: FloatArray,
    smallest: FloatArray,
    largest: FloatArray,
) -> None:
    """Enter the extremes of ``H_k`` (with ``X = 0``) into arrays of shape ``(N + 1, k_high + 1)``, by weight."""
    N, lanes = plan.N, 1 << plan.lanes
    sums = leaf(plan, scratch)
    # kept by lane during the walk: the update of eight lanes is then one vector operation
    low = np.full((N - plan.lanes + 1, sums.shape[0], lanes), np.inf)
    high = np.full((N - plan.lanes + 1, sums.shape[0], lanes), -np.inf)
    open_block(head, Y[:0], Y, plan, scratch)
    depth = N - plan.lanes - plan.heads
    block = head << depth
    for group in range(block, block + (1 << depth)):
        descend(group, block, 0, N, plan, scratch)
        ones = weight(group)
        for k in range(sums.shape[0]):
            for q in range(lanes):
                value = sums[k, q]
                low[ones, k, q] = value if value < low[ones, k, q] else low[ones, k, q]
                high[ones, k, q] = value if value > high[ones, k, q] else high[ones, k, q]
    for ones in range(low.shape[0]):
        for q in range(lanes):
            here = ones + weight(q)
            for k in range(sums.shape[0]):
                smallest[here, k] = min(smallest[here, k], low[ones, k, q])
                largest[here, k] = max(largest[here, k], high[ones, k, q])


@njit(cache=True, nogil=True)
def follow_table(
    head: int,
    X: FloatArray,
    Y: FloatArray,
    plan: Layout,
    scratch: FloatArray,
    lightest: int,
    heaviest: int,
    table: RadiusArray,
    share: FloatArray,
    means: FloatArray,
) -> None:
    """Write ``share[k] * H_k`` for the radius ``k`` of the table; ``share[k]`` is zero for a radius never accepted."""
    lanes = 1 << plan.lanes
    sums = leaf(plan, scratch)
    open_block(head, X, Y, plan, scratch)
    depth = plan.N - plan.lanes - plan.heads
    block = head << depth
    group = block
    while group < block + (1 << depth):
        skip = descend(group, block, lightest, heaviest, plan, scratch)
        if skip > 0:
            group += skip
            continue
        ones = weight(group)
        for q in range(lanes):
            here = ones + weight(q)
            if lightest <= here <= heaviest:
                z = group * lanes + q
                k = np.int64(table[z])
                means[z] = share[k] * sums[k, q] if share[k] > 0.0 else 0.0
        group += 1


@njit(cache=True, nogil=True)
def follow_mix(
    head: int,
    X: FloatArray,
    Y: FloatArray,
    plan: Layout,
    scratch: FloatArray,
    lightest: int,
    heaviest: int,
    radii: IntArray,
    mix: FloatArray,
    share: FloatArray,
    means: FloatArray,
) -> None:
    """As :func:`follow_table`, for probabilities ``mix[z, m]`` over ``radii[m]``."""
    lanes = 1 << plan.lanes
    sums = leaf(plan, scratch)
    open_block(head, X, Y, plan, scratch)
    depth = plan.N - plan.lanes - plan.heads
    block = head << depth
    group = block
    while group < block + (1 << depth):
        skip = descend(group, block, lightest, heaviest, plan, scratch)
        if skip > 0:
            group += skip
            continue
        ones = weight(group)
        for q in range(lanes):
            here = ones + weight(q)
            if here < lightest or here > heaviest:
                continue
            z = group * lanes + q
            mean = 0.0
            for m in range(radii.size):
                k = radii[m]
                if mix[z, m] > 0.0 and share[k] > 0.0:
                    mean += mix[z, m] * share[k] * sums[k, q]
            means[z] = mean
        group += 1
