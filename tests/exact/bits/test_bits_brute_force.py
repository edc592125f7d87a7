"""Optimal values and tie sets against policy iteration in fractions, portfolios without 1 among them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kflip.exact.bits import action_values, solve_standard, solve_strict
from kflip.exact.scan import TIE_TOLERANCE
from tests.exact.bits.brute_force import Strings

PORTFOLIOS = [
    (3, [1, 2, 3]),
    (3, [2]),
    (3, [2, 3]),
    (4, [1, 2, 3, 4]),
    (4, [1, 3]),
    (4, [2, 3]),
    (4, [2, 3, 4]),
    (4, [3, 4]),
    (4, [4]),
    (5, [1, 2, 3, 4, 5]),
    (5, [1, 4]),
    (5, [2, 3]),
    (5, [2, 5]),
    (5, [2, 3, 4, 5]),
]


@pytest.mark.parametrize("selection", ["strict", "standard"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
@pytest.mark.parametrize(("n", "portfolio"), PORTFOLIOS)
def test_optimum(n: int, portfolio: list[int], objective: str, selection: str) -> None:
    strings = Strings(n, objective, selection)
    exact, ties = strings.optimum(portfolio)
    radii = np.array(portfolio)
    solve = solve_strict if selection == "strict" else solve_standard
    values, table = solve(n, radii, objective)[:2]
    expected = np.array([float(value) for value in exact])
    assert (np.isinf(values) == np.isinf(expected)).all()
    finite = np.isfinite(expected)
    np.testing.assert_allclose(values[finite], expected[finite], rtol=1e-13, atol=0)
    for x in range(2**n - 1):
        if finite[x]:
            times = action_values(n, objective, selection, radii, values, x)
            assert set(radii[times <= values[x] * (1.0 + TIE_TOLERANCE)].tolist()) == ties[x]
            assert table[x] == min(ties[x])
        else:
            assert table[x] == portfolio[0]


def test_the_portfolios_cover_all_outcomes() -> None:
    hopeless = [
        sum(isinstance(value, float) for value in Strings(n, "lo", "standard").optimum(portfolio)[0])
        for n, portfolio in PORTFOLIOS
    ]
    sizes = [2**n - 1 for n, _ in PORTFOLIOS]
    assert 0 in hopeless
    assert any(0 < bad < size for bad, size in zip(hopeless, sizes, strict=True))


def test_suffixes_of_one_weight_differ_on_leading_ones() -> None:
    exact, _ = Strings(4, "lo", "standard").optimum([1])
    values, _, _ = solve_standard(4, np.array([1]), "lo")
    assert exact[0b0001] != exact[0b0100]
    assert values[0b0001] == pytest.approx(float(exact[0b0001]), rel=1e-14)
    assert isinstance(exact[0b0001], Fraction)
