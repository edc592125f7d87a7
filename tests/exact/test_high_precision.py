"""Every kind of state at n = 512 against the Bellman right-hand side in extended precision.

The weights come from mpmath log-factorials with 50 digits; sums run in 80-bit floats over all terms above 1e-26, for
every radius: no recurrences, no pruning, nothing shared with the kernels.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray

import kflip
from kflip.exact.rational import prove
from kflip.exact.sweeps import acceptance

N_BITS = 512
SAMPLES = 1000
Long = np.longdouble
LongArray = NDArray[np.longdouble]


@pytest.fixture(scope="module")
def log_factorial() -> LongArray:
    with mpmath.workdps(50):
        total = mpmath.mpf(0)
        rows = [Long(0)]
        for m in range(1, N_BITS + 2):
            total += mpmath.log(m)
            high = float(total)
            rows.append(Long(high) + Long(float(total - high)))
    return np.array(rows, dtype=Long)


def log_comb(table: NDArray[Any], top: NDArray[np.int64], bottom: NDArray[np.int64]) -> NDArray[Any]:
    inside = (bottom >= 0) & (bottom <= top)
    low = np.where(inside, bottom, 0)
    value = table[top] - table[low] - table[top - low]
    return np.where(inside, value, -np.inf)


def suffix_means(
    table: LongArray, f: LongArray, N: int, a: int, flips: NDArray[np.int64]
) -> tuple[LongArray, LongArray]:
    """For every number of flips: weights over the lost ones ``x = 0..a`` and the values they lead to."""
    x = np.arange(a + 1)[None, :]
    k = flips[:, None]
    # double precision decides which terms are worth extended precision: those above 1e-26
    rough = table.astype(np.float64)
    coarse = log_comb(rough, np.full_like(x, a), x) + log_comb(rough, np.full_like(k - x, N - a), k - x)
    rows, lost = np.nonzero(coarse - log_comb(rough, np.full_like(k, N), k) > -60.0)
    chosen = flips[rows]
    weight = np.zeros((flips.size, a + 1), dtype=Long)
    value = np.zeros((flips.size, a + 1), dtype=Long)
    weight[rows, lost] = np.exp(
        log_comb(table, np.full_like(lost, a), lost)
        + log_comb(table, np.full_like(lost, N - a), chosen - lost)
        - log_comb(table, np.full_like(chosen, N), chosen)
    )
    value[rows, lost] = f[a + chosen - 2 * lost]
    return weight, value


def right_hand_side(table: LongArray, mode: str, W: LongArray, T: LongArray, n: int, lo: int, a: int) -> LongArray:
    """Time with every radius ``1..n - lo`` used until the state changes."""
    N = n - lo - 1
    k = np.arange(1, N + 2)
    p = np.exp(log_comb(table, np.full_like(k, N), k - 1) - log_comb(table, np.full_like(k, n), k))
    q = np.exp(log_comb(table, np.full_like(k, N), k) - log_comb(table, np.full_like(k, n), k))
    weight, value = suffix_means(table, W, N, a, k - 1)
    top = 1 + p * (weight * value).sum(axis=1)
    bottom = p.copy()
    if mode != "lo strict":
        inner = k[k <= N]
        weight, value = suffix_means(table, T, N, a, inner)
        reached = a + inner[:, None] - 2 * np.arange(a + 1)[None, :]
        accepted = reached > a if mode == "loom" else reached != a
        top[: inner.size] += q[: inner.size] * np.where(accepted, weight * value, 0).sum(axis=1)
        bottom[: inner.size] += q[: inner.size] * np.where(accepted, weight, 0).sum(axis=1)
    return top / bottom


def sample_states(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Half anywhere; half with LO <= 5, or OM within 5 of LO or of n - 1."""
    states: list[tuple[int, int]] = []
    while len(states) < SAMPLES:
        lo = int(rng.integers(0, n))
        om = int(rng.integers(lo, n))
        edge = len(states) % 2
        if edge:
            kind = int(rng.integers(0, 3))
            if kind == 0:
                lo = int(rng.integers(0, 6))
                om = int(rng.integers(lo, n))
            elif kind == 1:
                om = min(n - 1, lo + int(rng.integers(0, 6)))
            else:
                om = max(lo, n - 1 - int(rng.integers(0, 6)))
        states.append((lo, om))
    return states


@pytest.mark.parametrize("mode", ["loom", "lo strict", "lo standard"])
def test_states_at_512(mode: str, log_factorial: LongArray) -> None:
    n = N_BITS
    objective, selection = ("loom", "standard") if mode == "loom" else ("lo", mode.split()[1])
    solution = kflip.solve(kflip.Setting(n, objective, selection))
    values = solution.values.astype(Long)
    behind: dict[int, LongArray] = {n - 1: np.zeros(1, dtype=Long)}
    for lo in range(n - 2, -1, -1):
        N = n - lo - 1
        a = np.arange(N + 1, dtype=Long)
        stay = np.append(values[lo + 1, lo + 1 : n], Long(0))
        behind[lo] = (N - a) / N * stay + a / N * np.concatenate([[Long(0)], behind[lo + 1]])
    for lo, om in sample_states(n, np.random.default_rng(512)):
        times = right_hand_side(log_factorial, mode, behind[lo], values[lo, lo:n], n, lo, om - lo)
        best = times.min()
        assert abs(solution.values[lo, om] / best - 1) < 1e-11, (lo, om)
        chosen = solution.policy.at(lo, om)
        assert times[chosen - 1] <= best * (1 + Long(1e-11)), (lo, om)
        smaller = times[: chosen - 1]
        assert not (smaller < best * (1 + Long(1e-13))).any(), (lo, om)


@pytest.mark.parametrize(
    ("objective", "selection", "n"), [("loom", "standard", 18), ("lo", "strict", 18), ("lo", "standard", 11)]
)
@pytest.mark.parametrize("portfolio", ["full", "powers-of-two", "evenly-spread-3"])
def test_fractions_prove_optimality(objective: str, selection: str, n: int, portfolio: str) -> None:
    setting = kflip.Setting(n, objective, selection, portfolio=portfolio)
    solution = kflip.solve(setting)
    proof = prove(n, acceptance(objective, selection), np.array(setting.radii), solution.policy.table)
    assert proof.better == []
    assert proof.larger == []
    for state, value in proof.values.items():
        assert solution.values[state] == pytest.approx(float(value), rel=1e-12)
    assert solution.expected_runtime == pytest.approx(float(proof.expected_runtime), rel=1e-12)
