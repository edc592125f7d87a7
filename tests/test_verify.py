"""Verification: good solutions pass, and every single tampering is caught."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.objectives import bits_of
from kflip.policy import exists
from kflip.verify import RATIONAL_N

KINDS = (("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict"))
NAMES = ["values of the policy", "expected runtime", "Bellman equation, every state and radius"]


def failed(verification: kflip.Verification) -> list[str]:
    return [check.name for check in verification.checks if not check.passed]


def altered(solution: kflip.Solution, index: tuple[int, ...], value: float) -> kflip.Solution:
    values = solution.values.copy()
    values[index] = value
    return dataclasses.replace(solution, values=values)


def with_radius(solution: kflip.Solution, index: tuple[int, ...], k: int) -> kflip.Solution:
    table = solution.policy.table.copy()
    table[index] = k
    return dataclasses.replace(solution, policy=dataclasses.replace(solution.policy, table=table))


def optimal_radii(solution: kflip.Solution, index: tuple[int, ...]) -> tuple[int, ...]:
    if solution.setting.state == "bits":
        return solution.optimal_radii(x=bits_of(index[0], solution.setting.n))
    return solution.optimal_radii(*index)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 2, 5, 10, 16, 40])
@pytest.mark.parametrize("portfolio", ["full", "powers-of-two"])
def test_good_solutions_pass(n: int, objective: str, selection: str, portfolio: str) -> None:
    result = kflip.verify(kflip.solve(kflip.Setting(n, objective, selection, portfolio=portfolio)))
    assert result.passed
    assert failed(result) == []
    rational = [check for check in result.checks if check.name == "exact fractions"]
    assert len(rational) == (n <= RATIONAL_N[objective])
    assert [check.name for check in result.checks][:3] == NAMES
    assert all(check.deviation <= 1e-12 for check in result.checks)
    if rational:
        assert "proved without tolerance" in rational[0].proves


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("n", [1, 6, 50])
def test_good_solutions_of_lo_pass(n: int, selection: str) -> None:
    result = kflip.verify(kflip.solve(kflip.Setting(n, "lo", selection, "lo")))
    assert result.passed
    assert [check.name for check in result.checks] == NAMES


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 3, 6])
def test_good_solutions_of_bits_pass(n: int, objective: str, selection: str) -> None:
    result = kflip.verify(kflip.solve(kflip.Setting(n, objective, selection, "bits")))
    assert result.passed
    assert [check.name for check in result.checks] == NAMES


@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
@pytest.mark.parametrize("portfolio", [[2], [2, 3], [6]])
def test_solutions_that_never_finish_pass(state: str, portfolio: list[int]) -> None:
    solution = kflip.solve(kflip.Setting(6, "lo", state=state, portfolio=portfolio))
    assert solution.expected_runtime == np.inf
    result = kflip.verify(solution)
    assert result.passed
    assert len(result.checks) == 3


SETTINGS = [kflip.Setting(5, objective, selection) for objective, selection in KINDS[1:]]
SETTINGS.append(kflip.Setting(6, "lo", state="lo"))
SETTINGS.append(kflip.Setting(4, "lo", "strict", "bits"))
SETTINGS.append(kflip.Setting(4, "loom", "standard", "bits"))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_worse_radius_is_caught(setting: kflip.Setting) -> None:
    solution = kflip.solve(setting)
    tried = 0
    for index in map(tuple, np.argwhere(exists(setting.n, setting.state)).tolist()):
        for k in set(setting.radii) - set(optimal_radii(solution, index)):
            tried += 1
            assert not kflip.verify(with_radius(solution, index, k)).passed, (index, k)
    assert tried > setting.n


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_a_worse_policy_with_its_own_right_values_is_caught(setting: kflip.Setting) -> None:
    worse = kflip.evaluate(setting, "one-bit")
    assert isinstance(worse.policy, kflip.Policy)
    solution = kflip.Solution(setting, worse.policy, worse.values, worse.expected_runtime)
    result = kflip.verify(solution)
    assert failed(result) == NAMES[2:]
    assert result.checks[2].deviation > 0.01


def test_a_larger_radius_that_ties_is_caught_for_small_n() -> None:
    solution = kflip.solve(kflip.Setting(8))
    ties = [
        (index, radii)
        for index in map(tuple, np.argwhere(exists(8, "lo-om")).tolist())
        if len(radii := solution.optimal_radii(*index)) > 1
    ]
    assert ties
    for index, radii in ties:
        result = kflip.verify(with_radius(solution, index, radii[-1]))
        assert failed(result) == ["exact fractions"]
        assert "1 a smaller optimal one" in result.checks[-1].proves


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize(
    "change", [lambda v: v * (1 + 1e-7), lambda v: v + 1, lambda v: -v, lambda v: np.nan, lambda v: np.inf]
)
def test_every_altered_value_is_caught(setting: kflip.Setting, change: Any) -> None:
    solution = kflip.solve(setting)
    for index in map(tuple, np.argwhere(exists(setting.n, setting.state)).tolist()):
        result = kflip.verify(altered(solution, index, change(solution.values[index])))
        assert "values of the policy" in failed(result), index


@pytest.mark.parametrize("value", [1e-300, 1.0, np.nan, np.inf])
def test_an_altered_optimum_is_caught(value: float) -> None:
    for setting in SETTINGS:
        solution = kflip.solve(setting)
        index = tuple(size - 1 for size in setting.shape)
        assert "values of the policy" in failed(kflip.verify(altered(solution, index, value)))


def test_a_value_where_no_state_exists_is_caught() -> None:
    solution = kflip.solve(kflip.Setting(5))
    for index in ((3, 2), (0, 5), (5, 0)):
        assert "values of the policy" in failed(kflip.verify(altered(solution, index, 1.0)))


def test_a_finite_value_instead_of_infinity_is_caught() -> None:
    solution = kflip.solve(kflip.Setting(5, portfolio=[2, 3]))
    for index in map(tuple, np.argwhere(np.isinf(solution.values)).tolist()):
        assert "values of the policy" in failed(kflip.verify(altered(solution, index, 50.0)))
        assert "values of the policy" in failed(kflip.verify(altered(solution, index, -np.inf)))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("factor", [1 + 1e-7, 0.5, -1.0, np.nan, np.inf, 0.0])
def test_an_altered_runtime_is_caught(setting: kflip.Setting, factor: float) -> None:
    solution = kflip.solve(setting)
    tampered = dataclasses.replace(solution, expected_runtime=solution.expected_runtime * factor)
    assert failed(kflip.verify(tampered)) == ["expected runtime"]


def test_the_solution_of_another_setting_is_caught() -> None:
    solution = kflip.solve(kflip.Setting(6, "lo", "standard"))
    assert not kflip.verify(dataclasses.replace(solution, setting=kflip.Setting(6, "lo", "strict"))).passed
    assert not kflip.verify(dataclasses.replace(solution, setting=kflip.Setting(6))).passed
    narrow = kflip.solve(kflip.Setting(6, portfolio=[1, 2]))
    assert not kflip.verify(dataclasses.replace(narrow, setting=kflip.Setting(6))).passed


def test_progress_runs_from_start_to_end() -> None:
    seen: list[float] = []
    kflip.verify(kflip.solve(kflip.Setting(30)), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
    assert all(0.0 <= done <= 1.0 for done in seen)
