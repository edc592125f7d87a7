"""Solutions: the optimal policy of a setting, its values, and the evidence that it is optimal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import FloatArray
from kflip.compilation import announce
from kflip.exact.scan import TIE_TOLERANCE
from kflip.exact.sweeps import Progress
from kflip.policy import Policy, read_only, state_index
from kflip.setting import Setting
from kflip.spaces import SPACES, BellmanCheck


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimal policy of a setting.

    Attributes
    ----------
    setting
        What was solved.
    policy
        The smallest optimal radius in every state; where no radius can finish, the smallest of the portfolio.
    values
        Expected remaining runtime of every state, in the shape of ``policy.table``; NaN where no state exists, 0 at the
        optimum, ``inf`` where the optimum cannot be reached for certain.
    expected_runtime
        Expected iterations from a uniformly random string until the optimum is first generated.
    proven_optimal, lower_bound
        No policy of the setting is expected to be faster than ``lower_bound``; it defaults to ``expected_runtime``.
        Every solution is proven optimal but those of objective ``"loom"`` with state ``"lo"`` above small n.
    """

    setting: Setting
    policy: Policy
    values: FloatArray
    expected_runtime: float
    proven_optimal: bool = True
    lower_bound: float = float("nan")

    def __post_init__(self) -> None:
        if np.isnan(self.lower_bound):
            object.__setattr__(self, "lower_bound", self.expected_runtime)
        object.__setattr__(self, "values", read_only(self.values))

    def optimal_radii(
        self, lo: int | None = None, om: int | None = None, *, x: ArrayLike | None = None
    ) -> tuple[int, ...]:
        """Every radius whose expected time is within a relative 1e-12 of the best in one state, ascending.

        Name the state as for :meth:`kflip.policy.Policy.at`.
        """
        index = state_index(self.setting.n, self.setting.state, lo, om, x)
        if self.values[index] == 0.0:
            return ()
        times = SPACES[self.setting.state].times(self.setting, self.values, index)
        best = times.min()
        tied = np.isinf(times) if np.isinf(best) else times <= best * (1.0 + TIE_TOLERANCE)
        return tuple(int(k) for k, ties in zip(self.setting.radii, tied, strict=True) if ties)

    @cached_property
    def residual(self) -> float:
        """Largest relative violation of the Bellman equation over all states and radii."""
        return check_bellman(self.setting, self.values, self.policy).residual

    def __repr__(self) -> str:
        return f"Solution({self.setting}; expected runtime {self.expected_runtime:.6g})"


def solve(setting: Setting, *, progress: Progress | None = None) -> Solution:
    """Compute the optimal policy of a setting exactly.

    Parameters
    ----------
    setting
        The benchmark.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> round(solve(Setting(8)).expected_runtime, 4)
    14.3683
    """
    space = SPACES[setting.state]
    announce(space.kernels(setting)[0])
    best = space.solve(setting, progress)
    policy = Policy(setting.n, setting.state, read_only(best.table), "optimal" if best.proven else "best-found")
    return Solution(setting, policy, best.values, best.expected_runtime, best.proven, best.lower_bound)


def check_bellman(
    setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None = None
) -> BellmanCheck:
    """Compare values with the Bellman equation in every state and for every radius of the portfolio."""
    return SPACES[setting.state].check(setting, values, policy, progress)
