r"""Runs on real strings, one iteration after the other.

An iteration flips :math:`k` distinct positions, drawn by the first :math:`k` steps of a Fisher-Yates shuffle.
The shuffled array is not put back in order within a run: from any arrangement, those steps give every set of
:math:`k` positions the same probability.  A position in the prefix of ones settles the matter, since LO falls and the
offspring is rejected whatever else is flipped: the remaining positions need not be drawn.

With the prefix untouched, LO improves exactly if the zero behind it is flipped; otherwise it stays and the
offspring is accepted if OM gains at least ``least_gain``: see :func:`kflip.simulate.launch.least_gain`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import IntArray
from kflip.simulate.choices import BY_STRING, Choices, radius_at, row_of
from kflip.simulate.outcomes import CUT, FINISHED, PATIENCE, STOPPED, STUCK
from kflip.simulate.starts import BitArray, Start, draw_string
from kflip.simulate.streams import Stream, WordArray, below, open_stream, uniform


@njit(cache=True, nogil=True)
def string_index(x: BitArray) -> int:
    """The integer of a string, position 1 being the most significant bit."""
    index = 0
    for bit in x:
        index = 2 * index + bit
    return index


@njit(cache=True, nogil=True)
def first_zero(x: BitArray, position: int) -> int:
    """Where the ones that begin at ``position`` end."""
    while position < x.size and x[position] == 1:
        position += 1
    return position


@njit(cache=True, nogil=True)
def draw_positions(k: int, lo: int, order: IntArray, s: Stream) -> tuple[bool, Stream]:
    """Move ``k`` random positions to the front of ``order``; False as soon as one is in the prefix."""
    n = order.size
    for t in range(k):
        step, s = below(n - t, s)
        position = order[t + step]
        if position < lo:
            return False, s
        order[t + step] = order[t]
        order[t] = position
    return True, s


@njit(cache=True, nogil=True)
def run_strings(
    first: int,
    last: int,
    n: int,
    key: WordArray,
    least_gain: int,
    choices: Choices,
    start: Start,
    limit: int,
    stop: IntArray,
    runtimes: IntArray,
    endings: BitArray,
    ends: IntArray,
    changes: IntArray,
) -> None:
    """Make the runs ``first..last-1``, with the arguments of :func:`kflip.simulate.state_level.run_states`."""
    seen, table, radii, cumulative = choices
    deterministic = radii.size == 0
    kind, start_lo, start_om, start_bits = start
    capacity = changes.shape[1]
    x = np.empty(n, dtype=np.uint8)
    order = np.empty(n, dtype=np.int64)
    for run in range(first, last):
        # from the same arrangement every time: a run must not depend on those before it
        order[:] = np.arange(n)
        s = draw_string(kind, start_lo, start_om, start_bits, x, open_stream(key, run))
        lo = first_zero(x, 0)
        om = int(np.int64(np.sum(x)))
        index = string_index(x) if seen == BY_STRING else 0
        end = ends[run]
        if end < capacity:
            changes[0, end], changes[1, end], changes[2, end], changes[3, end] = 0, 0, lo, om
        end += 1
        t = 0
        k = 0
        place = 0
        moved = True
        ending = FINISHED
        while lo < n:
            if moved:
                moved = False
                place = row_of(seen, n, lo, om, index)
                k = int(table[place]) if deterministic else radius_at(0.0, radii, cumulative, place)
                # even the smallest radius must flip a bit of the prefix
                if k > n - lo:
                    ending = STUCK
                    break
            if t == limit:
                ending = CUT
                break
            t += 1
            if t % PATIENCE == 0 and stop[0] != 0:
                ending = STOPPED
                break
            if not deterministic:
                u, s = uniform(s)
                k = radius_at(u, radii, cumulative, place)
            harmless, s = draw_positions(k, lo, order, s)
            if not harmless:
                continue
            gain = k
            improved = False
            for j in range(k):
                gain -= 2 * x[order[j]]
                improved |= order[j] == lo
            if not improved and gain < least_gain:
                continue
            for j in range(k):
                x[order[j]] ^= 1
            if seen == BY_STRING:
                for j in range(k):
                    index ^= 1 << (n - 1 - order[j])
            moved = True
            om += gain
            if improved:
                lo = first_zero(x, lo + 1)
            if improved or gain != 0:
                if end < capacity:
                    changes[0, end], changes[1, end], changes[2, end], changes[3, end] = t, k, lo, om
                end += 1
        runtimes[run] = t
        endings[run] = ending
        ends[run] = end
        if stop[0] != 0:
            break
