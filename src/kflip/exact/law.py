r"""The law of the runtime, by following the distribution of the state from iteration to iteration.

With :math:`x_t(s)` the probability that a run is in state :math:`s` after :math:`t` iterations, the runs that finish in
iteration :math:`t` are what leaves the last level.  All terms are positive: there is no cancellation and, unlike for
the transform :math:`\mathrm{E}[z^T]` on a circle, no aliasing.  What a law cut off at some iteration leaves out is the
mass that is still there.

Levels are only left upwards.  So a block of iterations is done level by level: the arrivals at a level, iteration by
iteration, come from the level below, and the level's rows stay in the cache.  As in :mod:`kflip.exact.occupancy`, what
arrives is described behind the prefix, ``series[t, a]`` being the mass with :math:`a` ones behind positions ``1..i``,
and one O(N) pass makes it enter level :math:`i` or pass it.

Rounding is 1e-16 of the mass per iteration.  Two things are left out on purpose: the ends of a move's law that hold
less than ``CUT`` of it, and mass below ``FAINT``, far below what could be added to a probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.chain import EvaluationTables, evaluation_tables, set_radii, set_weights
from kflip.exact.flips import ANY, REJECT, add_law, fill_probabilities
from kflip.exact.occupancy import NEVER

CUT = 1e-22
FAINT = 1e-40

#: Iterations done at a time.
BLOCK = 512

#: The two kinds of moves of a state: those that leave the level, and accepted ones inside.
OUT, INSIDE = 0, 1


class Level(NamedTuple):
    """One level's moves, packed, and its mass.

    ``mass, stay, moving`` have shape (N+1,), the last being 0 in states that are never left and 1 in others.
    ``bounds[kind, a]`` and ``bounds[kind, a + 1]`` delimit the weights of a state's moves in ``weight``,
    ``where[kind, a]`` is the first target.  Targets are ``step`` apart: 2 if every state has one radius.
    """

    mass: FloatArray
    stay: FloatArray
    moving: FloatArray
    bounds: IntArray
    where: IntArray
    weight: FloatArray
    step: int


@njit(cache=True, nogil=True)
def pack(row: FloatArray, low: int, high: int, step: int, weight: FloatArray, begin: int) -> tuple[int, int, float]:
    """Move the entries ``low, low + step, ..., high`` that matter from ``row``, which is cleared, to ``weight``.

    Returns the first target, the end of the weights and their sum.
    """
    total = 0.0
    for b in range(low, high + 1, step):
        total += row[b]
    first = final = -1
    for b in range(low, high + 1, step):
        if row[b] > CUT * total:
            first = b if first < 0 else first
            final = b
    end = begin
    kept = 0.0
    if first >= 0:
        for b in range(first, final + 1, step):
            weight[end] = row[b]
            kept += row[b]
            end += 1
    row[:] = 0.0
    return max(first, 0), end, kept


@njit(cache=True, nogil=True)
def pack_level(
    n: int,
    i: int,
    mode: int,
    step: int,
    t: EvaluationTables,
    weight: FloatArray,
    where: IntArray,
    bounds: IntArray,
    stay: FloatArray,
    moving: FloatArray,
) -> int:
    """Write the moves of the level's policy in ``t``; return how many weights there are."""
    N = n - i - 1
    p, q, radius, share = t.p, t.q, t.radius, t.weight
    row = np.zeros(n + 1)
    end = 0
    leave = np.zeros(N + 1)
    for kind in (OUT, INSIDE):
        for a in range(N + 1):
            bounds[kind, a] = end
            low = 0 if kind == OUT or mode == ANY else a + 1
            for c in range(radius.shape[1]):
                k = radius[a, c]
                if share[a, c] > 0.0 and k <= N + 1 - kind:
                    if kind == OUT:
                        add_law(row, share[a, c] * p[k], N, a, k - 1)
                    elif mode != REJECT:
                        add_law(row, share[a, c] * q[k], N, a, k)
            if kind == INSIDE:
                row[a] = 0.0
            if step == 2 and (low + a + radius[a, 0] - 1 + kind) % 2 == 1:
                low += 1
            where[kind, a], end, kept = pack(row, low, N, step, weight, end)
            leave[a] += kept
        bounds[kind, N + 1] = end
    for a in range(N + 1):
        moving[a] = 1.0 if leave[a] >= NEVER else 0.0
        stay[a] = max(0.0, 1.0 - leave[a])
    return end


@njit(cache=True, nogil=True)
def advance(bits: int, level: Level, series: FloatArray) -> tuple[bool, float]:
    """Do ``len(series)`` iterations of one level whose prefix has ``bits`` bits behind it.

    ``series`` holds what arrives in every iteration and then what goes on to the next level.  Returns whether anything
    does, and the mass that will move on in the end.
    """
    mass, stay, moving, bounds, where = level.mass, level.stay, level.moving, level.bounds, level.where
    weight, step = level.weight, level.step
    enters, passes = np.empty(bits), np.empty(bits)
    for a in range(bits):
        enters[a] = (bits - a) / bits
        passes[a] = (a + 1) / bits
    after = np.zeros(bits)
    flows = False
    for t in range(series.shape[0]):
        row = series[t]
        for a in range(bits):
            after[a] = enters[a] * row[a] + stay[a] * mass[a]
        for a in range(bits):
            row[a] = passes[a] * row[a + 1]
        row[bits] = 0.0
        for a in range(bits):
            x = mass[a]
            if x == 0.0:
                continue
            b = where[OUT, a]
            for j in range(bounds[OUT, a], bounds[OUT, a + 1]):
                row[b] += x * weight[j]
                b += step
            b = where[INSIDE, a]
            for j in range(bounds[INSIDE, a], bounds[INSIDE, a + 1]):
                after[b] += x * weight[j]
                b += step
        most = 0.0
        for a in range(bits):
            mass[a] = after[a] if after[a] > FAINT else 0.0
            row[a] = row[a] if row[a] > FAINT else 0.0
            most = max(most, row[a])
        flows = flows or most > 0.0
    left = 0.0
    for a in range(bits):
        left += moving[a] * mass[a]
    return flows, left


@njit(cache=True, nogil=True)
def advance_lo(first: int, p: FloatArray, mass: FloatArray, finished: FloatArray) -> None:
    """Do ``len(finished)`` iterations of LeadingOnes seeing LO alone, from level ``first`` on.

    Of the mass behind a longer prefix one half enters each level and the other half passes it.
    """
    for t in range(finished.size):
        passing = 0.0
        for i in range(first, p.size):
            leaving = p[i] * mass[i]
            kept = mass[i] - leaving + 0.5 * passing
            mass[i] = kept if kept > FAINT else 0.0
            passing = leaving + 0.5 * passing
            if passing < FAINT:
                passing = 0.0
        finished[t] = passing


def packed_levels(
    n: int, mode: int, table: IntArray, radii: IntArray, probabilities: FloatArray, start: FloatArray
) -> list[Level]:
    """The moves of a policy, given as in :func:`kflip.exact.chain.sweep`, and the law of the first state."""
    t = evaluation_tables(n, REJECT, max(1, len(radii)))
    step = 1 if len(radii) else 2
    scratch = np.empty(2 * n * n)
    levels = []
    for i in range(n):
        N = n - i - 1
        fill_probabilities(n, i, t.p, t.q)
        if len(radii):
            set_weights(N, i, radii, probabilities, t)
        else:
            set_radii(N, i, table, t)
        bounds, where = np.zeros((2, N + 2), dtype=np.int64), np.zeros((2, N + 1), dtype=np.int64)
        stay, moving = np.zeros(N + 1), np.zeros(N + 1)
        size = pack_level(n, i, mode, step, t, scratch, where, bounds, stay, moving)
        levels.append(Level(start[i, i:n].copy(), stay, moving, bounds, where, scratch[:size].copy(), step))
    return levels


def follow_lo_om(n: int, levels: list[Level], faint: float) -> Iterator[tuple[FloatArray, float]]:
    """Yield, block after block of iterations, what finished in each of them, and the mass that will still move.

    ``faint`` bounds the mass in the lowest levels that is no longer followed but still counted.
    """
    left = [float(level.moving @ level.mass) for level in levels]
    lowest = 0
    while True:
        while lowest < n - 1 and left[lowest] < faint / n:
            lowest += 1
        series = np.zeros((BLOCK, n + 1))
        flows = False
        for i in range(lowest, n):
            if flows or left[i] > 0.0:
                flows, left[i] = advance(n - i, levels[i], series)
        yield series[:, 0].copy(), sum(left)


def follow_lo(p: FloatArray, start: FloatArray, faint: float) -> Iterator[tuple[FloatArray, float]]:
    """The same for LeadingOnes seeing LO alone; ``p`` and ``start`` have shape (n,)."""
    mass = start.copy()
    moving = p >= NEVER
    lowest = 0
    while True:
        while lowest < p.size - 1 and mass[lowest] * moving[lowest] < faint / p.size:
            lowest += 1
        finished = np.zeros(BLOCK)
        advance_lo(lowest, p, mass, finished)
        yield finished, float(mass @ moving)
