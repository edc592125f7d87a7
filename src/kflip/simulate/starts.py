"""Where a run starts: a random string, a random string of one (LO, OM) state, or one given string."""

from __future__ import annotations

from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from kflip.errors import InputError
from kflip.simulate.streams import ONE, Stream, below, next_word, ones_of_random_string

BitArray: TypeAlias = NDArray[np.uint8]
StartLike: TypeAlias = tuple[int, int] | str | ArrayLike | None

ANYWHERE, IN_STATE, AT_STRING = 0, 1, 2


class Start(NamedTuple):
    """A start for the kernels: ``lo, om`` are read for ``IN_STATE``, ``bits``, shape (n,), for ``AT_STRING``."""

    kind: int
    lo: int
    om: int
    bits: BitArray


def start_of(n: int, start: StartLike) -> Start:
    """Check a start: ``None``, a tuple ``(lo, om)``, or a string of bits as text, list or array.

    A tuple always is a state, also for ``n = 2``.
    """
    nothing = np.zeros(0, dtype=np.uint8)
    if start is None:
        return Start(ANYWHERE, 0, 0, nothing)
    if isinstance(start, tuple):
        if len(start) != 2 or not all(isinstance(v, Integral) and not isinstance(v, bool) for v in start):
            raise InputError(f"a start state is a pair (lo, om) of whole numbers, not {start!r}")
        lo, om = int(start[0]), int(start[1])
        if not (0 <= lo <= om < n or lo == om == n):
            raise InputError(f"no state has lo = {lo} and om = {om} for n = {n}")
        return Start(IN_STATE, lo, om, nothing)
    bits = np.array(list(start)) if isinstance(start, str) else np.asarray(start)
    if bits.shape != (n,):
        raise InputError(f"a start string has {n} bits; this one has shape {bits.shape}")
    allowed = ("0", "1") if isinstance(start, str) else (0, 1)
    if not np.isin(bits, allowed).all():
        raise InputError(f"a start string holds only 0 and 1, not {start!r}")
    return Start(AT_STRING, 0, 0, np.ascontiguousarray(bits.astype(np.uint8)))


@njit(cache=True, nogil=True)
def draw_string(kind: int, lo: int, om: int, bits: BitArray, x: BitArray, s: Stream) -> Stream:
    """Write the start string of a run into ``x``, shape (n,)."""
    n = x.size
    if kind == AT_STRING:
        x[:] = bits
    elif kind == IN_STATE:
        x[:lo] = 1
        x[lo : lo + 1] = 0
        ones = om - lo
        for position in range(lo + 1, n):
            # every placement of the ones that are left is equally likely
            draw, s = below(n - position, s)
            x[position] = draw < ones
            ones -= x[position]
    else:
        word = np.uint64(0)
        for position in range(n):
            if position & 63 == 0:
                word, s = next_word(s)
            x[position] = word & ONE
            word >>= ONE
    return s


@njit(cache=True, nogil=True)
def reveal(n: int, lo: int, ones: int, s: Stream) -> tuple[int, int, Stream]:
    """LO, and the ones behind the first zero, of a string that begins with ``lo`` ones and goes on at random.

    Of the bits after the first ``lo``, ``ones`` are ones; they are looked at one by one until a zero shows.
    """
    for left in range(n - lo, 0, -1):
        draw, s = below(left, s)
        if draw >= ones:
            return n - left, ones, s
        ones -= 1
    return n, 0, s


@njit(cache=True, nogil=True)
def draw_state(n: int, kind: int, lo: int, om: int, s: Stream) -> tuple[int, int, Stream]:
    """LO, and the ones behind the first zero, of the start of a run of every kind but ``AT_STRING``."""
    if kind == IN_STATE:
        return lo, om - lo, s
    ones, s = ones_of_random_string(n, s)
    return reveal(n, 0, ones, s)
