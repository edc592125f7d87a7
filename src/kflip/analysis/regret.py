"""Where a policy loses against the optimum, and how often it is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kflip._typing import FloatArray, IntArray
from kflip.analysis.request import known_policy, lo_om_chain
from kflip.analysis.visits import visits
from kflip.compilation import announce
from kflip.errors import InputError
from kflip.exact import advantages, lo_only
from kflip.exact.level_tables import level_tables
from kflip.exact.scan import TIE_TOLERANCE
from kflip.exact.sweeps import Progress, in_slices
from kflip.policy import AnyPolicy, Policy, PolicyLike, exists
from kflip.rules import Rule
from kflip.setting import Setting
from kflip.solution import solve


@dataclass(frozen=True)
class HitRatio:
    """How often a policy picks an optimal radius; ties within a relative 1e-12 all count.

    ``states`` is the share of states with an optimal radius, ``time`` the share of a run's iterations spent in such
    states; for a stochastic policy, the probability of picking one.
    """

    states: float
    time: float


def regret_by_state(setting: Setting, policy: PolicyLike | Rule, *, progress: Progress | None = None) -> FloatArray:
    """Split the expected runtime a policy loses over the states in which it loses it.

    Parameters
    ----------
    setting
        The benchmark, seeing ``"lo-om"``, or ``"lo"`` on objective ``"lo"``.
    policy
        Whatever :func:`kflip.evaluate` takes.
    progress
        Called now and then with the finished fraction.

    Returns
    -------
    Iterations lost in every state, in the shape of the policy's table, zero where no state exists: expected visits
    times the advantage of the radius under the optimal values.  They sum to the expected runtime minus the optimal
    one.  ``inf`` where the policy may lose the optimum for good, NaN in visited states from which even the optimal
    policy may.

    Examples
    --------
    >>> from kflip.setting import Setting
    >>> float(regret_by_state(Setting(4), "one-bit").sum().round(6))
    1.229167
    """
    chosen = known_policy(setting, policy)
    advantage, _ = _judge(setting, chosen, progress)
    spent = visits(setting, chosen).expected
    lost = np.zeros(setting.shape)
    lost[spent > 0.0] = spent[spent > 0.0] * advantage[spent > 0.0]
    return lost


def hit_ratio(setting: Setting, policy: PolicyLike | Rule, *, progress: Progress | None = None) -> HitRatio:
    """Share of states, and of the time of a run, in which a policy picks an optimal radius.

    Parameters as for :func:`regret_by_state`.  If runs may get stuck, almost all time of long runs is spent there: the
    share is then over the stuck runs.
    """
    chosen = known_policy(setting, policy)
    _, hit = _judge(setting, chosen, progress)
    seen = visits(setting, chosen)
    stuck = np.isinf(seen.expected)
    weight = seen.probability * stuck if stuck.any() else seen.expected
    everywhere = exists(setting.n, setting.state)
    return HitRatio(float(hit[everywhere].mean()), float((weight * hit).sum() / weight.sum()))


def _judge(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> tuple[FloatArray, FloatArray]:
    """Mean advantage of the policy's radii over the optimal values, and the share of optimal ones, for every state."""
    if setting.state == "lo":
        return _judge_lo(setting, policy)
    announce(advantages.sweep)
    best = solve(setting, progress=None if progress is None else lambda share: progress(0.8 * share))
    chain = lo_om_chain(setting, policy)
    t = level_tables(setting.n, np.array(setting.radii, dtype=np.int64))
    advantage, hit = np.zeros(setting.shape), np.zeros(setting.shape)
    values = best.values.copy()

    def run(first: int, last: int) -> None:
        advantages.sweep(
            first, last, chain.mode, values, chain.table, chain.radii, chain.probabilities, t, advantage, hit
        )

    in_slices(setting.n, run, None if progress is None else lambda share: progress(0.8 + 0.2 * share))
    return advantage, hit


def _judge_lo(setting: Setting, policy: AnyPolicy) -> tuple[FloatArray, FloatArray]:
    if setting.objective == "loom":
        raise InputError(
            "LO alone is not a Markov state of objective 'loom', so it has no optimal radii: use state 'lo-om'"
        )
    n = setting.n
    best = lo_only.level_probabilities(n, lo_only.best_radii(n, np.array(setting.radii, dtype=np.int64)))
    columns: list[tuple[IntArray, FloatArray | float]]
    if isinstance(policy, Policy):
        columns = [(policy.table.astype(np.int64), 1.0)]
    else:
        columns = [(np.full(n, k), policy.probabilities[:n, c]) for c, k in enumerate(policy.radii)]
    advantage, hit = np.zeros(n + 1), np.zeros(n + 1)
    for radii, share in columns:
        p = lo_only.level_probabilities(n, radii)
        optimal = p >= best * (1.0 - TIE_TOLERANCE)
        # Q - T = 1 + p (W - T) and T - W = 1 / best
        advantage[:n] += share * np.where(optimal, 0.0, 1.0 - p / np.where(best > 0.0, best, 1.0))
        hit[:n] += share * optimal
    infinite = np.isinf(solve(setting).values)  # where all radii tie
    return np.where(infinite, np.nan, advantage), np.where(infinite, 1.0, hit)
