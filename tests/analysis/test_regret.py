"""Regret by state sums to the regret, and hits are what the solution calls optimal."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.analysis import hit_ratio, regret_by_state, visits
from kflip.policy import exists

KINDS = [("loom", "standard"), ("lo", "standard"), ("lo", "strict")]


def random_table(n: int, largest: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    rng = np.random.default_rng(2)
    table = np.zeros((n + 1, n + 1), dtype=np.int64)
    for lo, om in np.argwhere(exists(n, "lo-om")):
        table[lo, om] = rng.integers(1, min(largest, n - lo) + 1)
    return table


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("which", ["one-bit", "lo-optimal", "random-radius", "random", "wild"])
def test_sum(objective: str, selection: str, which: str) -> None:
    setting = kflip.Setting(64, objective, selection)
    tables = {"random": random_table(64, 3), "wild": random_table(64, 64)}
    policy = tables.get(which, which)
    lost = regret_by_state(setting, policy)
    assert (lost >= 0).all()
    assert not lost[~exists(64, "lo-om")].any()
    difference = kflip.evaluate(setting, policy).expected_runtime - kflip.solve(setting).expected_runtime
    assert lost.sum() == pytest.approx(difference, rel=1e-9)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_the_optimum_loses_nothing(objective: str, selection: str) -> None:
    setting = kflip.Setting(40, objective, selection)
    best = kflip.solve(setting).policy
    assert not regret_by_state(setting, best).any()
    assert hit_ratio(setting, best) == kflip.analysis.HitRatio(1.0, 1.0)


@pytest.mark.parametrize(
    ("objective", "selection", "state"), [(*kind, "lo-om") for kind in KINDS] + [("lo", "strict", "lo")]
)
@pytest.mark.parametrize("portfolio", ["full", "1,2,4"])
def test_hits(objective: str, selection: str, state: str, portfolio: str) -> None:
    """Every state on its own, ties included, for tables and for distributions."""
    setting = kflip.Setting(8, objective, selection, state, portfolio)
    best = kflip.solve(setting)
    rng = np.random.default_rng(6)
    table = np.where(exists(8, state), rng.choice(setting.radii, setting.shape), 0)
    table = np.where(exists(8, state) & (rng.random(setting.shape) < 0.5), 1, table)
    weights = rng.dirichlet(np.ones(len(setting.radii)), size=setting.shape)
    right: list[bool] = []
    mixed: list[float] = []
    spent: list[float] = []
    seen = visits(setting, weights).expected
    tied = 0
    for index in map(tuple, np.argwhere(exists(8, state))):
        optimal = best.optimal_radii(*index)
        right.append(table[index] in optimal)
        mixed.append(sum(weights[index][c] for c, k in enumerate(setting.radii) if k in optimal))
        spent.append(seen[index])
        tied += len(optimal) > 1
    assert 0 < sum(right) < len(right)
    assert hit_ratio(setting, table).states == pytest.approx(np.mean(right))
    both = hit_ratio(setting, weights)
    assert both.states == pytest.approx(np.mean(mixed))
    assert both.time == pytest.approx(np.dot(spent, mixed) / np.sum(spent))
    assert tied > 0 or objective == "lo"


def test_seeing_lo_alone() -> None:
    setting = kflip.Setting(50, "lo", state="lo")
    best = kflip.solve(setting)
    for policy in ("one-bit", "random-radius", "lo-optimal"):
        exact = kflip.evaluate(setting, policy)
        lost = regret_by_state(setting, policy)
        assert lost.shape == (51,)
        difference = exact.expected_runtime - best.expected_runtime
        assert lost.sum() == pytest.approx(difference, rel=1e-9, abs=1e-9)
    assert hit_ratio(setting, "lo-optimal").states == 1.0
    # flipping one bit is best from LO = 25 on, and all levels take equally long
    assert hit_ratio(setting, "one-bit").states == 0.5
    assert hit_ratio(setting, "one-bit").time == pytest.approx(0.5)


def test_stuck() -> None:
    setting = kflip.Setting(5)
    lost = regret_by_state(setting, kflip.rules.constant(3))
    assert lost[4, 4] == np.inf
    assert lost[3, 3] == np.inf
    assert not np.isnan(lost).any()
    assert hit_ratio(setting, kflip.rules.constant(3)).time == 0.0


@pytest.mark.parametrize("state", ["lo", "lo-om"])
def test_hopeless(state: str) -> None:
    """Where even the optimal policy may never finish, all radii tie, and there is no regret to split."""
    setting = kflip.Setting(5, "lo", state=state, portfolio="2,3")
    values = kflip.solve(setting).values
    lost = regret_by_state(setting, kflip.rules.constant(3))
    assert np.isinf(values[4]).any()
    assert np.isnan(lost[np.isinf(values)]).all()
    finite = np.isfinite(values)
    assert (lost[finite] >= 0).all()
    # long runs spend their time where they are stuck: with radius 3 also where radius 2 would have finished
    seen = visits(setting, kflip.rules.constant(3))
    stuck = np.isinf(seen.expected)
    share = seen.probability[stuck & np.isinf(values)].sum() / seen.probability[stuck].sum()
    assert hit_ratio(setting, kflip.rules.constant(3)).time == pytest.approx(share)
    assert (share == 1.0) == (state == "lo")


def test_refusals() -> None:
    for function in (regret_by_state, hit_ratio):
        with pytest.raises(kflip.InputError, match="Markov"):
            function(kflip.Setting(5, state="lo"), "one-bit")
        with pytest.raises(kflip.InputError, match="bits"):
            function(kflip.Setting(5, state="bits"), lambda x: 1)
    shares: list[float] = []
    regret_by_state(kflip.Setting(30), "one-bit", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
