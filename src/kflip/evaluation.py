"""Evaluations: what a policy is worth, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kflip._typing import FloatArray
from kflip.compilation import announce
from kflip.exact.sweeps import Progress
from kflip.policy import AnyPolicy, PolicyLike, read_only
from kflip.rules import Rule, resolve
from kflip.setting import Setting
from kflip.solution import solve
from kflip.spaces import SPACES


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Exact performance of one policy.

    Attributes
    ----------
    setting, policy
        What was evaluated.
    values
        Expected remaining runtime of every state; ``inf`` exactly where a run may never reach the optimum.  On
        objective ``"loom"`` with state ``"lo"``, where LO alone does not determine the future, the mean over a
        random string with that LO.
    stds
        Standard deviation of the remaining runtime of every state, same shape.
    expected_runtime, std
        Mean and standard deviation of the runtime from a uniformly random string.
    """

    setting: Setting
    policy: AnyPolicy
    values: FloatArray
    stds: FloatArray
    expected_runtime: float
    std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))
        object.__setattr__(self, "stds", read_only(self.stds))

    @cached_property
    def optimal_runtime(self) -> float:
        """Expected runtime of the optimal policy of the same setting, solved when first asked for."""
        return solve(self.setting).expected_runtime

    @property
    def regret(self) -> float:
        """``expected_runtime / optimal_runtime - 1``; NaN if even the optimal policy may never finish."""
        if np.isinf(self.optimal_runtime):
            return float("nan")
        return self.expected_runtime / self.optimal_runtime - 1.0

    def __repr__(self) -> str:
        return (
            f"Evaluation({self.policy.name} on {self.setting};"
            f" expected runtime {self.expected_runtime:.6g}, std {self.std:.6g})"
        )


def evaluate(setting: Setting, policy: PolicyLike | Rule, *, progress: Progress | None = None) -> Evaluation:
    """Evaluate a policy exactly on the chain of the setting.

    Parameters
    ----------
    setting
        The benchmark.
    policy
        A policy, a table of radii or of probabilities over the portfolio, a callable of what the policy sees, a
        rule of :mod:`kflip.rules` or its name.  Policies that see less than the setting allows are lifted.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> import kflip
    >>> kflip.evaluate(kflip.Setting(4), kflip.rules.constant(1)).expected_runtime
    5.333333333333334
    """
    chosen = resolve(setting, policy)
    space = SPACES[setting.state]
    announce(space.kernels(setting)[1])
    values, variances, mean, variance = space.moments(setting, chosen, progress)
    return Evaluation(setting, chosen, values, np.sqrt(variances), mean, float(np.sqrt(variance)))
