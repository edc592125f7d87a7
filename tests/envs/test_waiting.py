"""Truncated geometric times against sums in extended precision."""

from __future__ import annotations

import mpmath
import pytest

from kflip.envs.waiting import change_within, mean_inverse_wait, mean_wait

CHANCES = [0.9, 0.3, 0.02, 1e-3, 3e-5]
BUDGETS = [1, 2, 17, 4096, 4097, 30_000]


def _sum(p: float, r: int) -> mpmath.mpf:
    with mpmath.workdps(40):
        q, total, power = 1 - mpmath.mpf(p), mpmath.mpf(0), mpmath.mpf(p)
        for g in range(1, r + 1):
            total += power / g
            power *= q
            if power < 1e-30:
                break
        return total


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("r", BUDGETS)
def test_mean_inverse_wait_is_the_sum(p: float, r: int) -> None:
    assert mean_inverse_wait(p, float(r)) == pytest.approx(float(_sum(p, r)), rel=2e-13)


@pytest.mark.parametrize("p", CHANCES)
def test_without_budget_the_sum_is_a_logarithm(p: float) -> None:
    with mpmath.workdps(40):
        exact = float(-mpmath.mpf(p) * mpmath.log(mpmath.mpf(p)) / (1 - mpmath.mpf(p)))
    assert mean_inverse_wait(p, 2.0**62) == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize(("p", "r"), [(1e-12, 10**9), (1e-9, 10**12), (1e-7, 10**7)])
def test_long_waits_against_the_incomplete_gamma_function(p: float, r: int) -> None:
    # for p this small the sum is an integral up to a relative p
    with mpmath.workdps(30):
        rate = -mpmath.log1p(-mpmath.mpf(p))
        harmonic = mpmath.quad(lambda y: -mpmath.expm1(-rate * mpmath.exp(y)), [-60, *range(-40, 60, 4), mpmath.log(r)])
        exact = p * (mpmath.harmonic(r) - harmonic) if r * p < 40 else -p * mpmath.log(p)
    assert mean_inverse_wait(p, float(r)) == pytest.approx(float(exact), rel=1e-6)


@pytest.mark.parametrize("p", CHANCES)
@pytest.mark.parametrize("r", [1, 5, 200])
def test_mean_wait_is_the_sum_of_survivals(p: float, r: int) -> None:
    assert mean_wait(p, float(r)) == pytest.approx(sum((1 - p) ** g for g in range(r)), rel=1e-12)
    assert change_within(p, float(r)) == pytest.approx(1 - (1 - p) ** r, rel=1e-12)


def test_certain_and_impossible_changes() -> None:
    assert (change_within(1.0, 3.0), mean_wait(1.0, 3.0), mean_inverse_wait(1.0, 3.0)) == (1.0, 1.0, 1.0)
    assert (mean_wait(0.0, 7.0), mean_inverse_wait(0.0, 7.0)) == (7.0, 0.0)
