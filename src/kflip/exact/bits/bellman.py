r"""Is a table of values a solution?  The Bellman equation, by another route than the solvers take.

Without self-loops, radius :math:`k` gives a string

.. math:: Q_k = \Bigl[\tbinom{n}{k} + \sum_{\text{accepted } y \text{ at distance } k} T(y)\Bigr]
    \Big/ \#\{\text{accepted } y \text{ at distance } k\},

and optimal values satisfy :math:`T = \min_k Q_k` in every string but the optimum.  The solvers leave out radii that
cannot be best and split the sources by weight; here every radius of every string is evaluated, and which offspring are
accepted is read off the numbers :math:`u` of zeros and :math:`d` of ones that are flipped in the suffix.  Fixing the
bits of the target suffix one by one, the sum over the sources that agree with it so far up to :math:`u` and
:math:`d` flips becomes

.. math::

    F_{t+1}(y)[u, d] = \begin{cases}
        F_t(0\,y)[u, d] + F_t(1\,y)[u - 1, d] & \text{for target bit } 0, \\
        F_t(1\,y)[u, d] + F_t(0\,y)[u, d - 1] & \text{for target bit } 1.
    \end{cases}

:func:`action_values` sums over all strings, for one string.
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.errors import unknown_word
from kflip.exact.bits.counts import Level, level_counts, suffix_weights
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.distance import weight
from kflip.exact.scan import TIE_TOLERANCE

#: Smallest u - d that is accepted inside a level; beyond the suffix length if none is.
LEAST_GAIN = {("loom", "strict"): 1, ("loom", "standard"): 0, ("lo", "strict"): 64, ("lo", "standard"): -64}


def bellman(
    n: int,
    objective: str,
    selection: str,
    radii: IntArray,
    values: FloatArray,
    progress: Callable[[float], None] | None = None,
) -> tuple[FloatArray, RadiusArray]:
    """Smallest ``Q_k`` of every string for the given values, and the smallest radius that attains it.

    Parameters
    ----------
    n, objective, selection
        The setting.
    radii
        The portfolio, ascending.
    values
        Expected remaining times, shape ``(2**n,)``.
    progress
        Called with the finished fraction.

    Returns
    -------
    best, table
        Shape ``(2**n,)`` each.  ``best`` equals ``values`` if these are optimal.
    """
    gain = _least_gain(objective, selection)
    best = np.zeros(1 << n)
    table: RadiusArray = np.zeros(1 << n, dtype=np.uint8)
    with Crew() as crew:
        for i in range(n - 1, -1, -1):
            level = level_counts(n, i, radii)
            table[level.here] = level.fallback
            if level.radii.size == 0:
                best[level.here] = np.inf
            else:
                _check_level(crew, level, gain, values, best[level.here], table[level.here])
            if progress is not None:
                progress(2.0**-i)
    return best, table


def action_values(n: int, objective: str, selection: str, radii: IntArray, values: FloatArray, x: int) -> FloatArray:
    """``Q_k`` of the string with index ``x`` for every radius of the portfolio, by looking at all strings.

    Infinite for a radius that is never accepted or may lead to an infinite value; zero at the optimum.
    """
    gain = _least_gain(objective, selection)
    if x == (1 << n) - 1:
        return np.zeros(radii.size)
    strings = np.arange(1 << n)
    N = (~x & ((1 << n) - 1)).bit_length() - 1
    mask = (1 << N) - 1
    flipped = strings ^ x
    ones = suffix_weights(n)
    fitter = flipped >> N == 1
    kept = (flipped >> N == 0) & (flipped > 0)
    gained = ones[strings & mask].astype(np.int64) - int(ones[x & mask])
    accepted = fitter | (kept & (gained >= gain))
    distance = ones[flipped[accepted]]
    sums = np.bincount(distance, values[accepted], minlength=n + 1)[radii]
    counts = np.bincount(distance, minlength=n + 1)[radii]
    offspring = np.array([comb(n, k) for k in radii.tolist()], dtype=np.float64)
    return np.divide(offspring + sums, counts, out=np.full(radii.size, np.inf), where=counts > 0)


def _least_gain(objective: str, selection: str) -> int:
    if objective not in ("lo", "loom"):
        raise unknown_word("objective", objective, ("lo", "loom"))
    if selection not in ("standard", "strict"):
        raise unknown_word("selection", selection, ("standard", "strict"))
    return LEAST_GAIN[objective, selection]


def _check_level(crew: Crew, level: Level, gain: int, values: FloatArray, best: FloatArray, table: RadiusArray) -> None:
    N = level.N
    T, Y = values[level.here], values[level.above]
    weights = np.arange(N + 1)
    rises = weights[None, :] - weights[:, None] >= gain
    accepted = level.rising + (level.between * rises[:, :, None]).sum(axis=1)
    heads = 0 if N < 10 else 6
    split, plain = _offsets(N, heads, True), _offsets(N, heads, False)

    def work(head: int, scratch: FloatArray) -> None:
        inside, above = scratch[: split[-1]], scratch[split[-1] :]
        _best_of_all(
            head, heads, N, gain, T, Y, split, plain, inside, above, level.radii, level.offspring, accepted, best, table
        )

    crew.map(work, range(1 << heads), int(split[-1] + plain[-1]))


def _offsets(N: int, heads: int, split: bool) -> IntArray:
    """Where the arrays of depths ``0..N`` begin, and the end of the last."""
    depths = np.arange(N + 1)
    sizes = (N + 2) * ((depths + 1) if split else np.ones_like(depths)) << (N - depths)
    sizes[depths < heads] = 0
    return np.concatenate([[0], np.cumsum(sizes)])


@njit(cache=True, nogil=True)
def _open(head: int, heads: int, N: int, split: bool, source: FloatArray, F: FloatArray) -> None:
    """Fill depth ``heads``: for every ``y`` a table ``[u, d]`` of ``N + 2`` columns, or only ``[u + d]``."""
    rows = 1 << (N - heads)
    size = (N + 2) * (heads - weight(head) + 1 if split else 1)
    F[: rows * size] = 0.0
    for g in range(1 << heads):
        up, down = weight(g & ~head), weight(head & ~g)
        at = up * (N + 2) + down if split else up + down
        for y in range(rows):
            F[y * size + at] += source[g * rows + y]


@njit(cache=True, nogil=True)
def _descend(z: int, block: int, heads: int, N: int, split: bool, offsets: IntArray, F: FloatArray) -> None:
    """Bring the path to target ``z`` up to date, after the targets before it in its block."""
    t = heads + 1
    if z != block:
        t = N
        while (z >> (N - t)) & 1 == 0:
            t -= 1
    while t <= N:
        prefix = z >> (N - t)
        bit = prefix & 1
        zeros = t - weight(prefix) if split else 0
        rows = 1 << (N - t)
        # a flipped zero moves one row of [u, d] down, a flipped one moves one place to the right
        shift = N + 2 if split and bit == 0 else 1
        old = (N + 2) * (zeros if split and bit == 0 else zeros + 1)
        new = (N + 2) * (zeros + 1)
        start, parent = offsets[t], offsets[t - 1]
        for y in range(rows):
            keep = F[parent + (bit * rows + y) * old :][:old]
            flip = F[parent + ((1 - bit) * rows + y) * old :][:old]
            to = F[start + y * new :][:new]
            for e in range(shift):
                to[e] = keep[e]
            summed, added, moved = to[shift:old], keep[shift:], flip[: old - shift]
            for e in range(old - shift):
                summed[e] = added[e] + moved[e]
            for e in range(old, new):
                to[e] = flip[e - shift]
        t += 1


@njit(cache=True, nogil=True)
def _best_of_all(
    head: int,
    heads: int,
    N: int,
    gain: int,
    T: FloatArray,
    Y: FloatArray,
    split: IntArray,
    plain: IntArray,
    inside: FloatArray,
    above: FloatArray,
    radii: IntArray,
    offspring: FloatArray,
    accepted: FloatArray,
    best: FloatArray,
    table: RadiusArray,
) -> None:
    """Evaluate every radius for the targets that begin with ``head``."""
    _open(head, heads, N, True, T, inside)
    _open(head, heads, N, False, Y, above)
    block = head << (N - heads)
    sums = np.empty(N + 2)
    quotients = np.empty(radii.size)
    at, over = split[N], plain[N]
    for z in range(block, block + (1 << (N - heads))):
        _descend(z, block, heads, N, True, split, inside)
        _descend(z, block, heads, N, False, plain, above)
        ones = weight(z)
        sums[0] = 0.0
        for k in range(1, N + 2):
            sums[k] = above[over + k - 1]
        for u in range(N - ones + 1):
            for d in range(min(ones, u - gain) + 1):
                sums[u + d] += inside[at + u * (N + 2) + d]
        least = np.inf
        for r in range(radii.size):
            quotients[r] = (offspring[r] + sums[radii[r]]) / accepted[ones, r]
            least = min(least, quotients[r])
        best[z] = least
        if not np.isinf(least):
            r = 0
            while quotients[r] > least * (1.0 + TIE_TOLERANCE):
                r += 1
            table[z] = radii[r]
