r"""How long a run stays in every state, and whether it gets there at all: the level recursion run forwards.

Let :math:`u_i(a)` be the expected number of times that positions ``1..i+1`` have just become ones with :math:`a` ones
among the :math:`N = n - i - 1` bits behind them: the adjoint of :math:`W_i` in :mod:`kflip.exact.levels`.  Looking at
the first of these bits, the mass :math:`u_{i-1}(a)` splits over :math:`N + 1` bits into

.. math:: e_i(a) = \frac{N + 1 - a}{N + 1} u_{i-1}(a) + \mathrm{start}_i(a), \qquad
          c_i(a - 1) = \frac{a}{N + 1} u_{i-1}(a),

the runs that enter level :math:`i` and those that pass it.  With :math:`x_a` and :math:`C_{ab}` the exits and the
accepted moves of :mod:`kflip.exact.elimination`, the expected iterations :math:`v` in the states of the level solve the
transposed system, and what leaves goes on:

.. math:: v_a \Bigl(x_a + \sum_b C_{ab}\Bigr) = e_a + \sum_b v_b C_{ba}, \qquad
          u_i = c_i + \sum_a v_a \sum_k \pi_k(a)\, p_k P_{k-1}(a, \cdot).

A state is visited with probability :math:`v_a / G_{aa}`, where :math:`G_{aa}`, the iterations in ``a`` of a run that
starts there, is on the diagonal of the inverse of the level's matrix :math:`L D U`.  Takahashi's equations
:math:`G = (DU)^{-1} + G (I - L) = (LD)^{-1} + (I - U) G` give the entries of :math:`G` inside the envelope of the
factors and no others.  Here :math:`I - L` and :math:`I - U` are not negative, so everything, as in the elimination, is
sums, products and quotients of positive numbers: small relative errors even for the rarest states.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.chain import EvaluationTables, evaluation_tables, fill_row, set_radii, set_weights
from kflip.exact.elimination import Chain, eliminate
from kflip.exact.flips import ANY, REJECT, add_law, fill_probabilities
from kflip.exact.levels import binomial_weights
from kflip.exact.sweeps import Progress, in_slices

#: A state left with a smaller probability per iteration counts as never left: its stay would overflow.
NEVER = 1e-290


def random_start(n: int) -> FloatArray:
    """Law of ``(LO, OM)`` of a uniformly random string, shape (n+1, n+1)."""
    start = np.zeros((n + 1, n + 1))
    for lo in range(n):
        start[lo, lo:n] = np.ldexp(binomial_weights(n - lo - 1), -lo - 1)
    start[n, n] = np.ldexp(1.0, -n)
    return start


def occupancy_tables(n: int, mode: int, choices: int) -> EvaluationTables:
    """Work space of :func:`sweep`; the elimination works on the moves in place, nothing needs them afterwards."""
    t = evaluation_tables(n, mode, choices)
    t.W[:] = 1.0  # mean_after is not needed here, and with a constant it ends at once
    shared = t.chain._replace(moves=t.moves, first=t.first, last=t.last, leave=t.leave)
    return t._replace(chain=shared)


@njit(cache=True, nogil=True)
def split(bits: int, u: FloatArray, entering: FloatArray) -> None:
    """Let ``u`` over ``bits`` bits enter the level or pass it: add to ``entering``, turn ``u`` into what passes."""
    for a in range(bits + 1):
        mass = u[a]
        if a < bits:
            entering[a] += (bits - a) / bits * mass
        if a > 0:
            u[a - 1] = a / bits * mass


@njit(cache=True, nogil=True)
def fill_level(N: int, mode: int, t: EvaluationTables, stuck: IntArray) -> None:
    """Write exits and moves of the level; a state that is never left becomes one that exits into nothing."""
    for a in range(N + 1):
        fill_row(N, a, mode, 1.0, t)
        stuck[a] = 1 if t.leave[a] < NEVER else 0
        if stuck[a]:
            t.leave[a] = 1.0
            t.first[a] = t.last[a] = a


@njit(cache=True, nogil=True)
def substitute_transposed(size: int, chain: Chain, entering: FloatArray, visits: FloatArray) -> None:
    """Solve the transpose of an eliminated chain for ``entering``, which is overwritten."""
    C, first, last, total, reach = chain.moves, chain.first, chain.last, chain.total, chain.reach
    for s in range(size):
        visits[s] = entering[s] / total[s]
        for b in range(s + 1, last[s] + 1):
            entering[b] += C[s, b] * visits[s]
    for s in range(size - 1, -1, -1):
        for r in range(s + 1, reach[s] + 1):
            if first[r] <= s <= last[r]:
                visits[s] += C[r, s] * visits[r]


@njit(cache=True, nogil=True)
def diagonal_of_inverse(size: int, chain: Chain, G: FloatArray, diagonal: FloatArray) -> None:
    """``G_aa`` of an eliminated chain; ``G`` of shape (size, size) is work space."""
    C, first, last, total, reach = chain.moves, chain.first, chain.last, chain.total, chain.reach
    # G is filled from the last state upwards, in row and column s as far as an earlier state can ask for it
    far = np.zeros(size, dtype=np.int64)
    for s in range(size):
        far[s] = max(last[s], reach[s])
        if s > 0:
            far[s] = max(far[s], far[s - 1])
    for s in range(size - 1, -1, -1):
        for j in range(s + 1, far[s] + 1):
            down = right = 0.0
            for r in range(s + 1, reach[s] + 1):
                if first[r] <= s <= last[r]:
                    down += G[j, r] * C[r, s]
            for b in range(s + 1, last[s] + 1):
                right += C[s, b] * G[b, j]
            G[j, s] = down
            G[s, j] = right / total[s]
        acc = 1.0
        for b in range(s + 1, last[s] + 1):
            acc += C[s, b] * G[b, s]
        G[s, s] = diagonal[s] = acc / total[s]


@njit(cache=True, nogil=True)
def solve_visits(
    N: int, mode: int, t: EvaluationTables, G: FloatArray, entering: FloatArray, v: FloatArray, probability: FloatArray
) -> None:
    """Expected iterations ``v`` and chance of a visit of every state of the level; ``entering`` is overwritten."""
    if mode == REJECT:
        for a in range(N + 1):
            probability[a] = entering[a]
            v[a] = entering[a] / t.leave[a]
        return
    eliminate(N + 1, t.chain)
    substitute_transposed(N + 1, t.chain, entering, v)
    if mode == ANY:
        diagonal_of_inverse(N + 1, t.chain, G, probability)
        for a in range(N + 1):
            probability[a] = min(1.0, v[a] / probability[a])
    else:  # no state is seen twice
        probability[: N + 1] = entering[: N + 1]


@njit(cache=True, nogil=True)
def sweep(
    first: int,
    last: int,
    mode: int,
    table: IntArray,
    radii: IntArray,
    probabilities: FloatArray,
    start: FloatArray,
    u: FloatArray,
    expected: FloatArray,
    probability: FloatArray,
    entered: FloatArray,
    t: EvaluationTables,
    G: FloatArray,
) -> None:
    """Visits of levels ``first, first + 1, ..., last``; tables have shape (n+1, n+1), ``u`` is kept between calls.

    ``expected`` is infinite in states where a run may get stuck; ``entered[i]`` is the chance to see level ``i``.
    """
    n = start.shape[0] - 1
    stuck = np.zeros(n, dtype=np.int64)
    entering, v, chance = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(first, last + 1):
        N = n - i - 1
        entering[: N + 1] = start[i, i:n]
        split(N + 1, u, entering)
        entered[i] = entering[: N + 1].sum()
        fill_probabilities(n, i, t.p, t.q)
        if radii.size:
            set_weights(N, i, radii, probabilities, t)
        else:
            set_radii(N, i, table, t)
        fill_level(N, mode, t, stuck)
        solve_visits(N, mode, t, G, entering, v, chance)
        for a in range(N + 1):
            probability[i, i + a] = chance[a]
            expected[i, i + a] = v[a]
            if stuck[a]:
                expected[i, i + a] = np.inf if v[a] > 0.0 else 0.0
                continue
            for c in range(t.radius.shape[1]):
                k, share = t.radius[a, c], t.weight[a, c]
                if v[a] > 0.0 and share > 0.0 and k <= N + 1:
                    add_law(u, v[a] * share * t.p[k], N, a, k - 1)


def visits_lo_om(
    n: int,
    mode: int,
    table: IntArray,
    radii: IntArray,
    probabilities: FloatArray,
    start: FloatArray,
    progress: Progress | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Expected iterations in every ``(LO, OM)`` state and the chance of a visit, shapes (n+1, n+1), and of every LO.

    The policy comes as in :func:`kflip.exact.chain.sweep`; ``start`` is the law of the first state.
    """
    expected, probability = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    u, entered = np.zeros(n + 1), np.zeros(n + 1)
    t = occupancy_tables(n, mode, max(1, len(radii)))
    size = n if mode == ANY else 1
    G = np.empty((size, size))

    def run(first: int, last: int) -> None:
        sweep(
            n - 1 - first,
            n - 1 - last,
            mode,
            table,
            radii,
            probabilities,
            start,
            u,
            expected,
            probability,
            entered,
            t,
            G,
        )

    in_slices(n, run, None if progress is None else lambda share: progress(1.0 - (1.0 - share**0.5) ** 2))
    probability[n, n] = entered[n] = start[n, n] + u[0]
    return expected, probability.clip(0.0, 1.0), entered.clip(0.0, 1.0)


def visits_lo(p: FloatArray, start: int | None) -> tuple[FloatArray, FloatArray]:
    """The same for LeadingOnes when the policy sees LO alone, shapes (n+1,); see :mod:`kflip.exact.lo_only`.

    ``p[i]`` is the chance of improving ``LO = i``.  Behind a longer prefix the next bit is 0 with probability 1/2:
    every level above the start is visited with probability 1/2, unless the run is stuck below.
    """
    n = p.size
    probability, expected = np.zeros(n + 1), np.zeros(n + 1)
    passing = 1.0 if start is None else 0.0
    for i in range(n):
        probability[i] = 0.5 * passing + (1.0 if start == i else 0.0)
        if p[i] >= NEVER:
            expected[i] = probability[i] / p[i]
            passing = 0.5 * passing + probability[i]
        else:
            expected[i] = np.inf if probability[i] > 0.0 else 0.0
            passing = 0.5 * passing
    probability[n] = 1.0 if start == n else passing
    return expected, probability
