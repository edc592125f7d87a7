"""Policies in the form the kernels read: one flat table of radii, or one of cumulative probabilities.

A state's row in the flat table is ``lo``, ``lo (n+1) + om`` or the string's integer, for what the policy sees.
A stochastic policy becomes ``cumulative[row, j] = P[radius <= radii[j]]``, divided by its last entry: the radius
drawn is the first with ``cumulative > u`` for uniform ``u < 1``, so one of probability zero is never drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kflip._typing import FloatArray, IntArray
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy

#: What selects a row: see :func:`row_of`.
BY_LO, BY_LO_OM, BY_STRING = 0, 1, 2

_SEEN = {"lo": BY_LO, "lo-om": BY_LO_OM, "bits": BY_STRING}


class Choices(NamedTuple):
    """A policy for the kernels.

    A deterministic policy has one radius a row in ``table``, and no ``radii``.  A stochastic one has an empty
    ``table``, ``m`` ascending ``radii`` and ``cumulative`` of shape (rows, m).
    """

    seen: int
    table: IntArray
    radii: IntArray
    cumulative: FloatArray


def choices_of(policy: AnyPolicy) -> Choices:
    """Flatten a checked policy."""
    seen = _SEEN[policy.state]
    if isinstance(policy, Policy):
        return Choices(seen, _frozen(policy.table), np.zeros(0, dtype=np.int64), np.zeros((0, 0)))
    m = policy.radii.size
    require(8 * policy.probabilities.size, f"simulating the policy {policy.name!r}")
    cumulative = np.cumsum(policy.probabilities.reshape(-1, m), axis=1)
    totals = cumulative[:, -1:].copy()
    # rows without a state hold zeros and are never read
    np.divide(cumulative, totals, out=cumulative, where=totals > 0)
    return Choices(seen, _frozen(np.zeros(0)), np.array(policy.radii, dtype=np.int64), cumulative)


def _frozen(table: NDArray[Any]) -> IntArray:
    # one type for all tables: a kernel is compiled once for each type it meets
    flat = np.ascontiguousarray(table, dtype=np.int64).reshape(-1)
    flat.flags.writeable = False
    return flat


@njit(cache=True, nogil=True)
def row_of(seen: int, n: int, lo: int, om: int, index: int) -> int:
    """Row of a state; ``index`` is the string's integer and matters only if the policy sees it."""
    if seen == BY_LO:
        return lo
    if seen == BY_LO_OM:
        return lo * (n + 1) + om
    return index


@njit(cache=True, nogil=True)
def radius_at(u: float, radii: IntArray, cumulative: FloatArray, row: int) -> int:
    """The first radius with ``cumulative[row] > u``."""
    low, high = 0, radii.size - 1
    while low < high:
        middle = (low + high) >> 1
        if cumulative[row, middle] > u:
            high = middle
        else:
            low = middle + 1
    return int(radii[low])
