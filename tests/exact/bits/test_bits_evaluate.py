"""Mean and variance of given policies: dense linear algebra, (LO, OM) policies, optimal tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kflip
from kflip.errors import InputError
from kflip.exact.bits import evaluate, solve_standard, solve_strict
from kflip.policy import Policy, lift
from tests.exact.bits.brute_force import Strings

SETTINGS = [(objective, selection) for objective in ("lo", "loom") for selection in ("strict", "standard")]


def draw(kind: str, n: int, radii: NDArray[np.int64], seed: int) -> NDArray[Any]:
    rng = np.random.default_rng(seed)
    size = 2**n
    if kind == "table":
        # half the strings play 1, so that some but not all of them may get stuck
        return np.where(rng.random(size) < 0.5, rng.choice(radii, size), 1)
    if kind == "rarely stuck":
        return np.where(rng.random(size) < 0.1, rng.choice(radii, size), 1)
    mix = rng.dirichlet(np.ones(radii.size), size)
    if kind == "sparse mix":
        mix *= rng.random(mix.shape) < 0.6
        mix[mix.sum(axis=1) == 0.0, 0] = 1.0
        mix /= mix.sum(axis=1, keepdims=True)
    return mix


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
@pytest.mark.parametrize("kind", ["table", "rarely stuck", "mix", "sparse mix"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_against_linear_algebra(n: int, kind: str, objective: str, selection: str) -> None:
    radii = np.arange(1, n + 1)
    policy = draw(kind, n, radii, seed=10 * n)
    by_radius = np.zeros((2**n, n + 1))
    if policy.ndim == 1:
        by_radius[np.arange(2**n), policy] = 1.0
    else:
        by_radius[:, radii] = policy
    mean, variance = Strings(n, objective, selection).moments(by_radius)
    values, variances = evaluate(n, objective, selection, radii, policy)
    assert (np.isinf(values) == np.isinf(mean)).all()
    assert (np.isinf(variances) == np.isinf(variance)).all()
    finite = np.isfinite(mean)
    np.testing.assert_allclose(values[finite], mean[finite], rtol=1e-11)
    np.testing.assert_allclose(variances[finite], variance[finite], rtol=1e-10, atol=1e-12)


def test_some_of_these_policies_get_stuck_and_some_do_not() -> None:
    def stuck(kind: str, n: int) -> int:
        radii = np.arange(1, n + 1)
        values, _ = evaluate(n, "loom", "standard", radii, draw(kind, n, radii, seed=10 * n))
        return int(np.isinf(values).sum())

    assert stuck("mix", 6) == 0
    assert any(0 < stuck("rarely stuck", n) < 2**n - 2 for n in (3, 4, 5, 6))
    assert any(0 < stuck("table", n) < 2**n - 2 for n in (3, 4, 5, 6))


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_probabilities_over_part_of_the_radii(objective: str, selection: str) -> None:
    n, radii = 5, np.array([1, 3, 5])
    table = np.random.default_rng(3).choice(radii[:2], 2**n)
    mix = (table[:, None] == radii[None, :]).astype(float)
    for by_table, by_mix in zip(
        evaluate(n, objective, selection, radii, table), evaluate(n, objective, selection, radii, mix), strict=True
    ):
        np.testing.assert_allclose(by_mix, by_table, rtol=1e-13)


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_policies_that_see_less(objective: str, selection: str) -> None:
    n = 9
    rng = np.random.default_rng(5)
    table = np.triu(rng.integers(1, 4, (n + 1, n + 1)))
    table[:, n] = 0
    # keep the radius small enough to be accepted at every LO
    for lo in range(n):
        table[lo] = np.minimum(table[lo], n - lo)
    coarse = Policy(n, "lo-om", table)
    lifted = lift(coarse, "bits")
    assert isinstance(lifted, Policy)
    values, variances = evaluate(n, objective, selection, np.arange(1, n + 1), lifted.table)
    expected = kflip.evaluate(kflip.Setting(n, objective, selection), coarse)
    assert values.mean() == pytest.approx(expected.expected_runtime, rel=1e-12)
    assert variances.mean() + values.var() == pytest.approx(expected.std**2, rel=1e-11)


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_optimal_tables_attain_the_optimum(objective: str, selection: str) -> None:
    n = 13
    radii = np.arange(1, n + 1)
    solve = solve_strict if selection == "strict" else solve_standard
    best, table = solve(n, radii, objective)[:2]
    values, variances = evaluate(n, objective, selection, radii, table)
    np.testing.assert_allclose(values, best, rtol=1e-13)
    # flipping all bits of 0...0 hits the optimum for certain
    assert values[0] == 1.0
    assert variances[0] == 0.0
    assert (variances[1:-1] > 1.0).all()


def test_progress_and_unknown_words() -> None:
    seen: list[float] = []
    evaluate(5, "lo", "strict", np.array([1]), np.ones(32, dtype=np.uint8), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(InputError, match="'loom'"):
        evaluate(3, "looom", "strict", np.array([1]), np.ones(8, dtype=np.int64))
    with pytest.raises(InputError, match="'strict'"):
        evaluate(3, "loom", "strikt", np.array([1]), np.ones(8, dtype=np.int64))
