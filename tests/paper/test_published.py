"""Every published number and claim about (LO, OM)."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.exact.sweeps import solve_lo_om
from kflip.paper import series


@pytest.fixture(scope="module")
def comparisons() -> list[series.Comparison]:
    return list(series.compare())


def test_every_published_number_is_reproduced(comparisons: list[series.Comparison]) -> None:
    assert len(comparisons) == series.count() == 59
    for item in comparisons:
        assert item.as_published == pytest.approx(item.published, rel=1e-11), item
        assert item.verdict != "differs"


def test_the_omitted_starts_matter_for_small_n_only(comparisons: list[series.Comparison]) -> None:
    for item in comparisons:
        assert (item.verdict == "agrees") == (item.n >= 64), item


def test_a_wrong_number_is_noticed() -> None:
    wrong = series.Comparison("loom-optimal", 64, 0.9436745578753213, 0.94367456, 0.94367456)
    assert wrong.verdict == "differs"


def test_correct_totals_at_small_n() -> None:
    assert kflip.solve(kflip.Setting(4)).expected_runtime == pytest.approx(4.375, rel=1e-14)
    assert kflip.solve(kflip.Setting(8)).expected_runtime == pytest.approx(14.3683, abs=5e-5)


def test_easiest_and_hardest_state_of_loom_8() -> None:
    solution = kflip.solve(kflip.Setting(8))
    inner = solution.values.copy()
    inner[8, 8] = np.nan
    assert np.unravel_index(np.nanargmin(inner), inner.shape) == (0, 0)
    assert inner[0, 0] == pytest.approx(1.0)
    assert solution.policy.at(0, 0) == 8
    assert np.unravel_index(np.nanargmax(inner), inner.shape) == (3, 3)


@pytest.mark.parametrize(("selection", "worst", "runtime"), [("standard", 3, 6362.68), ("strict", 41, 7469.51)])
def test_worst_state_of_leading_ones_128(selection: str, worst: int, runtime: float) -> None:
    values = kflip.solve(kflip.Setting(128, "lo", selection)).values
    assert np.unravel_index(np.nanargmax(values), values.shape) == (worst, worst)
    assert np.nanmax(values) == pytest.approx(runtime, abs=0.005)


def test_one_bit_zone_of_strict_leading_ones_128() -> None:
    table = kflip.solve(kflip.Setting(128, "lo", "strict")).policy.table
    lo, om = np.nonzero(table)
    assert ((table[lo, om] == 1) == (om >= 96)).all()


def test_five_rounds_of_policy_iteration_are_not_enough() -> None:
    """The claim of at most five rounds per level fails from n = 32 on when every level starts from one bit."""
    most = {}
    for n in (8, 16, 32, 64, 128):
        _, _, rounds = solve_lo_om(n, "lo", "standard", np.arange(1, n + 1), warm=False)
        most[n] = int(rounds.max())
    assert most[8] <= 5
    assert most[128] > 5
    assert list(most.values()) == sorted(most.values())
    _, _, rounds = solve_lo_om(128, "lo", "standard", np.arange(1, 129))
    assert rounds.mean() < 2.5
