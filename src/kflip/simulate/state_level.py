r"""Runs in (LO, OM), jumping over the iterations in which LO falls.

For a policy that sees at most (LO, OM), the suffix of :math:`N = n - i - 1` bits behind the first zero holds
its :math:`a` ones in a uniformly random arrangement at every time, so :math:`(i, a)` is a Markov chain.  Of
:math:`k` flipped bits none is in the prefix of :math:`i` ones with probability

.. math:: s_k = \binom{n-i}{k} \Big/ \binom{n}{k}
              = \prod_{t < k} \frac{n-i-t}{n-t} = \prod_{t < i} \frac{n-k-t}{n-t},

and then the zero behind the prefix is flipped, LO improving, with probability :math:`k / (n - i)`.  Iterations
that flip a prefix bit change nothing: the next one that does not is a geometric number of iterations away, drawn
at once.  Where only improvements are accepted (LO, strict selection) the jump goes to the next improvement, of
probability :math:`p_k = s_k k / (n - i)`.  A stochastic policy jumps with the mean of these probabilities over
its radii, and the radius is drawn in proportion to its share.

Flipping :math:`m` suffix bits loses :math:`X \sim \mathrm{Hypergeometric}(N, a, m)` ones and gains
:math:`m - X`; after an improvement the new LO is found by looking at the suffix bit by bit.  All of these draws
use exact integers.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.simulate.choices import Choices, row_of
from kflip.simulate.outcomes import CUT, FINISHED, PATIENCE, STOPPED, STUCK, Columns, put_row
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
def fill_shares(
    n: int, i: int, improving: bool, radii: IntArray, cumulative: FloatArray, place: int, share: FloatArray
) -> tuple[float, bool]:
    """Probability of an iteration that matters under a stochastic policy, and whether one is possible at all.

    Writes ``share[j]``, what the radii up to ``radii[j]`` contribute; those above ``n - i`` add nothing.
    """
    possible = False
    total = 0.0
    s_k = 1.0
    k = 0
    before = 0.0
    for j in range(radii.size):
        if radii[j] <= n - i and cumulative[place, j] > before:
            possible = True
            while k < radii[j]:
                s_k *= (n - i - k) / (n - k)
                k += 1
            total += (cumulative[place, j] - before) * (s_k * k / (n - i) if improving else s_k)
        before = cumulative[place, j]
        share[j] = total
    return total, possible


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
    rows: IntArray,
    columns: Columns,
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
    rows
        Shape (runs,): on entry the row of ``columns`` where a run's changes begin, on return where they end.
    """
    seen, table, radii, cumulative = choices
    deterministic = radii.size == 0
    kind, start_lo, start_om, _ = start
    iterations, ks, los, oms = columns
    improving = least_gain > n
    share = np.empty(max(1, radii.size))
    for run in range(first, last):
        i, a, s = draw_state(n, kind, start_lo, start_om, open_stream(key, run))
        row = put_row(rows[run], 0, 0, i, i + a, iterations, ks, los, oms)
        t = 0
        events = 0
        k = 0
        jump = scale = 0.0
        moved = True
        ending = FINISHED
        while i < n:
            if moved:
                moved = False
                place = row_of(seen, n, i, i + a, 0)
                if deterministic:
                    k = int(np.int64(table[place]))
                    possible = k <= n - i
                    if possible:
                        jump = survival(n, i, k) * (k / (n - i) if improving else 1.0)
                else:
                    jump, possible = fill_shares(n, i, improving, radii, cumulative, place, share)
                if not possible:
                    ending = STUCK
                    break
                # a product that underflows stands for a wait beyond every limit
                jump = max(jump, 1e-300)
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
            improved = improving
            if not improved:
                draw, s = below(n - i, s)
                improved = draw < k
            flips = k - 1 if improved else k
            lost, s = lost_ones(n - i - 1, a, flips, s)
            gain = flips - 2 * lost
            if improved:
                i, a, s = reveal(n, i + 1, a + gain, s)
            elif gain != 0 and gain >= least_gain:
                a += gain
            else:
                continue
            moved = True
            row = put_row(row, t, k, i, i + a, iterations, ks, los, oms)
        runtimes[run] = t
        endings[run] = ending
        rows[run] = row
        if stop[0] != 0:
            break
