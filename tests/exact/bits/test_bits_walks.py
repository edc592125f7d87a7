"""Sums over strings at every distance against direct summation, for all block shapes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kflip.exact.bits.counts import level_counts, suffix_weights
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.walks import NOTHING, best_of, extremes_above, mean_after

Array = NDArray[np.float64]

#: Fewer bits than lanes, one block, several blocks on threads.
SIZES = [0, 1, 2, 3, 5, 8, 12, 13]


def sums_at(z: int, X: Array, Y: Array) -> Array:
    """``H_k(z)`` for ``k = 0..N+1``."""
    ones = suffix_weights(Y.size.bit_length() - 1)
    distance = ones[np.arange(Y.size) ^ z].astype(np.int64)
    length = int(ones[-1]) + 2
    return np.asarray(np.bincount(distance, X, length) + np.bincount(distance + 1, Y, length))


def some_targets(N: int, window: tuple[int, int]) -> list[int]:
    ones = suffix_weights(N)
    inside = np.flatnonzero((ones >= window[0]) & (ones <= window[1]))
    return [int(z) for z in np.random.default_rng(N).permutation(inside)[:40]]


def test_weights() -> None:
    assert suffix_weights(6).tolist() == [x.bit_count() for x in range(64)]


@pytest.mark.parametrize("N", SIZES)
@pytest.mark.parametrize("with_level", [True, False])
def test_best_of(N: int, with_level: bool) -> None:
    rng = np.random.default_rng(N)
    X, Y = rng.random(1 << N), rng.random(1 << N)
    radii = np.unique([1, (N + 2) // 3 + 1, N + 1])
    constant, divisor = 5.0 * rng.random(radii.size), 1.0 + rng.random(radii.size)
    for window in [(0, N), (N // 2, N // 2), (N, N), (0, 0)]:
        values, table = np.full(1 << N, -1.0), np.zeros(1 << N, dtype=np.uint8)
        with Crew() as crew:
            best_of(crew, X if with_level else NOTHING, Y, window, radii, constant, divisor, values, table)
        targets = some_targets(N, window)
        for z in targets:
            times = (constant + sums_at(z, X * with_level, Y)[radii]) / divisor
            assert values[z] == pytest.approx(times.min(), rel=1e-13)
            assert table[z] == radii[times.argmin()]
        outside = np.flatnonzero((suffix_weights(N) < window[0]) | (suffix_weights(N) > window[1]))
        assert (values[outside] == -1.0).all()


@pytest.mark.parametrize("N", SIZES)
def test_a_range_of_radii(N: int) -> None:
    rng = np.random.default_rng(N)
    X, Y = rng.random(1 << N), rng.random(1 << N)
    n = N + 3
    for k in range(1, N + 2):
        level = level_counts(n, n - N - 1, np.array([k]))
        means = np.zeros(1 << N)
        with Crew() as crew:
            table = np.full(1 << N, k, dtype=np.int64)
            mean_after(crew, X, Y, (0, N), level.radii, level.offspring, table, means)
        for z in some_targets(N, (0, N))[:5]:
            assert means[z] == pytest.approx(sums_at(z, X, Y)[k] / level.offspring[0], rel=1e-13)


@pytest.mark.parametrize("N", [0, 2, 6, 12])
def test_extremes(N: int) -> None:
    Y = np.random.default_rng(N).random(1 << N)
    radii = np.arange(1, N + 2)
    with Crew() as crew:
        low, high = extremes_above(crew, Y, radii)
    ones = suffix_weights(N)
    heavy = N - 1 if N > 8 else 0
    for v in range(heavy, N + 1):
        sums = np.array([sums_at(int(z), 0.0 * Y, Y)[1:] for z in np.flatnonzero(ones == v)])
        np.testing.assert_allclose(low[v], sums.min(axis=0), rtol=1e-13)
        np.testing.assert_allclose(high[v], sums.max(axis=0), rtol=1e-13)


def test_infinite_sources_stay_where_they_are() -> None:
    N = 4
    X, Y = np.zeros(16), np.ones(16)
    X[0b0011] = np.inf
    radii = np.array([1, 2])
    values, table = np.zeros(16), np.full(16, 7, dtype=np.uint8)
    with Crew() as crew:
        best_of(crew, X, Y, (0, N), radii[:1], np.zeros(1), np.ones(1), values, table)
    neighbours = {0b0010, 0b0001, 0b0111, 0b1011}
    assert set(np.flatnonzero(np.isinf(values)).tolist()) == neighbours
    assert {z for z in range(16) if table[z] == 7} == neighbours


def test_counts_of_moves() -> None:
    level = level_counts(7, 2, np.array([1, 2, 3, 5, 7]))
    assert level.N == 4
    assert level.radii.tolist() == [1, 2, 3, 5]
    assert level.offspring.tolist() == [7, 21, 35, 21]
    assert level.rising.tolist() == [1, 4, 6, 1]
    for r, k in enumerate(level.radii.tolist()):
        for v in range(5):
            z = (1 << v) - 1
            reached = [y.bit_count() for y in range(16) if (y ^ z).bit_count() == k]
            assert level.between[v, :, r].tolist() == [reached.count(w) for w in range(5)]
    assert (level.here, level.above) == (slice(96, 112), slice(112, 128))
