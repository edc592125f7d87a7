r"""Proving that a policy that sees LO alone is best on (LeadingOnes, OneMax), by branch and bound from level 0 upwards.

Once the radii of levels ``0..i`` are chosen, the iterations spent there and the law :math:`u_i` of what goes on are
known exactly, and whatever is chosen above costs at least :math:`\sum_a u_i(a) W_i^*(a)`, what a policy that sees
``(LO, OM)`` would need.  A partial policy whose bound is not below the best complete one is dropped with all its
continuations.  The bound is close: seeing OM helps mostly on the lowest levels, about half as much on each next one.

The search is depth-first and stops at a given depth.  The smallest bound left there is a lower bound of all policies
that see LO alone and pick one radius per level; if there is none, the best policy found is proved best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.less_information import Bounds, leave_level, weighted
from kflip.exact.occupancy import split
from kflip.exact.scan import TIE_TOLERANCE


class Stack(NamedTuple):
    """The partial policy under examination and what is left to try, one row per level.

    ``law[i]`` is what arrives behind ``i`` leading ones after ``spent[i]`` iterations; it splits into ``entering[i]``
    and ``passing[i]``.  ``bound[i, c]`` belongs to radius number ``c``, tried in the order ``order[i]`` up to
    ``turn[i]``.  ``chosen[i]`` is the radius in use; ``level[0]`` the level where the search stands, -1 at its end.
    """

    law: FloatArray
    entering: FloatArray
    passing: FloatArray
    spent: FloatArray
    bound: FloatArray
    order: IntArray
    turn: IntArray
    chosen: IntArray
    level: IntArray


@njit(cache=True, nogil=True)
def open_level(n: int, i: int, st: Stack, bounds: Bounds) -> None:
    """Split what arrives at level ``i`` and bound every radius there."""
    N = n - i - 1
    entering, passing = st.entering[i], st.passing[i]
    entering[: N + 1] = 0.0
    passing[: N + 2] = st.law[i, : N + 2]
    split(N + 1, passing, entering)
    fixed = st.spent[i] + weighted(N + 1, passing, bounds.behind[i], 0)
    for c in range(bounds.radii.size):
        if bounds.radii[c] <= N + 1:
            begin = bounds.offset[i] + c * (N + 1)
            st.bound[i, c] = fixed + weighted(N + 1, entering, bounds.times, begin)
        else:
            st.bound[i, c] = np.inf
    st.order[i] = np.argsort(st.bound[i])
    st.turn[i] = 0


def stack_of(ones: FloatArray, depth: int, bounds: Bounds) -> Stack:
    """Begin a search on levels ``0..depth-1``; ``ones`` is the law of the ones in a random string, shape (n+1,)."""
    n, m = ones.size - 1, bounds.radii.size
    stack = Stack(
        law=np.zeros((depth + 1, n + 1)),
        entering=np.zeros((depth, n + 1)),
        passing=np.zeros((depth, n + 1)),
        spent=np.zeros(depth + 1),
        bound=np.full((depth, m), np.inf),
        order=np.zeros((depth, m), dtype=np.int64),
        turn=np.zeros(depth, dtype=np.int64),
        chosen=np.zeros(depth, dtype=np.int64),
        level=np.zeros(1, dtype=np.int64),
    )
    stack.law[0] = ones
    open_level(n, 0, stack, bounds)
    return stack


@njit(cache=True, nogil=True)
def explore(
    steps: int,
    st: Stack,
    bounds: Bounds,
    behind: FloatArray,
    table: IntArray,
    best: FloatArray,
    best_table: IntArray,
) -> tuple[int, float]:
    """Go on with the search for policies that beat ``best[0]``, following at most ``steps`` partial policies.

    Every partial policy is completed by the radii of ``table``, whose values are in ``behind``; if that beats
    ``best[0]``, it goes to ``best`` and ``best_table``.  Returns how many were followed, and the smallest bound met at
    the end of the stack, ``inf`` if none.
    """
    n = table.size - 1
    depth = st.turn.size
    radii, chosen = bounds.radii, st.chosen
    left = np.inf
    followed = 0
    i = st.level[0]
    while i >= 0:
        c = st.order[i, st.turn[i]] if st.turn[i] < radii.size else 0
        if st.turn[i] == radii.size or st.bound[i, c] >= best[0] * (1.0 - TIE_TOLERANCE):
            i -= 1
            continue
        if i + 1 == depth and depth < n:
            # the smallest of its level, and with it all others are left
            left = min(left, st.bound[i, c])
            i -= 1
            continue
        if followed == steps:
            break
        followed += 1
        st.turn[i] += 1
        N = n - i - 1
        k = radii[c]
        chosen[i] = k
        p, q = bounds.p[i, k], bounds.q[i, k]
        law = st.law[i + 1]
        law[: N + 1] = st.passing[i, : N + 1]
        leave_level(N, k, p, q, st.entering[i], law)
        st.spent[i + 1] = st.spent[i] + st.entering[i, : N + 1].sum() / p
        total = st.spent[i + 1] + weighted(N + 1, law, behind[i], 0)
        if total < best[0] * (1.0 - TIE_TOLERANCE):
            best[0] = total
            best_table[: i + 1] = chosen[: i + 1]
            best_table[i + 1 :] = table[i + 1 :]
        if i + 1 < n:
            i += 1
            open_level(n, i, st, bounds)
    st.level[0] = i
    return followed, left
