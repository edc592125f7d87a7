"""Evaluations: what a policy is worth, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kflip._typing import FloatArray
from kflip.compilation import announce
from kflip.exact import adaptive
from kflip.exact.levels import mean_over_suffixes, moments_from_start
from kflip.exact.sweeps import Progress
from kflip.memory import require
from kflip.objectives import lo_om_of_all
from kflip.policy import AnyPolicy, PolicyLike, read_only
from kflip.rules import AdaptiveRule, Rule, as_adaptive, resolve
from kflip.setting import Setting
from kflip.solution import solve
from kflip.spaces import SPACES, Moments


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Exact performance of one policy.

    Attributes
    ----------
    setting, policy
        What was evaluated.  ``policy`` is a table, or an :class:`~kflip.rules.AdaptiveRule`, which says so itself to
        whoever takes it for a table.
    values
        Expected remaining runtime of every state; ``inf`` exactly where a run may never reach the optimum.  On
        objective ``"loom"`` with state ``"lo"``, where LO alone does not determine the future, the mean over a
        random string with that LO.  Of a rule with memory, the mean over a random string with what the state
        shows, for ``"bits"`` one with the same (LO, OM), if the rule has its first memory.
    stds
        Standard deviation of the remaining runtime of every state, same shape.
    expected_runtime, std
        Mean and standard deviation of the runtime from a uniformly random string.
    """

    setting: Setting
    policy: AnyPolicy | AdaptiveRule
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


def evaluate(
    setting: Setting, policy: PolicyLike | Rule | AdaptiveRule, *, progress: Progress | None = None
) -> Evaluation:
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
    chosen: AnyPolicy | AdaptiveRule
    rule = as_adaptive(policy)
    if rule is not None:
        chosen, moments = rule, _with_memory(setting, rule, progress)
    else:
        chosen = resolve(setting, policy)
        space = SPACES[setting.state]
        announce(space.kernels(setting)[1])
        moments = space.moments(setting, chosen, progress)
    values, variances, mean, variance = moments
    return Evaluation(setting, chosen, values, np.sqrt(variances), mean, float(np.sqrt(variance)))


def _with_memory(setting: Setting, rule: AdaptiveRule, progress: Progress | None) -> Moments:
    n, memory = setting.n, rule.memory_of(setting)
    # two tables of values, at most four of moves, and six rows for each memory
    require(8 * (n + 1) * (6 * (n + 1) + 6 * memory.radius.size), f"evaluating {rule.name} on {setting}")
    announce(adaptive.sweep)
    values, variances = adaptive.evaluate_adaptive(
        n,
        setting.objective,
        setting.selection,
        memory.radius,
        memory.after_success,
        memory.after_failure,
        memory.start,
        progress,
    )
    start = moments_from_start(values, variances)
    if setting.state == "lo-om":
        return Moments(values, variances, *start)
    if setting.state == "bits":
        where = lo_om_of_all(n)
        return Moments(values[where], variances[where], *start)
    means = mean_over_suffixes(values)
    with np.errstate(invalid="ignore"):  # where a mean is infinite, so is the spread
        spread = variances + (values - means[:, None]) ** 2
    spread[np.isnan(spread) & ~np.isnan(values)] = np.inf
    return Moments(means, mean_over_suffixes(spread), *start)
