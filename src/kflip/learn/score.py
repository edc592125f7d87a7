"""What a learned policy is worth: exact runtimes, as it stands and guarded, and how often it is right."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kflip._typing import BoolArray
from kflip.analysis import hit_ratio
from kflip.analysis.regret import HitRatio
from kflip.evaluation import evaluate
from kflip.exact import bits
from kflip.exact.scan import TIE_TOLERANCE
from kflip.policy import AnyPolicy, Policy, exists
from kflip.setting import Setting
from kflip.solution import Solution


@dataclass(frozen=True)
class Score:
    """Exact score of one policy on one setting.

    Attributes
    ----------
    expected_runtime, regret
        Of the policy as it stands; infinite if it may never finish.
    guarded_runtime, guarded_regret
        Of the guarded policy, which uses the smallest radius of the portfolio, k = 1, in states that training never saw
        being left with the policy's radius: its expected runtime is finite if the portfolio has k = 1.
    hit_ratio
        Share of the states in which the policy as it stands picks an optimal radius.
    hit_ratio_time
        Share of a run's iterations spent in such states; NaN for strings, whose visits are not computed.
    """

    expected_runtime: float
    regret: float
    guarded_runtime: float
    guarded_regret: float
    hit_ratio: float
    hit_ratio_time: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def guard(setting: Setting, policy: Policy, left: BoolArray) -> Policy:
    """The policy with the smallest radius of the portfolio in states that were never seen to be left with its own.

    Parameters
    ----------
    left
        Whether the state was seen to be left with the policy's radius, in the shape of the policy's table.
    """
    states = exists(setting.n, setting.state)
    table = np.where(states & ~left, setting.radii[0], policy.table)
    return Policy(setting.n, setting.state, table, f"{policy.name}, guarded")


def score(best: Solution, policy: AnyPolicy, left: BoolArray | None = None) -> Score:
    """Score a policy against the solution of its setting; without ``left``, and if it draws, nothing is guarded."""
    setting = best.setting
    raw, safe = runtimes(setting, policy, left)
    hits = _hits_of_strings(best, policy) if setting.state == "bits" else hit_ratio(setting, policy)
    return Score(raw, regret(best, raw), safe, regret(best, safe), hits.states, hits.time)


def runtimes(setting: Setting, policy: AnyPolicy, left: BoolArray | None) -> tuple[float, float]:
    """Expected runtimes of the policy as it stands and guarded, evaluated once if the guard changes nothing."""
    raw = evaluate(setting, policy).expected_runtime
    if left is None or not isinstance(policy, Policy):
        return raw, raw
    guarded = guard(setting, policy, left)
    if np.array_equal(guarded.table, policy.table):
        return raw, raw
    return raw, evaluate(setting, guarded).expected_runtime


def regret(best: Solution, runtime: float) -> float:
    """``runtime / optimal runtime - 1``; NaN if even the optimal policy may never finish."""
    optimum = best.expected_runtime
    return float("nan") if np.isinf(optimum) else runtime / optimum - 1.0


def _hits_of_strings(best: Solution, policy: AnyPolicy) -> HitRatio:
    """A radius is optimal in a string if no better time than its own exists: one portfolio of one radius at a time.

    Not computed for a policy that draws its radius.
    """
    setting = best.setting
    if not isinstance(policy, Policy):
        return HitRatio(float("nan"), float("nan"))
    kind = setting.n, setting.objective, setting.selection
    hits = np.zeros(setting.shape, dtype=bool)
    states = exists(setting.n, setting.state)
    for k in np.unique(policy.table[states]):
        times, _ = bits.bellman(*kind, np.array([k], dtype=np.int64), best.values)
        hits |= (policy.table == k) & (times <= best.values * (1.0 + TIE_TOLERANCE))
    return HitRatio(float(hits[states].mean()), float("nan"))
