"""Evaluations: what a policy is worth, exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kflip._typing import FloatArray
from kflip.compilation import announce
from kflip.exact import chain, lo_only
from kflip.exact.levels import mean_over_suffixes, moments_from_start
from kflip.exact.sweeps import Progress, evaluate_lo_om
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy, PolicyLike, lift
from kflip.rules import Rule, resolve
from kflip.setting import Setting
from kflip.solution import solve


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
        self.values.flags.writeable = False
        self.stds.flags.writeable = False

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
    announce(lo_only.values_of if setting.state == "lo" and setting.objective == "lo" else chain.sweep)
    return _EVALUATORS[setting.state](setting, chosen, progress)


def _evaluate_lo(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Evaluation:
    n = setting.n
    if setting.objective == "loom":
        lifted = lift(policy, "lo-om")
        values, variances = _moments_lo_om(setting, lifted, progress)
        mean, variance = moments_from_start(values, variances)
        means = mean_over_suffixes(values)
        spread = mean_over_suffixes(variances + (values - means[:, None]) ** 2)
        return Evaluation(setting, policy, means, np.sqrt(spread), mean, float(np.sqrt(variance)))
    if isinstance(policy, Policy):
        p = lo_only.level_probabilities(n, policy.table.astype(np.int64))
    else:
        p = lo_only.mixed_probabilities(n, policy.radii.astype(np.int64), policy.probabilities)
    values, variances, mean, variance = lo_only.values_of(n, p)
    return Evaluation(setting, policy, values, np.sqrt(variances), mean, float(np.sqrt(variance)))


def _evaluate_lo_om(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Evaluation:
    values, variances = _moments_lo_om(setting, policy, progress)
    mean, variance = moments_from_start(values, variances)
    return Evaluation(setting, policy, values, np.sqrt(variances), mean, float(np.sqrt(variance)))


def _moments_lo_om(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> tuple[FloatArray, FloatArray]:
    n = setting.n
    matrices = 0 if (setting.objective, setting.selection) == ("lo", "strict") else 2
    require((n + 1) ** 2 * 8 * (2 + matrices), f"evaluating a policy on {setting}")
    kind = setting.objective, setting.selection
    if isinstance(policy, Policy):
        return evaluate_lo_om(n, *kind, table=policy.table, progress=progress)
    return evaluate_lo_om(n, *kind, radii=policy.radii, probabilities=policy.probabilities, progress=progress)


_EVALUATORS: dict[str, Callable[[Setting, AnyPolicy, Progress | None], Evaluation]] = {
    "lo": _evaluate_lo,
    "lo-om": _evaluate_lo_om,
}
