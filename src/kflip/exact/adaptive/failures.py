r"""Following a memory from failure to failure.

Failures lead from memory :math:`m` to :math:`d(m)`, and after finitely many into a cycle; for the multiplicative
success rule the cycle is the smallest strength alone.  In a state that changes on success only, let :math:`h_m` be the
chance of success, :math:`f_m` that of failure and :math:`c_m` the cost of an iteration with all that follows a
success.  Then

.. math:: T_m = c_m + f_m T_{d(m)},

and once around a cycle :math:`m_0, m_1, \dots, m_{L-1}`

.. math:: T_{m_0} \sum_j f_{m_0} \cdots f_{m_{j-1}} h_{m_j} = \sum_j f_{m_0} \cdots f_{m_{j-1}} c_{m_j}.

The factor on the left is :math:`1 - f_{m_0} \cdots f_{m_{L-1}}`, written as a sum of positive terms: nothing cancels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import BoolArray, FloatArray, IntArray


class Failures(NamedTuple):
    """The map of failures, in an order to solve it.

    ``after`` has shape (memories,).  ``cycle`` lists all cycles, each in the direction of failures, and cycle ``c``
    ends before ``ends[c]``; ``tree`` lists the other memories, each behind the one it leads to.
    """

    after: IntArray
    cycle: IntArray
    ends: IntArray
    tree: IntArray


def failures_of(after: IntArray) -> Failures:
    """Find the cycles of a map of shape (memories,)."""
    step = after.tolist()
    seen = [False] * len(step)
    cycle: list[int] = []
    ends: list[int] = []
    tree: list[int] = []
    for first in range(len(step)):
        path: list[int] = []
        m = first
        while not seen[m]:
            seen[m] = True
            path.append(m)
            m = step[m]
        # a path that meets itself closes a cycle; one that meets an older path only leads there
        begin = path.index(m) if m in path else len(path)
        if begin < len(path):
            cycle += path[begin:]
            ends.append(len(cycle))
        tree += path[:begin][::-1]
    arrays = (np.array(numbers, dtype=np.int64) for numbers in (step, cycle, ends, tree))
    return Failures(*arrays)


@njit(cache=True, nogil=True, error_model="numpy")
def spread_endless(can_hit: BoolArray, can_fail: BoolArray, failures: Failures, endless: BoolArray) -> None:
    """Extend ``endless`` to memories whose failures lead to such, or round and round without a chance of success."""
    after, cycle, ends, tree = failures.after, failures.cycle, failures.ends, failures.tree
    first = 0
    for end in ends:
        hopeless = True
        for j in range(first, end):
            hopeless = hopeless and not can_hit[cycle[j]]
        for _ in range(2):  # the second round takes what the first found at the far end
            for j in range(end - 1, first - 1, -1):
                m = cycle[j]
                endless[m] = endless[m] or hopeless or (can_fail[m] and endless[after[m]])
        first = end
    for m in tree:
        endless[m] = endless[m] or (can_fail[m] and endless[after[m]])


@njit(cache=True, nogil=True, error_model="numpy")
def follow_failures(
    cost: FloatArray, hit: FloatArray, fail: FloatArray, endless: BoolArray, failures: Failures, result: FloatArray
) -> None:
    """Write the total of every memory, shape (memories,), ``inf`` where ``endless``."""
    after, cycle, ends, tree = failures.after, failures.cycle, failures.ends, failures.tree
    result[:] = np.inf
    first = 0
    for end in ends:
        for j in range(first, end):
            # an endless memory of the cycle may lie behind one that cannot fail: begin at one that is not
            if endless[cycle[j]]:
                continue
            total = leave = 0.0
            through = 1.0
            m = cycle[j]
            for _ in range(end - first):
                total += through * cost[m]
                leave += through * hit[m]
                through *= fail[m]
                m = after[m]
                if through == 0.0:
                    break
            result[cycle[j]] = total / leave
        first = end
    for m in tree:
        if not endless[m]:
            result[m] = cost[m] + (fail[m] * result[after[m]] if fail[m] > 0.0 else 0.0)
