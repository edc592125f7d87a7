"""LeadingOnes, OneMax and the pair, for one bit string or many."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kflip._typing import BoolArray, IntArray
from kflip.errors import InputError

#: Longest string whose integer fits into 64 bits with a sign.
LONGEST = 63


def leading_ones(x: ArrayLike) -> IntArray:
    """Number of ones before the first zero.

    Parameters
    ----------
    x
        Bits, shape ``(..., n)``, position 1 first.

    Returns
    -------
    Array of shape ``(...)``; a scalar array for one string.
    """
    bits = as_bits(x)
    return np.asarray(np.logical_and.accumulate(bits, axis=-1).sum(axis=-1), dtype=np.int64)


def one_max(x: ArrayLike) -> IntArray:
    """Number of ones, with the shapes of :func:`leading_ones`."""
    return np.asarray(as_bits(x).sum(axis=-1), dtype=np.int64)


def lo_om(x: ArrayLike) -> IntArray:
    """The pair (LeadingOnes, OneMax), shape ``(..., 2)``; compare pairs lexicographically."""
    return np.stack([leading_ones(x), one_max(x)], axis=-1)


def bits_of(index: ArrayLike, n: int) -> IntArray:
    """Bits of the integers ``index``, shape ``(..., n)``; the most significant bit is position 1."""
    numbers = np.asarray(index)
    if not 1 <= n <= LONGEST:
        raise InputError(f"bits of integers need a length in 1..{LONGEST}, not {n}")
    if numbers.dtype.kind not in "iu" or (numbers < 0).any() or (numbers > (1 << n) - 1).any():
        raise InputError(f"a string of {n} bits is an integer in 0..{2**n - 1}")
    shifts = np.arange(n - 1, -1, -1)
    return np.asarray((numbers.astype(np.int64)[..., None] >> shifts) & 1, dtype=np.int64)


def index_of(x: ArrayLike) -> IntArray:
    """Inverse of :func:`bits_of`: the integer whose most significant bit is position 1."""
    bits = as_bits(x).astype(np.int64)
    if bits.shape[-1] > LONGEST:
        raise InputError(f"strings of more than {LONGEST} bits have no 64-bit integer, not {bits.shape[-1]}")
    return np.asarray(bits @ (1 << np.arange(bits.shape[-1] - 1, -1, -1)), dtype=np.int64)


def lo_om_of_all(n: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """LeadingOnes and OneMax of all ``2**n`` strings, in the order of their integers, one byte each."""
    # bit by bit from the last position: a leading one adds to the LO of the rest, a leading zero makes it 0
    lo = om = np.zeros(1, dtype=np.uint8)
    for _ in range(n):
        lo = np.concatenate([np.zeros_like(lo), lo + np.uint8(1)])
        om = np.concatenate([om, om + np.uint8(1)])
    return lo, om


def as_bits(x: ArrayLike) -> BoolArray:
    """Bits of shape ``(..., n)``, checked."""
    try:
        bits = np.asarray(x)
    except ValueError:
        raise InputError("expected bits in an array of shape (..., n), not rows of different lengths") from None
    if bits.ndim == 0 or bits.shape[-1] == 0:
        raise InputError("expected bits in an array of shape (..., n) with n >= 1")
    if not np.isin(bits, (0, 1)).all():
        raise InputError("expected bits: every entry must be 0 or 1")
    return bits.astype(bool)
