"""The law of the runtime against powers of dense matrices, closed forms and the exact moments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kflip
from kflip.analysis import runtime_distribution, visits
from tests.oracle import Dense

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


def random_table(setting: kflip.Setting, seed: int, *, stuck: bool) -> NDArray[np.int64]:
    rng = np.random.default_rng(seed)
    table = np.zeros(setting.shape, dtype=np.int64)
    for state in np.argwhere(kflip.policy.exists(setting.n, setting.state)):
        table[tuple(state)] = rng.integers(1, (setting.n if stuck else setting.n - state[0]) + 1)
    return table


def finished_by(matrix: NDArray[np.float64], start: NDArray[np.float64], steps: int) -> NDArray[np.float64]:
    law, shares = start.copy(), [start[-1]]
    for _ in range(steps):
        law = law @ matrix
        shares.append(law[-1])
    return np.array(shares)


def random_start_of(dense: Dense, n: int) -> NDArray[np.float64]:
    counts: dict[Any, int] = {}
    for x in range(2**n):
        bits = f"{x:0{n}b}"
        state = (len(bits) - len(bits.lstrip("1")), bits.count("1"))
        counts[state] = counts.get(state, 0) + 1
    return np.array([counts[state] for state in dense.states]) / 2**n


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 2, 6, 10])
def test_powers_of_the_matrix(n: int, objective: str, selection: str) -> None:
    setting = kflip.Setting(n, objective, selection)
    dense = Dense.of(setting)
    start = random_start_of(dense, n)
    for stuck in (False, True):
        table = random_table(setting, seed=n, stuck=stuck)
        matrix = dense.chain([{int(table[s]): 1.0} for s in dense.states[:-1]])
        law = runtime_distribution(setting, table)
        steps = min(law.end, 2000)
        np.testing.assert_allclose(law.cdf(np.arange(steps + 1)), finished_by(matrix, start, steps), atol=1e-12)
        limit = (start @ np.linalg.matrix_power(matrix, 2**40))[-1]
        assert law.cdf(law.end + 5) == pytest.approx(limit, abs=1e-11)
        assert law.unfinished == pytest.approx(1.0 - limit, abs=1e-11)
        if n > 2:
            assert (law.unfinished > 0) == stuck


@pytest.mark.parametrize(("objective", "selection"), KINDS[1:])
def test_distributions_over_radii(objective: str, selection: str) -> None:
    setting = kflip.Setting(7, objective, selection, portfolio="1,2,5")
    dense = Dense.of(setting)
    weights = np.random.default_rng(3).dirichlet(np.ones(3), size=setting.shape)
    rows = [dict(zip(setting.radii, weights[s], strict=True)) for s in dense.states[:-1]]
    law = runtime_distribution(setting, weights)
    expected = finished_by(dense.chain(rows), random_start_of(dense, 7), law.end)
    np.testing.assert_allclose(law.solved(np.arange(law.end + 1)), expected, atol=1e-12)


@pytest.mark.parametrize("state", [(0, 0), (2, 4), (5, 5), (6, 6)])
def test_one_start(state: tuple[int, int]) -> None:
    setting = kflip.Setting(6, "lo")
    dense = Dense.of(setting)
    table = random_table(setting, 1, stuck=False)
    matrix = dense.chain([{int(table[s]): 1.0} for s in dense.states[:-1]])
    start = np.array([float(s == state) for s in dense.states])
    law = runtime_distribution(setting, table, start=state)
    steps = min(law.end, 2000)
    np.testing.assert_allclose(law.cdf(np.arange(steps + 1)), finished_by(matrix, start, steps), atol=1e-12)
    assert law.mean == pytest.approx(kflip.evaluate(setting, table).values[state], rel=1e-9)


def test_geometric() -> None:
    law = runtime_distribution(kflip.Setting(20), "one-bit", start=(19, 19))
    t = np.arange(1, law.end + 1)
    np.testing.assert_allclose(law.pmf[1:], 0.05 * 0.95 ** (t - 1), rtol=1e-12)
    assert law.pmf[0] == 0.0
    assert law.tail == pytest.approx(0.95**law.end, rel=1e-10)
    assert law.tail <= 1e-12 < law.tail / 0.95


@pytest.mark.parametrize(("objective", "selection"), KINDS[1:])
@pytest.mark.parametrize("rule", ["one-bit", "lo-optimal", "optimal"])
def test_moments(objective: str, selection: str, rule: str) -> None:
    setting = kflip.Setting(40, objective, selection)
    policy = kflip.solve(setting).policy if rule == "optimal" else rule
    law = runtime_distribution(setting, policy)
    exact = kflip.evaluate(setting, policy)
    assert law.mean == pytest.approx(exact.expected_runtime, rel=1e-9)
    assert law.std == pytest.approx(exact.std, rel=1e-9)
    assert law.complete
    assert law.pmf.sum() + law.tail == pytest.approx(1.0, abs=1e-13)


@pytest.mark.parametrize("objective", ["lo", "loom"])
@pytest.mark.parametrize("start", [None, 3, (3, 7), 12])
def test_seeing_lo_alone(objective: str, start: Any) -> None:
    """The short recursion, where there is one, and the lifted policy give one law."""
    setting = kflip.Setting(12, objective, state="lo")
    rich = kflip.Setting(12, objective)
    table = np.array([*np.random.default_rng(5).integers(1, 4, 9), 2, 2, 1, 0])
    lifted = kflip.policy.lift(kflip.Policy(12, "lo", table), "lo-om")
    law = runtime_distribution(setting, table, start)
    if start in (None, (3, 7)):
        laws, weights = [runtime_distribution(rich, lifted, start)], [1.0]
    elif start == 12:
        laws, weights = [runtime_distribution(rich, lifted, (12, 12))], [1.0]
    else:
        laws = [runtime_distribution(rich, lifted, (3, om)) for om in range(3, 12)]
        weights = [w / 256 for w in (1, 8, 28, 56, 70, 56, 28, 8, 1)]
    t = np.arange(min(law.end, *(other.end for other in laws)) + 1)
    mixed = sum(w * other.cdf(t) for w, other in zip(weights, laws, strict=True))
    np.testing.assert_allclose(law.cdf(t), mixed, atol=2e-12)


def test_stuck_start_and_optimum() -> None:
    setting = kflip.Setting(4, "lo", "strict")
    stuck = runtime_distribution(setting, kflip.rules.constant(4), start=(2, 2))
    assert (stuck.unfinished, stuck.mean, stuck.std) == (1.0, np.inf, np.inf)
    assert stuck.cdf(10**9) == 0.0
    assert stuck.quantile(0.1) == np.inf
    done = runtime_distribution(setting, "one-bit", start=(4, 4))
    assert (done.mean, done.end, done.tail) == (0.0, 0, 0.0)
    assert done.quantile(1.0) == 0.0


def test_mass_at_infinity() -> None:
    setting = kflip.Setting(5)
    law = runtime_distribution(setting, kflip.rules.constant(3))
    assert 0 < law.unfinished < 1
    assert law.unfinished == pytest.approx(visits(setting, kflip.rules.constant(3)).unfinished, rel=1e-14)
    assert law.mean == np.inf
    assert law.cdf(np.inf) == pytest.approx(1.0 - law.unfinished, abs=1e-12)
    assert law.quantile([0.0, 1.0 - law.unfinished + 1e-9]).tolist() == [0.0, np.inf]


def test_quantiles() -> None:
    law = runtime_distribution(kflip.Setting(16), "one-bit")
    q = np.linspace(0.0, 0.999, 301)
    t = law.quantile(q)
    assert (law.cdf(t) >= q).all()
    assert ((law.cdf(t - 1) < q) | (t == 0)).all()
    assert law.quantile(1.0) == np.inf
    assert law.cdf([-1.0, -0.5, 2.7]).tolist() == [0.0, 0.0, float(law.cdf(2))]
    with pytest.raises(kflip.InputError, match="smaller tail"):
        law.quantile(1.0 - 1e-13)
    with pytest.raises(kflip.InputError, match=r"\[0, 1\]"):
        law.quantile(1.5)
    finer = runtime_distribution(kflip.Setting(16), "one-bit", tail=1e-15)
    assert finer.quantile(1.0 - 1e-13) > law.quantile(1.0 - 1e-11)
    np.testing.assert_allclose(finer.pmf[: law.end + 1], law.pmf, rtol=1e-12)


def test_limit() -> None:
    setting = kflip.Setting(40)
    table = random_table(setting, 0, stuck=False)
    with pytest.raises(kflip.TooLargeError, match="limit"):
        runtime_distribution(setting, table)
    law = runtime_distribution(setting, table, limit=700)
    assert (law.end, law.complete) == (700, False)
    assert law.tail == pytest.approx(1.0 - law.cdf(700), rel=1e-9)
    assert np.isnan(law.mean)
    assert np.isnan(law.std)
    with pytest.raises(kflip.InputError, match="cut after 700"):
        law.cdf([1, 701])
    whole = runtime_distribution(kflip.Setting(8), "one-bit")
    cut = runtime_distribution(kflip.Setting(8), "one-bit", limit=20)
    assert cut.pmf.tolist() == whole.pmf[:21].tolist()


def test_progress_and_refusals() -> None:
    shares: list[float] = []
    runtime_distribution(kflip.Setting(24, "lo"), "one-bit", progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    with pytest.raises(kflip.InputError, match="bits"):
        runtime_distribution(kflip.Setting(4, state="bits"), lambda x: 1)
    for start in (3, (1, 2, 3), (3, 2), (0, 4), "01"):
        with pytest.raises(kflip.InputError):
            runtime_distribution(kflip.Setting(4), "one-bit", start)  # type: ignore[arg-type]
    with pytest.raises(kflip.InputError, match="tail"):
        runtime_distribution(kflip.Setting(4), "one-bit", tail=0.0)
    with pytest.raises(kflip.InputError, match="limit"):
        runtime_distribution(kflip.Setting(4), "one-bit", limit=-1)
