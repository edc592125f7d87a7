"""The policy sees LO alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from kflip._typing import FloatArray, IntArray
from kflip.errors import InputError
from kflip.exact import chain, lo_only
from kflip.exact.flips import fill_probabilities
from kflip.exact.levels import mean_over_suffixes
from kflip.exact.sweeps import Progress
from kflip.policy import AnyPolicy, Policy, lift
from kflip.setting import Setting
from kflip.spaces import lo_om
from kflip.spaces.results import BellmanCheck, Moments, Optimum


def kernels(setting: Setting) -> tuple[Any, Any]:
    """LeadingOnes has closed forms; on loom every step is an evaluation on (LO, OM)."""
    compiled = lo_only.values_of if setting.objective == "lo" else chain.sweep
    return compiled, compiled


def solve(setting: Setting, progress: Progress | None) -> Optimum:
    """LeadingOnes: the radius most likely to improve LO, for every LO.  Loom: the best policy that a search finds."""
    if setting.objective == "loom":
        return _search(setting, progress)
    n = setting.n
    table = lo_only.best_radii(n, _radii(setting))
    values, _, mean, _ = lo_only.values_of(n, lo_only.level_probabilities(n, table))
    return Optimum(values, table, mean, mean, True)


def moments(setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Moments:
    """Closed forms on LeadingOnes; on loom, means over a random string with the given LO."""
    if setting.objective == "loom":
        values, variances, mean, variance = lo_om.moments(setting, lift(policy, "lo-om"), progress)
        means = mean_over_suffixes(values)
        with np.errstate(invalid="ignore"):  # where a mean is infinite, so is the spread
            spread = variances + (values - means[:, None]) ** 2
        spread[np.isnan(spread) & ~np.isnan(values)] = np.inf
        return Moments(means, mean_over_suffixes(spread), mean, variance)
    if isinstance(policy, Policy):
        p = lo_only.level_probabilities(setting.n, policy.table.astype(np.int64))
    else:
        p = lo_only.mixed_probabilities(setting.n, policy.radii.astype(np.int64), policy.probabilities)
    return Moments(*lo_only.values_of(setting.n, p))


def times(setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
    """Time with each radius on level ``lo``: its own waiting time, then what follows any improvement."""
    need_markov(setting)
    (lo,) = index
    behind = 0.0
    for i in range(setting.n - 1, lo, -1):
        behind = 0.5 * values[i] + 0.5 * behind
    return _times(setting, lo, behind)[0]


def check(setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
    """Every level against every radius."""
    need_markov(setting)
    of_policy = of_others = delta = behind = 0.0
    for lo in range(setting.n - 1, -1, -1):
        value = float(values[lo])
        times, p = _times(setting, lo, behind)
        behind = 0.5 * value + 0.5 * behind
        best = float(times.min())
        if np.isinf(value):
            of_others = max(of_others, 0.0 if np.isinf(best) else np.inf)
            continue
        chosen = float(times[setting.radii.index(int(policy.table[lo]))])
        of_policy = max(of_policy, abs(chosen - value) / value)
        of_others = max(of_others, (value - best) / value)
        delta = max(delta, float(((value - times).clip(0.0) * p).max()))
    return BellmanCheck(of_policy, of_others, delta if np.isfinite(of_others) else np.inf)


def _search(setting: Setting, progress: Progress | None) -> Optimum:
    # the search solves and evaluates on (LO, OM), so it can only be imported once this package is
    from kflip.analysis.less_information import best_lo_only

    found = best_lo_only(setting, progress=progress)
    values = moments(setting, found.policy, None).values
    return Optimum(values, found.table, found.expected_runtime, found.lower_bound, found.proven_optimal)


def need_markov(setting: Setting) -> None:
    """Refuse what needs LO to be a Markov state."""
    if setting.objective == "loom":
        raise InputError("LO alone is not a Markov state of objective 'loom': selection looks at OM")


def _times(setting: Setting, lo: int, behind: float) -> tuple[FloatArray, FloatArray]:
    p, q = np.zeros(setting.n + 2), np.zeros(setting.n + 2)
    fill_probabilities(setting.n, lo, p, q)
    chances = p[_radii(setting)]
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / chances + behind), chances


def _radii(setting: Setting) -> IntArray:
    return np.array(setting.radii, dtype=np.int64)
