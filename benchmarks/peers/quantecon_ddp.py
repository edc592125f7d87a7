r"""QuantEcon's ``DiscreteDP`` in its sparse state-action form, by (modified) policy iteration without discounting.

Its ready-made solvers need :math:`\beta < 1`, but its operators do not: with :math:`\beta = 1` the absorbing optimum of
value 0 keeps the values finite.  So the loops of its own solvers are run here on its public operators:

* on acyclic processes ``modified_policy_iteration``: Bellman operator and some applications of the greedy policy's
  operator in turn, started from the times that ``k = 1`` guarantees;
* on LeadingOnes with standard selection ``policy_iteration``, started from every state's first choice.  The linear
  system without the optimum is solved in the order of the states, in which it is block triangular, so that its
  sparse LU decomposition fills little.

Both stop once no state changes by more than :data:`TOLERANCE` relative to its value.

With :math:`\beta` one rounding unit below 1 the ready-made ``policy_iteration`` is as accurate, but its linear solver
reorders the system and takes more than ten times longer, and on (LeadingOnes, OneMax) it changes between tied radii for
ever.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import quantecon
from quantecon.markov import DiscreteDP
from scipy.sparse import csr_matrix, identity
from scipy.sparse.linalg import spsolve

from .model import ANY, SETTINGS, FloatArray, Size, build, size_of

NAME = "quantecon"
METHOD = "modified policy iteration (acyclic) or policy iteration in state order, no discounting"
TOLERANCE = 1e-12

#: Applications of a policy's operator per application of the Bellman operator, as a share of n.
EVALUATIONS = 1 / 6


class Problem(NamedTuple):
    """A ``DiscreteDP`` whose rewards are negative costs, lower bounds of its values, and how to solve it."""

    ddp: Any
    bounds: FloatArray
    cyclic: bool
    evaluations: int
    size: Size


def version() -> str:
    """Version of quantecon."""
    return str(quantecon.__version__)


def prepare(setting: str, n: int, every_radius: bool) -> Problem:
    """Build the process and hand it to QuantEcon."""
    process = build(setting, n, np.int32, every_radius)
    counted = size_of(process)
    moves = csr_matrix(
        (process.probabilities, process.columns, process.first_entry), shape=(counted.choices, counted.states)
    )
    choices_of = np.diff(process.first_choice)
    s_indices = np.repeat(np.arange(counted.states), choices_of)
    a_indices = np.arange(counted.choices) - np.repeat(process.first_choice[:-1], choices_of)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="infinite horizon solution methods are disabled")
        ddp = DiscreteDP(-process.costs, moves, 1.0, s_indices, a_indices)
    evaluations = max(1, round(EVALUATIONS * n))
    return Problem(ddp, -process.bounds, SETTINGS[setting] == ANY, evaluations, counted)


def size(problem: Problem) -> Size:
    """Size of the model."""
    return problem.size


def solve(problem: Problem) -> FloatArray:
    """Minimal expected number of iterations from every state."""
    return -(_policy_iteration(problem) if problem.cyclic else _modified_policy_iteration(problem))


def _modified_policy_iteration(problem: Problem) -> FloatArray:
    ddp = problem.ddp
    values = problem.bounds.copy()
    better = np.empty_like(values)
    policy = np.empty(values.size, dtype=np.int64)
    while True:
        ddp.bellman_operator(values, Tv=better, sigma=policy)
        if _settled(values, better):
            return better
        ddp.operator_iteration(T=ddp.T_sigma(policy), v=better, max_iter=problem.evaluations)
        values, better = better, values


def _policy_iteration(problem: Problem) -> FloatArray:
    ddp = problem.ddp
    states = problem.size.states
    unit = identity(states - 1, format="csr")
    values = np.zeros(states)  # the optimum's stays 0
    better = np.empty(states)
    policy = np.zeros(states, dtype=np.int64)
    while True:
        rewards, moves = ddp.RQ_sigma(policy)
        values[:-1] = spsolve(unit - moves[:-1, :-1], rewards[:-1], permc_spec="NATURAL")
        ddp.bellman_operator(values, Tv=better, sigma=policy)
        if _settled(values, better):
            return better


def _settled(values: FloatArray, better: FloatArray) -> bool:
    return bool(np.all(np.abs(better - values) <= TOLERANCE * np.abs(better)))
