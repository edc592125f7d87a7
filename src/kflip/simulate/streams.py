r"""Random streams: one per run, named by (seed, run) alone.

A run's generator is xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
ACM TOMS 47, 2021): 256 bits of state, period :math:`2^{256} - 1`.  The seed is hashed to four words
:math:`c_0, \dots, c_3`, and word :math:`j` of the first state of run :math:`r` is output :math:`r + 1` of SplitMix64
started at :math:`c_j`.  SplitMix64 is a bijection of its counter, so two runs differ in every word of their
states; and a run's numbers depend neither on other runs nor on threads.

Bounded integers use Lemire's multiplication with rejection ("Fast random integer generation in an interval",
ACM TOMACS 29, 2019): exactly uniform.

The state is a tuple that goes in and comes out of every draw: compiled, it stays in registers, which makes a draw
twice as fast as one on an array.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

WordArray: TypeAlias = NDArray[np.uint64]
Stream: TypeAlias = tuple[np.uint64, np.uint64, np.uint64, np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOW_HALF = np.uint64(0xFFFFFFFF)
TWO_TO_32 = np.uint64(1 << 32)
FIVE, NINE, ONE = np.uint64(5), np.uint64(9), np.uint64(1)
BY_7, BY_11, BY_17, BY_19, BY_27 = (np.uint64(s) for s in (7, 11, 17, 19, 27))
BY_30, BY_31, BY_32, BY_45, BY_57 = (np.uint64(s) for s in (30, 31, 32, 45, 57))
UNIT_53 = 2.0**-53

#: From this success probability on, trying is cheaper than taking two logarithms.
LIKELY = 0.15


def hash_seed(seed: int) -> WordArray:
    """Four words, shape (4,), from a seed of any size: numpy's ``SeedSequence`` spreads each bit over all of them."""
    words: WordArray = np.random.SeedSequence(seed).generate_state(4, np.uint64).astype(np.uint64)
    return words


@njit(cache=True, nogil=True)
def split_mix(counter: np.uint64) -> np.uint64:
    """The output of SplitMix64 at a counter."""
    z = (counter ^ (counter >> BY_30)) * MIX_1
    z = (z ^ (z >> BY_27)) * MIX_2
    return z ^ (z >> BY_31)


@njit(cache=True, nogil=True)
def open_stream(key: WordArray, run: int) -> Stream:
    """First state of the stream of a run under the hashed seed ``key``, shape (4,)."""
    step = np.uint64(run + 1) * GOLDEN
    return (
        split_mix(key[0] + step),
        split_mix(key[1] + step),
        split_mix(key[2] + step),
        split_mix(key[3] + step),
    )


@njit(cache=True, nogil=True)
def next_word(s: Stream) -> tuple[np.uint64, Stream]:
    """64 random bits."""
    s0, s1, s2, s3 = s
    z = s1 * FIVE
    word = ((z << BY_7) | (z >> BY_57)) * NINE
    s2 ^= s0
    s3 ^= s1
    return word, (s0 ^ s3, s1 ^ s2, s2 ^ (s1 << BY_17), (s3 << BY_45) | (s3 >> BY_19))


@njit(cache=True, nogil=True)
def below(bound: int, s: Stream) -> tuple[int, Stream]:
    """Uniform whole number in ``0..bound-1``, for ``1 <= bound < 2**32``."""
    width = np.uint64(bound)
    word, s = next_word(s)
    product = (word >> BY_32) * width
    low = product & LOW_HALF
    if low < width:
        threshold = (TWO_TO_32 - width) % width
        while low < threshold:
            word, s = next_word(s)
            product = (word >> BY_32) * width
            low = product & LOW_HALF
    return int(np.int64(product >> BY_32)), s


@njit(cache=True, nogil=True)
def uniform(s: Stream) -> tuple[float, Stream]:
    """Uniform double in [0, 1) with 53 random bits."""
    word, s = next_word(s)
    return float(word >> BY_11) * UNIT_53, s


@njit(cache=True, nogil=True)
def failures(success: float, scale: float, s: Stream) -> tuple[float, Stream]:
    r"""Failures before the first success of probability ``success``, as a whole float.

    By inversion: with :math:`U` uniform in (0, 1], :math:`\lfloor \log U / \log(1 - p) \rfloor` is geometric.
    ``scale`` is :func:`failure_scale` of ``success``, which a caller computes once for many draws.
    """
    if success >= LIKELY:
        count = 0.0
        u, s = uniform(s)
        while u >= success:
            count += 1.0
            u, s = uniform(s)
        return count, s
    word, s = next_word(s)
    return np.floor(-np.log(float((word >> BY_11) + ONE) * UNIT_53) * scale), s


@njit(cache=True, nogil=True)
def failure_scale(success: float) -> float:
    """What :func:`failures` multiplies an exponential variate with; 0 where it does not.

    A probability that underflows counts as 1e-300: a wait beyond every limit either way.
    """
    return 0.0 if success >= LIKELY else -1.0 / np.log1p(-max(success, 1e-300))


@njit(cache=True, nogil=True)
def ones_of_random_string(n: int, s: Stream) -> tuple[int, Stream]:
    """Binomial(n, 1/2): the ones of ``n`` random bits, counted 64 at a time."""
    ones = 0
    left = n
    while left > 0:
        word, s = next_word(s)
        if left < 64:
            word >>= np.uint64(64 - left)
        left -= 64
        while word:
            word &= word - ONE
            ones += 1
    return ones, s
