r"""Optimal radii on LeadingOnes with standard selection, the policy seeing ``(LO, OM)``.

Offspring with the same LO are accepted whatever their OM, so the states of a level lead to each other and

.. math:: T(a) = \min_k \bigl[ 1 + p_k (P_{k-1} W)(a) + q_k (P_k T)(a) + (1 - p_k - q_k) T(a) \bigr]

is a stochastic shortest path problem with a finite number of states and radii.

*An optimal policy exists.*  Every radius up to :math:`N + 1` leaves the level with positive probability in each
iteration, so the policies that use such radii reach the next level with probability one, and all others cost
``inf``.  Under these conditions (Bertsekas and Tsitsiklis, *Math. Oper. Res.* 16, 1991) the equation has exactly
one solution, and a stationary policy that attains the minimum is best in every state at once: it cannot happen
that one policy is best here and another there.

*The fixed point is it.*  Howard's policy iteration evaluates a policy exactly and then switches every state to the
radius with the smallest

.. math:: Q_k(a) = \frac{1 + p_k (P_{k-1} W)(a) + q_k \sum_{b \ne a} P_k(a, b) T(b)}{p_k + q_k (1 - P_k(a, a))}.

Each switch lowers :math:`T` somewhere and nowhere raises it, there are finitely many policies, and when no radius
improves any state, :math:`T` solves the equation.  The improvement step checks all radii (see
:mod:`kflip.exact.scan`), so stopping proves optimality up to the tie tolerance.

Portfolios without 1 need one more step first.  A radius is safe if it cannot lead to a state that may never finish;
a state without safe radii is such a state, and removing them until nothing changes leaves the states with a finite
value.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.bellman import time_with
from kflip.exact.chain import EvaluationTables, solve_level
from kflip.exact.flips import ANY, count_infinite
from kflip.exact.level_tables import MIN_T, TOP_T, LevelTables, P, Q, open_level, push_value
from kflip.exact.levels import fold
from kflip.exact.scan import TIE_TOLERANCE, best_radius, leads_astray


@njit(cache=True, nogil=True, error_model="numpy")
def is_safe(N: int, a: int, k: int, t: LevelTables) -> bool:
    """Whether radius ``k`` leaves the level in the end and never leads to an infinite state."""
    return k <= N + 1 and not leads_astray(t.counts, N, a, k, ANY)


@njit(cache=True, nogil=True, error_model="numpy")
def initial_policy(N: int, hints: IntArray, t: LevelTables, e: EvaluationTables) -> None:
    """Start from the hints where they are safe, else from the smallest safe radius; ``T`` is set to 0 or ``inf``."""
    T, radius = t.T, e.radius
    T[: N + 1] = 0.0
    found = -1
    infinite = count_infinite(T, N, t.counts[1])
    while found != infinite:
        found = infinite
        for a in range(N + 1):
            e.weight[a, 0] = 1.0
            if np.isinf(T[a]):
                continue
            if hints[a] > 0 and is_safe(N, a, hints[a], t):
                radius[a, 0] = hints[a]
                continue
            T[a] = np.inf
            radius[a, 0] = t.radii[0]
            for k in t.radii:
                if is_safe(N, a, k, t):
                    T[a] = 0.0
                    radius[a, 0] = k
                    break
        infinite = count_infinite(T, N, t.counts[1])


@njit(cache=True, nogil=True, error_model="numpy")
def enter_values(N: int, t: LevelTables, e: EvaluationTables) -> None:
    """Hand the values of the current policy to the scan."""
    t.infinite[1] = 0
    t.bounds[TOP_T], t.bounds[MIN_T] = 0.0, np.inf
    for a in range(N, -1, -1):
        push_value(N, a, e.T[a], t)
    count_infinite(t.T, N, t.counts[1])


@njit(cache=True, nogil=True, error_model="numpy")
def improve_nearby(n: int, i: int, t: LevelTables, e: EvaluationTables) -> int:
    """Let every state walk to better neighbouring radii; return how many states gain more than the tie tolerance."""
    N = n - i - 1
    radii, T, radius = t.radii, t.T, e.radius
    gained = 0
    for a in range(N + 1):
        if np.isinf(T[a]):
            continue
        here = np.searchsorted(radii, radius[a, 0])
        best = T[a] * (1.0 - TIE_TOLERANCE)
        for step in (-1, 1):
            c = here + step
            while 0 <= c < radii.size:
                value = time_with(N, a, radii[c], ANY, t)[0]
                if value >= best:
                    break
                best = value
                radius[a, 0] = radii[c]
                c += step
        if best < T[a] * (1.0 - TIE_TOLERANCE):
            gained += 1
    return gained


@njit(cache=True, nogil=True, error_model="numpy")
def improve(n: int, i: int, t: LevelTables, e: EvaluationTables) -> int:
    """Switch every state to its best radius; return how many states gain more than the tie tolerance."""
    N = n - i - 1
    gained = 0
    for a in range(N + 1):
        if np.isinf(t.T[a]):
            continue
        value, k = best_radius(n, i, a, ANY, e.radius[a, 0], t)
        e.radius[a, 0] = k
        if value < t.T[a] * (1.0 - TIE_TOLERANCE):
            gained += 1
    return gained


@njit(cache=True, nogil=True, error_model="numpy")
def set_hints(n: int, i: int, table: IntArray, radii: IntArray, hints: IntArray) -> None:
    """Guess the radii of level ``i`` from the level above at the same OM; the best are about n / (LO + 1) there."""
    for a in range(1, n - i):
        guess = (table[i + 1, i + a] * (2 * i + 4) + i + 1) // (2 * i + 2)
        hints[a] = radii[max(0, np.searchsorted(radii, guess, side="right") - 1)]
    hints[0] = hints[1] if n - i > 1 else 0


@njit(cache=True, nogil=True, error_model="numpy")
def sweep(
    first: int,
    last: int,
    values: FloatArray,
    table: IntArray,
    t: LevelTables,
    e: EvaluationTables,
    warm: bool,
    rounds: IntArray,
) -> None:
    """Solve levels ``first, first - 1, ..., last``; ``values`` and ``table`` have shape (n+1, n+1).

    ``warm`` starts each level from the radii of the level above and improves in small steps first, otherwise a level
    starts from the smallest radius and every step tries all.  ``rounds[i]`` counts the policies evaluated on level
    ``i``.
    """
    n = values.shape[0] - 1
    hints = np.zeros(n + 1, dtype=np.int64)
    for i in range(first, last - 1, -1):
        N = n - i - 1
        fold(N, i, values, t.W)
        open_level(n, i, t)
        e.W[: N + 1] = t.W[: N + 1]
        e.p[:] = t.by_radius[P]
        e.q[:] = t.by_radius[Q]
        if warm:
            set_hints(n, i, table, t.radii, hints)
        initial_policy(N, hints, t, e)
        gained = 1
        rounds[i] = 0
        while gained > 0:
            solve_level(N, ANY, e)
            enter_values(N, t, e)
            rounds[i] += 1
            # trying neighbours is cheap; trying every radius is the proof
            gained = improve_nearby(n, i, t, e) if warm else 0
            if gained == 0:
                gained = improve(n, i, t, e)
        for a in range(N + 1):
            values[i, i + a] = e.T[a]
            table[i, i + a] = e.radius[a, 0]
