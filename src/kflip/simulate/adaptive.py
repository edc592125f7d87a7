r"""Runs of a rule with memory, on strings and in (LO, OM).

The rule flips ``radius[m]`` bits and goes on with ``better[m]`` if the offspring is strictly better, else with
``worse[m]``.  In (LO, OM), with the notation of :mod:`kflip.simulate.state_level`, an iteration matters with
probability :math:`s_k (k + (n - i - k) R) / (n - i)`; one that does not is a failure.  Where failures leave the memory
as it is, the next iteration that matters is a geometric number of iterations away and drawn at once; elsewhere one
iteration is made.

Whether a run can go on depends on the radii that failures lead through: with :math:`\underline k(m)` the smallest of
them, a string with :math:`n - LO < \underline k(m)` can never be left, and every other one is, in the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import IntArray
from kflip.simulate.bit_level import draw_positions, first_zero
from kflip.simulate.outcomes import CUT, FINISHED, PATIENCE, STOPPED, STUCK
from kflip.simulate.starts import BitArray, Start, draw_state, draw_string, reveal
from kflip.simulate.state_level import climb_chance, draw_gain, survival
from kflip.simulate.streams import WordArray, failure_scale, failures, open_stream, uniform


class Steps(NamedTuple):
    """A rule with memory for the kernels, shapes (memories,); ``least`` is the smallest radius that failures meet."""

    radius: IntArray
    better: IntArray
    worse: IntArray
    least: IntArray
    start: int


def steps_of(radius: IntArray, better: IntArray, worse: IntArray, start: int) -> Steps:
    """Find the smallest radius on the way of failures from every memory."""
    least, reached = radius.copy(), worse.copy()
    # doubling: what 1, 2, 4, ... failures meet
    for _ in range(radius.size.bit_length()):
        least = np.minimum(least, least[reached])
        reached = reached[reached]
    return Steps(radius.copy(), better.copy(), worse.copy(), least, start)


@njit(cache=True, nogil=True)
def run_states_adaptive(
    first: int,
    last: int,
    n: int,
    key: WordArray,
    least_gain: int,
    steps: Steps,
    start: Start,
    limit: int,
    stop: IntArray,
    runtimes: IntArray,
    endings: BitArray,
    ends: IntArray,
    changes: IntArray,
) -> None:
    """Make the runs ``first..last-1`` in (LO, OM); see :func:`kflip.simulate.state_level.run_states`."""
    radius, better, worse, least, first_memory = steps
    kind, start_lo, start_om, _ = start
    capacity = changes.shape[1]
    improving = least_gain > n
    climbing = 0 <= least_gain <= n
    unit = np.ones(n + 1)
    for run in range(first, last):
        i, a, s = draw_state(n, kind, start_lo, start_om, open_stream(key, run))
        end = ends[run]
        if end < capacity:
            changes[0, end], changes[1, end], changes[2, end], changes[3, end] = 0, 0, i, i + a
        end += 1
        t = 0
        events = 0
        m = first_memory
        ending = FINISHED
        while i < n:
            k = radius[m]
            if least[m] > n - i:
                ending = STUCK
                break
            events += 1
            if events % PATIENCE == 0 and stop[0] != 0:
                ending = STOPPED
                break
            jump = weight = 0.0
            if k <= n - i:
                chance = climb_chance(n - i - 1, a, k, unit) if climbing else 1.0
                weight = k + (n - i - k) * (0.0 if improving else chance)
                jump = survival(n, i, k) * weight / (n - i)
            wait = 0.0
            if worse[m] == m:
                wait, s = failures(jump, failure_scale(jump), s)
                matters = True
            else:
                u, s = uniform(s)
                matters = u < jump
            if wait >= limit - t:
                t = limit
                ending = CUT
                break
            t += 1 + int(wait)
            if not matters:
                m = worse[m]
                continue
            u, s = uniform(s)
            improved = u * weight < k
            gain, s = draw_gain(n - i - 1, a, k, improved, climbing, s)
            if improved:
                i, a, s = reveal(n, i + 1, a + gain, s)
            else:
                a += gain
            m = better[m] if improved or climbing else worse[m]
            if improved or gain != 0:
                if end < capacity:
                    changes[0, end], changes[1, end], changes[2, end], changes[3, end] = t, k, i, i + a
                end += 1
        runtimes[run] = t
        endings[run] = ending
        ends[run] = end
        if stop[0] != 0:
            break


@njit(cache=True, nogil=True)
def run_strings_adaptive(
    first: int,
    last: int,
    n: int,
    key: WordArray,
    least_gain: int,
    steps: Steps,
    start: Start,
    limit: int,
    stop: IntArray,
    runtimes: IntArray,
    endings: BitArray,
    ends: IntArray,
    changes: IntArray,
) -> None:
    """Make the runs ``first..last-1`` on strings, iteration by iteration, as :mod:`kflip.simulate.bit_level` does."""
    radius, better, worse, least, first_memory = steps
    kind, start_lo, start_om, start_bits = start
    capacity = changes.shape[1]
    climbing = 0 <= least_gain <= n
    x = np.empty(n, dtype=np.uint8)
    order = np.empty(n, dtype=np.int64)
    for run in range(first, last):
        # from the same arrangement every time: a run must not depend on those before it
        order[:] = np.arange(n)
        s = draw_string(kind, start_lo, start_om, start_bits, x, open_stream(key, run))
        lo = first_zero(x, 0)
        om = int(np.int64(np.sum(x)))
        end = ends[run]
        if end < capacity:
            changes[0, end], changes[1, end], changes[2, end], changes[3, end] = 0, 0, lo, om
        end += 1
        t = 0
        m = first_memory
        ending = FINISHED
        while lo < n:
            if least[m] > n - lo:
                ending = STUCK
                break
            if t == limit:
                ending = CUT
                break
            t += 1
            if t % PATIENCE == 0 and stop[0] != 0:
                ending = STOPPED
                break
            k = radius[m]
            harmless, s = draw_positions(k, lo, order, s)
            if not harmless:
                m = worse[m]
                continue
            gain = k
            improved = False
            for j in range(k):
                gain -= 2 * x[order[j]]
                improved |= order[j] == lo
            m = better[m] if improved or (climbing and gain > 0) else worse[m]
            if not improved and gain < least_gain:
                continue
            for j in range(k):
                x[order[j]] ^= 1
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
