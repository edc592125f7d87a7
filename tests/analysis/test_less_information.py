"""The best policy that sees LO alone on (LeadingOnes, OneMax), against trying them all."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.analysis import best_lo_only


def brute_force(n: int, radii: tuple[int, ...]) -> float:
    """Smallest expected runtime over all tables, level by level from the top, from one-step laws as fractions."""
    setting = kflip.Setting(n)
    weight: dict[tuple[int, int], float] = {}
    for x in range(2**n):
        bits = f"{x:0{n}b}"
        state = (len(bits) - len(bits.lstrip("1")), bits.count("1"))
        weight[state] = weight.get(state, 0.0) + 0.5**n
    moves = {
        (lo, om, k): {s: float(p) for s, p in kflip.transitions(setting, (lo, om), k).next.items()}
        for lo in range(n)
        for om in range(lo, n)
        for k in radii
        if k <= n - lo
    }

    def search(lo: int, values: dict[tuple[int, int], float]) -> float:
        if lo < 0:
            return sum(w * values[s] for s, w in weight.items())
        best = np.inf
        for k in radii:
            if k > n - lo:
                continue
            level = dict(values)
            for om in range(n - 1, lo - 1, -1):
                law = moves[lo, om, k]
                stay = law.get((lo, om), 0.0)
                level[lo, om] = (1.0 + sum(p * level[s] for s, p in law.items() if s != (lo, om))) / (1.0 - stay)
            best = min(best, search(lo - 1, level))
        return best

    return search(n - 1, {(n, n): 0.0})


@pytest.mark.parametrize("portfolio", ["full", "powers-of-two", "initial-segment-3"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7])
def test_brute_force(n: int, portfolio: str) -> None:
    setting = kflip.Setting(n, portfolio=portfolio)
    result = best_lo_only(setting)
    assert result.expected_runtime == pytest.approx(brute_force(n, setting.radii), rel=1e-12)
    assert result.proven_optimal
    assert result.lower_bound == result.expected_runtime


@pytest.mark.parametrize("portfolio", ["full", "powers-of-two", "evenly-spread-3"])
def test_proof(portfolio: str) -> None:
    setting = kflip.Setting(32, portfolio=portfolio, state="lo")
    result = best_lo_only(setting)
    exact = kflip.evaluate(setting, result.policy)
    assert result.expected_runtime == pytest.approx(exact.expected_runtime, rel=1e-13)
    assert result.proven_optimal
    assert kflip.solve(kflip.Setting(32, portfolio=portfolio)).expected_runtime < result.lower_bound
    # an independent look at the claim: no change of one or two random radii helps
    rng = np.random.default_rng(1)
    for _ in range(200):
        table = result.table.copy()
        for lo in rng.integers(0, 8, size=2):
            table[lo] = rng.choice(setting.radii)
        assert kflip.evaluate(setting, table).expected_runtime >= result.expected_runtime * (1 - 1e-12)


def test_a_pair_of_radii_beats_every_single_change() -> None:
    """At n = 64 coordinate descent stops at radius 7 for LO = 0; the proof finds 64 and 7 for LO = 0 and 1."""
    setting = kflip.Setting(64)
    descent = best_lo_only(setting, budget=0)
    assert descent.table[:4].tolist() == [7, 1, 1, 1]
    assert not descent.proven_optimal
    assert descent.expected_runtime == pytest.approx(258.10149607085987, rel=1e-12)
    for lo in range(64):
        for k in range(1, 65 - lo):
            if lo < 3 or k < 4:
                table = descent.table.copy()
                table[lo] = k
                changed = kflip.evaluate(kflip.Setting(64, state="lo"), table).expected_runtime
                assert changed >= descent.expected_runtime * (1 - 1e-12)
    partly = best_lo_only(setting, budget=5_000)
    assert partly.table[:4].tolist() == [64, 7, 1, 1]
    assert partly.expected_runtime < descent.expected_runtime
    optimum = kflip.solve(setting).expected_runtime
    assert optimum < descent.lower_bound < partly.lower_bound < partly.expected_runtime
    assert partly.examined == 5_000


def test_nothing_finishes_without_one() -> None:
    result = best_lo_only(kflip.Setting(6, portfolio="2,3"))
    assert result.expected_runtime == np.inf
    assert result.table.tolist() == [2] * 6 + [0]


def test_refusals_and_progress() -> None:
    with pytest.raises(kflip.InputError, match="objective 'lo'"):
        best_lo_only(kflip.Setting(6, "lo"))
    with pytest.raises(kflip.InputError, match="budget"):
        best_lo_only(kflip.Setting(6), budget=-1)
    shares: list[float] = []
    best_lo_only(kflip.Setting(24), progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
