"""The Bellman equation of every string against enumeration, and of every solution."""

from __future__ import annotations

import numpy as np
import pytest

from kflip.errors import InputError
from kflip.exact.bits import action_values, bellman, solve_standard, solve_strict
from tests.exact.bits.brute_force import Strings

SETTINGS = [(objective, selection) for objective in ("lo", "loom") for selection in ("strict", "standard")]


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
@pytest.mark.parametrize("infinite", [0.0, 0.05])
def test_action_values_of_any_values(objective: str, selection: str, infinite: float) -> None:
    n, radii = 5, np.array([1, 2, 4, 5])
    rng = np.random.default_rng(1)
    values = rng.random(2**n) * 10.0
    values[rng.random(2**n) < infinite] = np.inf
    values[-1] = 0.0
    strings = Strings(n, objective, selection)
    best, table = bellman(n, objective, selection, radii, values)
    for x in range(2**n - 1):
        expected = np.array([float(strings.action_value(x, k, values.tolist())) for k in radii.tolist()])
        np.testing.assert_allclose(action_values(n, objective, selection, radii, values, x), expected, rtol=1e-14)
        assert best[x] == pytest.approx(expected.min(), rel=1e-14)
        assert table[x] == (radii[expected.argmin()] if np.isfinite(expected).any() else radii[0])
    assert best[-1] == table[-1] == 0
    assert (action_values(n, objective, selection, radii, values, 2**n - 1) == 0.0).all()


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_larger_strings(objective: str, selection: str) -> None:
    n = 13
    radii = np.arange(1, n + 1)
    rng = np.random.default_rng(2)
    values = rng.random(2**n) * 10.0
    values[-1] = 0.0
    best, table = bellman(n, objective, selection, radii, values)
    for x in [0, 1, 2**n - 2, *rng.integers(0, 2**n - 1, 30).tolist()]:
        times = action_values(n, objective, selection, radii, values, x)
        assert best[x] == pytest.approx(times.min(), rel=1e-13)
        assert table[x] == radii[times.argmin()]


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
@pytest.mark.parametrize("portfolio", [range(1, 14), [1], [1, 2, 3], [1, 6, 13], [1, 2, 4, 8], [2, 3], [3, 5, 12, 13]])
def test_solutions_satisfy_it(objective: str, selection: str, portfolio: list[int]) -> None:
    n = 13
    radii = np.array(portfolio)
    solve = solve_strict if selection == "strict" else solve_standard
    values, table = solve(n, radii, objective)[:2]
    best, radius = bellman(n, objective, selection, radii, values)
    np.testing.assert_allclose(best, values, rtol=1e-13)
    assert (radius == table).all()


def test_a_wrong_value_shows() -> None:
    n, radii = 8, np.arange(1, 9)
    values, _ = solve_strict(n, radii, "loom")
    values[37] *= 1.0 + 1e-9
    best, _ = bellman(n, "loom", "strict", radii, values)
    violation = np.abs(best[:-1] / values[:-1] - 1.0)
    assert violation.argmax() == 37
    assert violation[37] == pytest.approx(1e-9, rel=1e-3)


def test_progress_and_unknown_words() -> None:
    seen: list[float] = []
    bellman(4, "lo", "strict", np.array([1]), np.zeros(16), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    with pytest.raises(InputError, match="'standard'"):
        action_values(3, "lo", "standart", np.array([1]), np.zeros(8), 0)
    with pytest.raises(InputError, match="'lo'"):
        bellman(3, "l", "strict", np.array([1]), np.zeros(8))
