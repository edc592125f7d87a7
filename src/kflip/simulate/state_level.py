r"""Runs in (LO, OM), jumping over the iterations that change nothing.

For a policy that sees at most (LO, OM), the suffix of :math:`N = n - i - 1` bits behind the first zero holds
its :math:`a` ones in a uniformly random arrangement at every time, so :math:`(i, a)` is a Markov chain.  Of
:math:`k` flipped bits none is in the prefix of :math:`i` ones with probability

.. math:: s_k = \binom{n-i}{k} \Big/ \binom{n}{k}
              = \prod_{t < k} \frac{n-i-t}{n-t} = \prod_{t < i} \frac{n-k-t}{n-t},

and then the zero behind the prefix is flipped, LO improving, with probability :math:`k / (n - i)`.  Otherwise all
:math:`k` flips are in the suffix.  If a fraction :math:`R` of these matters, an iteration matters with probability

.. math:: s_k \frac{k + (n - i - k) R}{n - i},

the next one is a geometric number of iterations away, drawn at once, and it improves LO with probability
:math:`k / (k + (n - i - k) R)`.  For LeadingOnes with strict selection :math:`R = 0`, with standard selection
:math:`R = 1`; for (LO, OM) it is the probability that OM rises.  A stochastic policy jumps with the mean of
these probabilities over its radii, then draws the radius in proportion to its share; to keep the sum cheap it takes
:math:`R = 1` for (LO, OM) too, and rejects afterwards.

Flipping :math:`m` suffix bits loses :math:`X \sim \mathrm{Hypergeometric}(N, a, m)` ones and gains
:math:`m - X`, drawn with exact integers; after an improvement the new LO is found by looking at the suffix
bit by bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import UPWARD, accepted_after
from kflip.simulate.choices import Choices, radius_at, row_of
from kflip.simulate.outcomes import CUT, FINISHED, PATIENCE, STOPPED, STUCK
from kflip.simulate.starts import BitArray, Start, draw_state, reveal
from kflip.simulate.streams import Stream, WordArray, below, failure_scale, failures, open_stream, uniform


@njit(cache=True, nogil=True)
def survival(n: int, i: int, k: int) -> float:
    """``C(n-i, k) / C(n, k)``: no bit of the prefix is among ``k`` flipped ones."""
    fewer, more = min(i, k), max(i, k)
    product = 1.0
    for t in range(fewer):
        product *= (n - more - t) / (n - t)
    return product


@njit(cache=True, nogil=True)
def lost_ones(N: int, a: int, k: int, s: Stream) -> tuple[int, Stream]:
    """Hypergeometric(N, a, k): the ones among ``k`` of ``N`` bits with ``a`` ones, drawn bit by bit.

    Ones and flips may change places, and each may be replaced by its complement: ``min(a, N-a, k, N-k)`` draws.
    """
    marked, drawn = min(a, N - a), min(k, N - k)
    fewer, more = min(marked, drawn), max(marked, drawn)
    left = more
    for t in range(fewer):
        draw, s = below(N - t, s)
        if draw < left:
            left -= 1
    x = more - left
    if marked != a:
        x = drawn - x
    return (x if drawn == k else a - x), s


@njit(cache=True, nogil=True)
def climb_chance(N: int, a: int, k: int, unit: FloatArray) -> float:
    """OM rises if ``k`` suffix bits are flipped; ``unit`` holds ones, shape (n+1,)."""
    if k > N:
        return 0.0
    if k == 1:
        return (N - a) / N
    chance: float = accepted_after(unit, 1.0, k / (N - k + 1.0), N, a, k, UPWARD)[1]
    return chance


@njit(cache=True, nogil=True)
def lost_in_climb(N: int, a: int, k: int, s: Stream) -> tuple[int, Stream]:
    """:func:`lost_ones` given that OM rises, by drawing until it does.

    Climbs are asked for in proportion to their chance: at most ``(n - i) / k`` attempts per jump on average.
    """
    if k <= 2:
        return 0, s
    lost, s = lost_ones(N, a, k, s)
    while 2 * lost >= k:
        lost, s = lost_ones(N, a, k, s)
    return lost, s


@njit(cache=True, nogil=True)
def fill_shares(
    n: int, i: int, improving: bool, radii: IntArray, cumulative: FloatArray, place: int, share: FloatArray
) -> float:
    """Probability of an iteration that matters under a stochastic policy.

    Writes ``share[j]``, what the radii up to ``radii[j]`` contribute; those above ``n - i`` add nothing.
    """
    total = 0.0
    s_k = 1.0
    k = 0
    before = 0.0
    for j in range(radii.size):
        if radii[j] <= n - i and cumulative[place, j] > before:
            while k < radii[j]:
                s_k *= (n - i - k) / (n - k)
                k += 1
            total += (cumulative[place, j] - before) * (s_k * k / (n - i) if improving else s_k)
        before = cumulative[place, j]
        share[j] = total
    return total


@njit(cache=True, nogil=True)
def draw_share(share: FloatArray, s: Stream) -> tuple[int, Stream]:
    """Index ``j`` with probability ``(share[j] - share[j-1]) / share[-1]``."""
    u, s = uniform(s)
    target = u * share[-1]
    j = 0
    while share[j] <= target and share[j] < share[-1]:
        j += 1
    return j, s


@njit(cache=True, nogil=True)
def draw_gain(N: int, a: int, k: int, improved: bool, climbing: bool, s: Stream) -> tuple[int, Stream]:
    """What the ``a`` ones of a suffix of ``N`` bits gain by ``k`` flips, the first of them before it if improved."""
    flips = k - 1 if improved else k
    if climbing and not improved:
        lost, s = lost_in_climb(N, a, k, s)
    else:
        lost, s = lost_ones(N, a, flips, s)
    return flips - 2 * lost, s


@njit(cache=True, nogil=True)
def run_states(
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
    """Make the runs ``first..last-1``.

    Parameters
    ----------
    key
        The hashed seed, shape (4,).
    least_gain
        What OM must gain for an offspring of the same LO to be accepted; above ``n`` none is.
    limit
        Iterations after which a run is cut.
    stop
        Shape (1,); once it is not zero the runs end early.
    runtimes, endings
        Written: iterations and ending of each run, shape (runs,).
    ends
        Shape (runs,): on entry the column of ``changes`` where a run begins, on return where it ends.
    changes
        Written as far as there is space: iteration, radius, LO and OM of the start and of every change of
        (LO, OM), shape (4, columns).  Without columns a pass only counts.
    """
    seen, table, radii, cumulative = choices
    deterministic = radii.size == 0
    kind, start_lo, start_om, _ = start
    capacity = changes.shape[1]
    improving = least_gain > n
    climbing = deterministic and 0 <= least_gain <= n
    unit = np.ones(n + 1)
    share = np.empty(max(1, radii.size))
    for run in range(first, last):
        i, a, s = draw_state(n, kind, start_lo, start_om, open_stream(key, run))
        end = ends[run]
        if end < capacity:
            changes[0, end], changes[1, end], changes[2, end], changes[3, end] = 0, 0, i, i + a
        end += 1
        t = 0
        events = 0
        k = 0
        jump = scale = weight = 0.0
        level = radius = -1
        moved = True
        ending = FINISHED
        while i < n:
            if moved:
                moved = False
                place = row_of(seen, n, i, i + a, 0)
                k = int(table[place]) if deterministic else radius_at(0.0, radii, cumulative, place)
                # even the smallest radius must flip a bit of the prefix
                if k > n - i:
                    ending = STUCK
                    break
                if not deterministic:
                    jump = fill_shares(n, i, improving, radii, cumulative, place, share)
                    scale = failure_scale(jump)
                elif climbing or i != level or k != radius:
                    # otherwise OM does not matter, and a run that wanders within a level has this already
                    level, radius = i, k
                    chance = climb_chance(n - i - 1, a, k, unit) if climbing else 1.0
                    weight = k + (n - i - k) * (0.0 if improving else chance)
                    jump = survival(n, i, k) * weight / (n - i)
                    scale = failure_scale(jump)
            wait, s = failures(jump, scale, s)
            if wait >= limit - t:
                t = limit
                ending = CUT
                break
            t += 1 + int(wait)
            events += 1
            if events % PATIENCE == 0 and stop[0] != 0:
                ending = STOPPED
                break
            if not deterministic:
                j, s = draw_share(share, s)
                k = radii[j]
                weight = float(k if improving else n - i)
            u, s = uniform(s)
            improved = u * weight < k
            gain, s = draw_gain(n - i - 1, a, k, improved, climbing, s)
            if improved:
                i, a, s = reveal(n, i + 1, a + gain, s)
            elif gain != 0 and gain >= least_gain:
                a += gain
            else:
                continue
            moved = True
            if end < capacity:
                changes[0, end], changes[1, end], changes[2, end], changes[3, end] = t, k, i, i + a
            end += 1
        runtimes[run] = t
        endings[run] = ending
        ends[run] = end
        if stop[0] != 0:
            break
