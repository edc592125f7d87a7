"""Means, variances and optima against dense linear algebra on matrices counted out from one-step laws."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.exact.rational import prove
from kflip.exact.sweeps import acceptance
from tests.oracle import Dense

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_random_tables(n: int, objective: str, selection: str) -> None:
    rng = np.random.default_rng(n)
    setting = kflip.Setting(n, objective, selection)
    dense = Dense.of(setting)
    stuck = 0
    for attempt in range(8):
        # radii up to n - LO can leave a state; in half the trials anything goes, so some states get stuck
        table = np.zeros((n + 1, n + 1), dtype=int)
        for lo, om in dense.states[:-1]:
            table[lo, om] = rng.integers(1, (n if attempt % 2 else n - lo) + 1)
        mean, variance = dense.moments(dense.chain([{int(table[s]): 1.0} for s in dense.states[:-1]]))
        result = kflip.evaluate(setting, table)
        ours = np.array([result.values[s] for s in dense.states])
        spread = np.array([result.stds[s] for s in dense.states]) ** 2
        assert (np.isinf(ours) == np.isinf(mean)).all()
        assert (np.isinf(spread) == np.isinf(variance)).all()
        finite = np.isfinite(mean)
        np.testing.assert_allclose(ours[finite], mean[finite], rtol=1e-10)
        np.testing.assert_allclose(spread[finite], variance[finite], rtol=1e-7, atol=1e-7)
        stuck += int(np.isinf(mean).any())
    assert stuck > 0 or n == 1


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("portfolio", ["full", "2,3,5"])
def test_random_distributions(objective: str, selection: str, portfolio: str) -> None:
    rng = np.random.default_rng(7)
    setting = kflip.Setting(6, objective, selection, portfolio=portfolio)
    dense = Dense.of(setting)
    weights = rng.dirichlet(np.ones(len(setting.radii)), size=setting.shape)
    weights[rng.random(weights.shape) < 0.3] = 0.0
    weights[..., 0] += weights.sum(axis=-1) == 0.0
    weights /= weights.sum(axis=-1, keepdims=True)
    rows = [dict(zip(setting.radii, weights[s], strict=True)) for s in dense.states[:-1]]
    mean, variance = dense.moments(dense.chain(rows))
    result = kflip.evaluate(setting, weights)
    ours = np.array([result.values[s] for s in dense.states])
    np.testing.assert_allclose(ours, mean, rtol=1e-10)
    finite = np.isfinite(mean)
    spread = np.array([result.stds[s] for s in dense.states]) ** 2
    np.testing.assert_allclose(spread[finite], variance[finite], rtol=1e-8)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_start_moments(objective: str, selection: str) -> None:
    setting = kflip.Setting(7, objective, selection)
    result = kflip.evaluate(setting, kflip.rules.lo_optimal)
    weights = np.array([[kflip_start(7, lo, om) for om in range(8)] for lo in range(8)])
    values, variances = np.nan_to_num(result.values), np.nan_to_num(result.stds) ** 2
    mean = float((weights * values).sum())
    assert weights.sum() == pytest.approx(1.0, rel=1e-14)
    assert result.expected_runtime == pytest.approx(mean, rel=1e-13)
    assert result.std**2 == pytest.approx(float((weights * (variances + (values - mean) ** 2)).sum()), rel=1e-12)


def kflip_start(n: int, lo: int, om: int) -> float:
    """Share of the strings with this LO and OM, by counting."""
    strings = ((np.arange(2**n)[:, None] >> np.arange(n)) & 1).astype(bool)
    return float(((kflip.leading_ones(strings) == lo) & (kflip.one_max(strings) == om)).mean())


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("portfolio", ["2", "2,3", "3,4", "2,5", "1,5", "2,4,6", "1,2,3,4,5,6"])
def test_optimum_of_any_portfolio(objective: str, selection: str, portfolio: str) -> None:
    """Portfolios without 1 reach the optimum for certain from some states only."""
    setting = kflip.Setting(6, objective, selection, portfolio=portfolio)
    dense = Dense.of(setting)
    expected = dense.optimum()
    solution = kflip.solve(setting)
    ours = np.array([solution.values[s] for s in dense.states])
    np.testing.assert_allclose(ours, expected, rtol=1e-10)
    assert solution.residual < 1e-12
    again = kflip.evaluate(setting, solution.policy)
    np.testing.assert_allclose(np.array([again.values[s] for s in dense.states]), expected, rtol=1e-10)


def test_stuck_policies_are_infinite_at_once_for_large_n() -> None:
    for objective, selection in KINDS:
        result = kflip.evaluate(kflip.Setting(300, objective, selection), kflip.rules.constant(2))
        assert result.expected_runtime == np.inf
        assert result.regret == np.inf
        assert np.isinf(result.values[299, 299])
        solution = kflip.solve(kflip.Setting(300, objective, selection, portfolio=[2, 7]))
        assert solution.expected_runtime == np.inf


@pytest.mark.parametrize(
    ("objective", "selection", "n"), [("loom", "standard", 20), ("lo", "strict", 20), ("lo", "standard", 12)]
)
def test_hopeless_radii_dominate_exactly(objective: str, selection: str, n: int) -> None:
    """Rarely visited states with a radius that almost never succeeds: their cost must not be lost to truncation."""
    setting = kflip.Setting(n, objective, selection)
    table = np.array(kflip.solve(setting).policy.table)
    for lo in range(n // 2, n - 1):
        table[lo, lo] = n - lo
    proof = prove(n, acceptance(objective, selection), np.arange(1, n + 1), table)
    result = kflip.evaluate(setting, table)
    for state, value in proof.values.items():
        assert result.values[state] == pytest.approx(float(value), rel=1e-12)
    assert result.expected_runtime == pytest.approx(float(proof.expected_runtime), rel=1e-12)
    assert len(proof.better) > 0
