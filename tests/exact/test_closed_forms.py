"""Settings and policies with a known answer."""

from __future__ import annotations

import numpy as np
import pytest

import kflip


@pytest.mark.parametrize("n", [1, 2, 3, 17, 100, 300])
def test_one_bit_on_loom_is_a_coupon_collector(n: int) -> None:
    result = kflip.evaluate(kflip.Setting(n), kflip.rules.one_bit)
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    variance = np.concatenate([[0.0], np.cumsum((n / np.arange(1, n + 1)) ** 2 - n / np.arange(1, n + 1))])
    for om in range(n):
        zeros = n - om
        np.testing.assert_allclose(result.values[: om + 1, om], n * harmonic[zeros], rtol=1e-13)
        np.testing.assert_allclose(result.stds[: om + 1, om] ** 2, variance[zeros], rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("n", [1, 2, 9, 64, 257])
def test_one_bit_on_leading_ones(n: int, selection: str) -> None:
    result = kflip.evaluate(kflip.Setting(n, "lo", selection), kflip.rules.one_bit)
    assert result.expected_runtime == pytest.approx(n * n / 2, rel=1e-13)


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("n", [1, 5, 40, 150])
@pytest.mark.parametrize("portfolio", ["full", "powers-of-two", "1,3"])
def test_lo_only_policies_do_not_feel_the_selection(n: int, selection: str, portfolio: str) -> None:
    """The suffix stays uniform under both selections, so LO-only and (LO, OM) evaluations agree."""
    if portfolio == "1,3" and n < 3:
        portfolio = "1"
    seen = kflip.evaluate(kflip.Setting(n, "lo", selection, "lo", portfolio), kflip.rules.lo_optimal)
    rich = kflip.evaluate(kflip.Setting(n, "lo", selection, "lo-om", portfolio), kflip.rules.lo_optimal)
    assert rich.expected_runtime == pytest.approx(seen.expected_runtime, rel=1e-12)
    assert rich.std == pytest.approx(seen.std, rel=1e-11)
    mixed = kflip.evaluate(kflip.Setting(n, "lo", selection, "lo", portfolio), kflip.rules.random_radius)
    rich_mixed = kflip.evaluate(kflip.Setting(n, "lo", selection, "lo-om", portfolio), kflip.rules.random_radius)
    assert rich_mixed.expected_runtime == pytest.approx(mixed.expected_runtime, rel=1e-11)


@pytest.mark.parametrize("n", [2, 7, 30, 61])
def test_lo_only_optimum_is_the_largest_success_probability(n: int) -> None:
    solution = kflip.solve(kflip.Setting(n, "lo", state="lo"))
    assert solution.policy.table[:n].tolist() == [n // (lo + 1) for lo in range(n)]
    assert solution.residual < 1e-14
    tied = [lo for lo in range(n) if (n + 1) % (lo + 1) == 0 and lo < n and (n + 1) // (lo + 1) <= n - lo]
    for lo in range(n):
        assert (len(solution.optimal_radii(lo)) == 2) == (lo in tied and lo > 0)


@pytest.mark.parametrize("n", [16, 64, 128, 300])
def test_one_bit_zone_of_strict_leading_ones(n: int) -> None:
    """Where one bit is best for good, every acceptance costs n iterations and gains one bit."""
    solution = kflip.solve(kflip.Setting(n, "lo", "strict"))
    for om in range(-(-3 * n // 4), n):
        np.testing.assert_allclose(solution.values[: om + 1, om], n * (n - om), rtol=1e-13)


@pytest.mark.parametrize("n", [2, 16, 128])
def test_from_all_zeros_one_step(n: int) -> None:
    for objective, selection in [("loom", "standard"), ("lo", "strict"), ("lo", "standard")]:
        solution = kflip.solve(kflip.Setting(n, objective, selection))
        assert solution.policy.at(0, 0) == n
        assert solution.values[0, 0] == pytest.approx(1.0, rel=1e-14)


def test_loom_sees_no_difference_between_selections() -> None:
    standard, strict = (kflip.solve(kflip.Setting(40, "loom", s)) for s in ("standard", "strict"))
    assert (standard.policy.table == strict.policy.table).all()
    np.testing.assert_array_equal(standard.values, strict.values)


def test_more_radii_never_hurt() -> None:
    for objective, selection in [("loom", "standard"), ("lo", "strict"), ("lo", "standard")]:
        small, large = (
            kflip.solve(kflip.Setting(48, objective, selection, portfolio=p)) for p in ("powers-of-two", "full")
        )
        mask = ~np.isnan(large.values)
        assert (large.values[mask] <= small.values[mask] * (1 + 1e-12)).all()
        assert large.expected_runtime < small.expected_runtime
