"""Both levels against the law computed on all bit strings, and against each other where strings are too many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from kflip import evaluate, solve
from kflip.policy import Policy, StochasticPolicy, exists
from kflip.setting import Setting
from kflip.simulate import Runs, simulate

RULES = [(objective, selection) for objective in ("lo", "loom") for selection in ("standard", "strict")]
RUNS = 20_000


def random_policy(setting: Setting, stochastic: bool, seed: int) -> Policy | StochasticPolicy:
    """Any radii at all: some of them leave states that nothing can be done in."""
    rng = np.random.default_rng(seed)
    here = exists(setting.n, setting.state)
    if not stochastic:
        # small radii more often, so that most runs finish
        table = np.minimum(rng.integers(1, setting.n + 1, setting.shape), rng.integers(1, 4, setting.shape))
        return Policy(setting.n, setting.state, np.where(here, table, 0))
    weights = rng.dirichlet(np.full(setting.n, 0.3), setting.shape) * here[..., None]
    return StochasticPolicy(setting.n, setting.state, np.arange(1, setting.n + 1), weights)


def counts_of(runs: Runs, longest: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    times = np.where(runs.finished, np.minimum(runs.runtimes, longest), longest)
    return np.bincount(times, minlength=longest + 1)


@pytest.mark.parametrize("stochastic", [False, True])
@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
@pytest.mark.parametrize(("objective", "selection"), RULES)
def test_runtime_and_states_follow_the_chain_on_strings(
    objective: str, selection: str, state: str, stochastic: bool, string_chain: Any, agrees: Any
) -> None:
    setting = Setting(5, objective, selection, state)
    policy = random_policy(setting, stochastic, seed=RULES.index((objective, selection)))
    chain = string_chain(setting, policy)
    start = np.full(2**5, 2.0**-5)
    for level in ("bits",) if state == "bits" else ("bits", "state"):
        runs = simulate(setting, policy, RUNS, 3, level=level, record="trajectories", max_iterations=400)
        assert agrees(counts_of(runs, 60), chain.runtime_law(start, 60))
        assert runs.trajectories is not None
        rows = runs.trajectories
        # the last change within 6 iterations
        early = np.flatnonzero(rows.iteration <= 6)
        last = early[np.append(np.diff(rows.run[early]) > 0, True)]
        assert last.size == RUNS
        seen = np.zeros((6, 6), dtype=np.int64)
        np.add.at(seen, (rows.lo[last], rows.om[last]), 1)
        assert agrees(seen.ravel(), chain.state_law(start, 6).ravel())


@pytest.mark.parametrize("level", ["bits", "state"])
@pytest.mark.parametrize(("objective", "selection"), RULES)
def test_start_states_follow_the_chain_on_strings(
    objective: str, selection: str, level: str, string_chain: Any, agrees: Any
) -> None:
    setting = Setting(5, objective, selection)
    policy = random_policy(setting, False, seed=9)
    chain = string_chain(setting, policy)
    start = np.array([float(chain.lo_om(x) == (1, 3)) for x in range(32)])
    runs = simulate(setting, policy, RUNS, 4, level=level, start=(1, 3))
    assert agrees(counts_of(runs, 40), chain.runtime_law(start / start.sum(), 40))


@pytest.mark.parametrize("state", ["lo-om", "bits"])
def test_start_strings_follow_the_chain_on_strings(state: str, string_chain: Any, agrees: Any) -> None:
    setting = Setting(5, "lo", "standard", state)
    policy = random_policy(setting, True, seed=2)
    chain = string_chain(setting, policy)
    start = np.zeros(32)
    start[0b01101] = 1.0
    for given in ("01101", [0, 1, 1, 0, 1], np.array([False, True, True, False, True])):
        runs = simulate(setting, policy, RUNS, 5, level="bits", start=given)
        assert agrees(counts_of(runs, 40), chain.runtime_law(start, 40))


CASES: dict[str, tuple[Setting, Callable[[Setting], Any]]] = {
    "optimal-loom": (Setting(40), lambda s: solve(s).policy),
    "optimal-lo-strict": (Setting(30, "lo", "strict"), lambda s: solve(s).policy),
    "optimal-lo-standard": (Setting(30, "lo", "standard"), lambda s: solve(s).policy),
    "lo-only": (Setting(33, "lo", "standard", "lo"), lambda s: "lo-optimal"),
    "lo-only-on-loom": (Setting(70, "loom", "strict", "lo"), lambda s: "lo-optimal"),
    "one-bit": (Setting(65), lambda s: "one-bit"),
    "three-radii": (Setting(40, portfolio=[1, 4, 9]), lambda s: solve(s).policy),
    "stochastic-loom": (Setting(24, portfolio=[1, 2, 5]), lambda s: "random-radius"),
    "stochastic-lo-strict": (Setting(20, "lo", "strict", "lo", [1, 3]), lambda s: "random-radius"),
    "one-bit-string": (Setting(1), lambda s: "one-bit"),
}


@pytest.mark.parametrize("name", CASES)
def test_levels_agree_with_each_other_and_with_exact_moments(name: str) -> None:
    setting, make = CASES[name]
    policy = make(setting)
    exact = evaluate(setting, policy)
    sampled = {level: simulate(setting, policy, 4000, 17, level=level) for level in ("bits", "state")}
    for runs in sampled.values():
        assert runs.finished.all()
        assert abs(runs.mean - exact.expected_runtime) < 4 * exact.std / np.sqrt(4000)
        fourth = np.mean((runs.runtimes - runs.mean) ** 4)
        spread = np.sqrt(max(fourth - runs.std**4, 0.0) / 4000)
        assert abs(runs.std**2 - exact.std**2) < 5 * spread + 1e-2
    assert stats.ks_2samp(sampled["bits"].runtimes, sampled["state"].runtimes).pvalue > 1e-3


@pytest.mark.parametrize("level", ["bits", "state"])
def test_one_bit_flips_on_loom_collect_coupons(level: str) -> None:
    # every flip of a zero is accepted and no other: from z zeros the mean is n (1 + 1/2 + ... + 1/z)
    n, om = 50, 20
    runs = simulate(Setting(n), "one-bit", 4000, 1, level=level, start=(3, om))
    left = np.arange(1, n - om + 1)
    mean, variance = (n / left).sum(), ((n / left) ** 2 - n / left).sum()
    assert abs(runs.mean - mean) < 4 * np.sqrt(variance / 4000)


@pytest.mark.parametrize("level", ["bits", "state"])
def test_one_bit_flips_with_strict_selection_repair_zeros_in_order(level: str) -> None:
    # each zero waits for its own bit: a geometric time of mean n
    n, om = 40, 33
    runs = simulate(Setting(n, "lo", "strict"), "one-bit", 4000, 1, level=level, start=(5, om))
    zeros = n - om
    law = stats.nbinom(zeros, 1 / n, loc=zeros)
    assert abs(runs.mean - law.mean()) < 4 * law.std() / np.sqrt(4000)
    quantiles = law.ppf([0.1, 0.5, 0.9])
    np.testing.assert_allclose(runs.ecdf(quantiles), law.cdf(quantiles), atol=0.03)
