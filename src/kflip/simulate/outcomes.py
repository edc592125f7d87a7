"""What a run leaves behind in the arrays of a kernel: how it ended and, if asked for, its changes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kflip._typing import IntArray

#: How a run ended: at the optimum, at the iteration limit, in a state it can never leave, or by an interrupt.
FINISHED, CUT, STUCK, STOPPED = 0, 1, 2, 3

#: A run looks at the interrupt flag once in this many iterations or events; a power of two.
PATIENCE = 1 << 20


class Columns(NamedTuple):
    """Rows of all runs, one after the other; ``iteration`` is int64, the others int32, all of the same length.

    Empty columns turn a pass into one that only counts.
    """

    iteration: IntArray
    k: NDArray[np.int32]
    lo: NDArray[np.int32]
    om: NDArray[np.int32]


def empty_columns(rows: int) -> Columns:
    """Columns with space for ``rows`` rows."""
    return Columns(
        np.empty(rows, dtype=np.int64), *(np.empty(rows, dtype=np.int32) for _ in ("k", "lo", "om"))
    )


@njit(cache=True, nogil=True)
def put_row(
    row: int,
    iteration: int,
    k: int,
    lo: int,
    om: int,
    iterations: IntArray,
    ks: NDArray[np.int32],
    los: NDArray[np.int32],
    oms: NDArray[np.int32],
) -> int:
    """Write one row if there is space, and return the number of the next."""
    if row < iterations.size:
        iterations[row] = iteration
        ks[row] = k
        los[row] = lo
        oms[row] = om
    return row + 1
