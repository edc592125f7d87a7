r"""One step of an episode: one iteration, or all iterations until the state changes.

States of LO, or of (LO, OM), are the pair :math:`(i, a)` of :mod:`kflip.simulate.state_level`, and move by its draws:
whether a flip hits the prefix, whether the zero behind it is among the others, how many ones the suffix loses, where
the next zero is.  Strings are integers whose most significant bit is position 1, so the suffix of :math:`N` bits is the
lowest :math:`N` bits; a set of flipped positions is an integer too, drawn by Floyd's algorithm (Bentley and Floyd,
"A sample of brilliance", CACM 30, 1987), which gives every set of :math:`k` positions the same probability.

By the clock of events, the iterations before the one that changes the state are a geometric number, drawn at once.  A
state changes if LO does, if LO or OM does, or if the string does, according to what the policy sees.  If LO is all it
sees, OM moves on meanwhile.
"""

from __future__ import annotations

from numba import njit

from kflip._typing import FloatArray
from kflip.simulate.choices import BY_LO
from kflip.simulate.starts import reveal
from kflip.simulate.state_level import climb_chance, draw_gain, lost_ones, survival
from kflip.simulate.streams import Stream, below, failure_scale, failures, uniform


@njit(cache=True, nogil=True)
def iterate_pair(n: int, i: int, a: int, k: int, least_gain: int, s: Stream) -> tuple[int, int, Stream]:
    """One iteration from LO ``i`` with ``a`` ones behind the first zero: the pair after it."""
    for t in range(k):
        position, s = below(n - t, s)
        if position < i:
            return i, a, s
    place, s = below(n - i, s)
    improved = place < k
    if not improved and least_gain > n:
        return i, a, s
    flips = k - 1 if improved else k
    lost, s = lost_ones(n - i - 1, a, flips, s)
    gain = flips - 2 * lost
    if improved:
        return reveal(n, i + 1, a + gain, s)
    if gain >= least_gain:
        a += gain
    return i, a, s


@njit(cache=True, nogil=True)
def await_pair(
    n: int, i: int, a: int, k: int, least_gain: int, seen: int, left: int, unit: FloatArray, s: Stream
) -> tuple[int, int, int, Stream]:
    """Iterate until the state changes, ``left`` times at most: the pair after it, and the iterations taken.

    ``unit`` holds ones, shape (n+1,) or longer; ``k <= n - i``.
    """
    improving = least_gain > n
    climbing = 0 <= least_gain <= n
    prefix_kept = survival(n, i, k)
    t = 0
    while True:
        chance = climb_chance(n - i - 1, a, k, unit) if climbing else 1.0
        weight = k + (n - i - k) * (0.0 if improving else chance)
        jump = prefix_kept * weight / (n - i)
        wait, s = failures(jump, failure_scale(jump), s)
        if wait >= left - t:
            return i, a, left, s
        t += 1 + int(wait)
        u, s = uniform(s)
        improved = u * weight < k
        gain, s = draw_gain(n - i - 1, a, k, improved, climbing, s)
        if improved:
            i, a, s = reveal(n, i + 1, a + gain, s)
            return i, a, t, s
        a += gain
        if gain != 0 and seen != BY_LO:
            return i, a, t, s


@njit(cache=True, nogil=True)
def leading_ones_of(x: int, n: int) -> int:
    """LO of a string of ``n`` bits given as an integer."""
    lo = 0
    while lo < n and (x >> (n - 1 - lo)) & 1:
        lo += 1
    return lo


@njit(cache=True, nogil=True)
def ones_in(x: int) -> int:
    """How many ones an integer has."""
    count = 0
    while x:
        x &= x - 1
        count += 1
    return count


@njit(cache=True, nogil=True)
def draw_set(size: int, k: int, s: Stream) -> tuple[int, Stream]:
    """A random set of ``k`` of the lowest ``size`` bits."""
    chosen = 0
    for bit in range(size - k, size):
        draw, s = below(bit + 1, s)
        chosen |= 1 << (bit if (chosen >> draw) & 1 else draw)
    return chosen, s


@njit(cache=True, nogil=True)
def iterate_string(n: int, x: int, i: int, k: int, least_gain: int, s: Stream) -> tuple[int, Stream]:
    """One iteration from the string ``x`` with LO ``i``: the string after it."""
    flips, s = draw_set(n, k, s)
    N = n - i - 1
    if flips >> (N + 1):
        return x, s
    y = x ^ flips
    if flips >> N or ones_in(y) - ones_in(x) >= least_gain:
        return y, s
    return x, s


@njit(cache=True, nogil=True)
def accepted_in_level(N: int, a: int, k: int, least_gain: int, unit: FloatArray) -> float:
    """Chance that ``k`` flips in the suffix are accepted."""
    if k > N or least_gain > N:
        return 0.0
    if least_gain == 1:
        return climb_chance(N, a, k, unit)
    if least_gain == 0:
        # OM falls exactly if the zeros climb
        return 1.0 - climb_chance(N, N - a, k, unit)
    return 1.0


@njit(cache=True, nogil=True)
def await_string(
    n: int, x: int, i: int, k: int, least_gain: int, left: int, unit: FloatArray, s: Stream
) -> tuple[int, int, Stream]:
    """Iterate until the string changes, ``left`` times at most: the string after it, and the iterations taken."""
    N = n - i - 1
    a = ones_in(x) - i
    weight = k + (n - i - k) * accepted_in_level(N, a, k, least_gain, unit)
    jump = survival(n, i, k) * weight / (n - i)
    wait, s = failures(jump, failure_scale(jump), s)
    if wait >= left:
        return x, left, s
    t = 1 + int(wait)
    u, s = uniform(s)
    if u * weight < k:
        flips, s = draw_set(N, k - 1, s)
        return x ^ flips ^ (1 << N), t, s
    flips, s = draw_set(N, k, s)
    while ones_in(x ^ flips) - i - a < least_gain:
        flips, s = draw_set(N, k, s)
    return x ^ flips, t, s
