"""What the computations of a state space hand back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kflip._typing import FloatArray, RadiusArray


class Optimum(NamedTuple):
    """An optimal policy: values and radii of every state, and the expected runtime from a random start.

    ``lower_bound`` bounds every policy's expected runtime from below; ``proven`` says whether the policy is known to be
    optimal.
    """

    values: FloatArray
    table: RadiusArray
    expected_runtime: float
    lower_bound: float
    proven: bool


class Moments(NamedTuple):
    """Mean and variance of the remaining time of every state, and from a uniformly random start."""

    values: FloatArray
    variances: FloatArray
    mean: float
    variance: float


@dataclass(frozen=True)
class BellmanCheck:
    """How far values are from the Bellman equation; see :mod:`kflip.exact.bellman`.

    ``of_policy`` is the largest relative gap between a value and the time with the policy's radius, ``of_others`` the
    largest relative gain of any radius over a value; the policy is optimal in every state up to the factor
    ``1 + delta``.
    """

    of_policy: float
    of_others: float
    delta: float

    @property
    def residual(self) -> float:
        """The larger of the two relative gaps."""
        return max(self.of_policy, self.of_others)
