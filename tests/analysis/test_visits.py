"""Visits against fundamental matrices of the dense chain."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import kflip
from kflip.analysis import visits
from tests.oracle import Dense

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


def dense_visits(matrix: NDArray[np.float64], start: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Expected visits and chance of a visit of every state; a state is absorbing if it leads only to itself."""
    absorbing = np.diag(matrix) == 1.0
    inner = ~absorbing
    fundamental = np.linalg.inv(np.eye(inner.sum()) - matrix[np.ix_(inner, inner)])
    expected, probability = np.zeros(len(matrix)), np.zeros(len(matrix))
    expected[inner] = start[inner] @ fundamental
    probability[inner] = expected[inner] / np.diag(fundamental)
    probability[absorbing] = start[absorbing] + expected[inner] @ matrix[np.ix_(inner, absorbing)]
    expected[absorbing] = np.where(probability[absorbing] > 0, np.inf, 0.0)
    expected[-1] = 0.0
    return expected, probability


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 7])
def test_fundamental_matrix(n: int, objective: str, selection: str) -> None:
    rng = np.random.default_rng(n)
    setting = kflip.Setting(n, objective, selection)
    dense = Dense.of(setting)
    stuck = 0
    for attempt in range(6):
        table = np.zeros((n + 1, n + 1), dtype=int)
        for lo, om in dense.states[:-1]:
            table[lo, om] = rng.integers(1, (n if attempt % 2 else n - lo) + 1)
        matrix = dense.chain([{int(table[s]): 1.0} for s in dense.states[:-1]])
        begin = dense.states[rng.integers(len(dense.states))]
        start = np.array([float(s == begin) for s in dense.states])
        expected, probability = dense_visits(matrix, start)
        result = visits(setting, table, start=begin)
        ours = np.array([result.expected[s] for s in dense.states])
        np.testing.assert_allclose(ours, expected, rtol=1e-9, atol=1e-12)
        seen = np.array([result.probability[s] for s in dense.states])
        np.testing.assert_allclose(seen, probability, rtol=1e-9, atol=1e-12)
        assert result.unfinished == pytest.approx(1.0 - probability[-1], abs=1e-10)
        assert np.count_nonzero(result.expected) == np.count_nonzero(ours)
        stuck += bool(np.isinf(expected).any())
    assert stuck > 0 or n <= 2


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_distributions_over_radii(objective: str, selection: str) -> None:
    setting = kflip.Setting(6, objective, selection)
    dense = Dense.of(setting)
    weights = np.random.default_rng(1).dirichlet(np.full(6, 0.3), size=setting.shape)
    rows = [dict(zip(setting.radii, weights[s], strict=True)) for s in dense.states[:-1]]
    result = visits(setting, weights, start=(0, 2))
    start = np.array([float(s == (0, 2)) for s in dense.states])
    expected, probability = dense_visits(dense.chain(rows), start)
    np.testing.assert_allclose([result.expected[s] for s in dense.states], expected, rtol=1e-9)
    np.testing.assert_allclose([result.probability[s] for s in dense.states], probability, rtol=1e-9)


@pytest.mark.parametrize(("objective", "selection"), KINDS[1:])
@pytest.mark.parametrize("rule", ["one-bit", "lo-optimal", "random-radius", "optimal"])
def test_sum_is_the_runtime(objective: str, selection: str, rule: str) -> None:
    setting = kflip.Setting(64, objective, selection)
    policy = kflip.solve(setting).policy if rule == "optimal" else rule
    result = visits(setting, policy)
    exact = kflip.evaluate(setting, policy)
    assert result.expected.sum() == pytest.approx(exact.expected_runtime, rel=1e-12)
    assert result.probability[64, 64] == pytest.approx(1.0, rel=1e-12)
    assert result.expected[~kflip.policy.exists(64, "lo-om")].any() == np.False_
    assert (result.probability >= 0).all()
    assert (result.probability <= 1).all()
    began = visits(setting, policy, start=(10, 30))
    assert began.expected.sum() == pytest.approx(exact.values[10, 30], rel=1e-12)
    assert not began.expected[:10].any()


@pytest.mark.parametrize("objective", ["lo", "loom"])
@pytest.mark.parametrize("start", [None, 2, (2, 4)])
def test_seeing_lo_alone(objective: str, start: tuple[int, int] | int | None) -> None:
    """Time on a level is the time in its states; a level is seen if one of its states is entered from below."""
    setting = kflip.Setting(8, objective, state="lo")
    table = np.array([3, 2, 1, 4, 2, 6, 2, 1, 0])  # radius 6 gets stuck at LO = 5
    rich = kflip.Setting(8, objective)
    dense = Dense.of(rich)
    matrix = dense.chain([{int(table[lo]): 1.0} for lo, _ in dense.states[:-1]])
    law = np.zeros(len(dense.states))
    for x in range(256):
        bits = f"{x:08b}"
        state = (len(bits) - len(bits.lstrip("1")), bits.count("1"))
        if start is None or start in (state[0], state):
            law[dense.states.index(state)] += 1.0
    law /= law.sum()
    expected, _ = dense_visits(matrix, law)
    result = visits(setting, table, start)
    levels = np.array([lo for lo, _ in dense.states])
    for lo in range(8):
        assert result.expected[lo] == pytest.approx(expected[levels == lo].sum(), rel=1e-10)
        below = np.where(np.isfinite(expected) & (levels < lo), expected, 0.0)
        flow = law[levels == lo].sum() + below @ matrix[:, levels == lo].sum(axis=1)
        assert result.probability[lo] == pytest.approx(flow, rel=1e-10, abs=1e-15)
    assert result.expected[8] == 0.0
    assert result.expected[5] == np.inf
    assert result.unfinished == pytest.approx(1.0 - result.probability[8], rel=1e-12)
    assert result.unfinished == pytest.approx(result.probability[5], rel=1e-12)


def test_half_of_all_levels() -> None:
    """On LeadingOnes, every policy that sees LO alone meets each level with probability 1/2."""
    for n in (5, 200):
        result = visits(kflip.Setting(n, "lo", state="lo"), "one-bit")
        assert result.probability[:n].tolist() == [0.5] * n
        assert result.expected[:n].tolist() == [n / 2] * n
        assert result.probability[n] == 1.0


def test_rare_states_keep_their_relative_accuracy() -> None:
    """On LO strict with one bit the suffix stays random: all ones of a level are visited as often as they are drawn."""
    n = 60
    result = visits(kflip.Setting(n, "lo", "strict"), "one-bit")
    for lo in (0, 10):
        N = n - lo - 1
        np.testing.assert_allclose(
            result.expected[lo, lo:n], n / 2 * kflip.exact.levels.binomial_weights(N), rtol=1e-12
        )
    assert result.expected[0, 0] < 1e-15


def test_progress_and_refusals() -> None:
    shares: list[float] = []
    visits(kflip.Setting(40), "one-bit", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with pytest.raises(kflip.InputError, match="bits"):
        visits(kflip.Setting(4, state="bits"), lambda x: 1)
