"""The generators against their published outputs, and the draws made from them against their laws."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from kflip.simulate.starts import IN_STATE, draw_string, reveal
from kflip.simulate.state_level import climb_chance, lost_ones, survival
from kflip.simulate.streams import (
    GOLDEN,
    LIKELY,
    below,
    failure_scale,
    failures,
    hash_seed,
    next_word,
    ones_of_random_string,
    open_stream,
    split_mix,
    uniform,
)


class Source:
    """A stream to draw from: keeps the state that compiled functions return."""

    def __init__(self, run: int, seed: int = 7) -> None:
        self.state = self._typed(open_stream(hash_seed(seed), run))

    def draw(self, function: Callable[..., Any], *arguments: object) -> Any:
        *values, state = function(*arguments, self.state)
        self.state = self._typed(state)
        return values[0] if len(values) == 1 else values

    @staticmethod
    def _typed(state: Iterable[Any]) -> tuple[np.uint64, ...]:
        # numba hands unsigned words back as plain integers
        return tuple(np.uint64(word) for word in state)


def test_xoshiro_follows_the_published_sequence() -> None:
    source = Source(0)
    source.state = tuple(np.uint64(word) for word in (1, 2, 3, 4))
    words = [source.draw(next_word) for _ in range(6)]
    assert words == [11520, 0, 1509978240, 1215971899390074240, 1216172134540287360, 607988272756665600]


def test_split_mix_follows_the_published_sequence() -> None:
    with np.errstate(over="ignore"):
        counters = [np.uint64(1234567) + np.uint64(j) * GOLDEN for j in (1, 2, 3)]
    assert [int(split_mix(c)) for c in counters] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
    ]


def test_streams_of_different_runs_and_seeds_differ_in_every_word() -> None:
    states = [Source(run, seed).state for run in range(200) for seed in (0, 1, 2**64, 2**80 + 1)]
    for j in range(4):
        assert len({int(state[j]) for state in states}) == len(states)


@pytest.mark.parametrize("bound", [1, 2, 3, 50, 1000])
def test_bounded_integers_are_uniform(bound: int, agrees: Any) -> None:
    source = Source(bound)
    counts = np.zeros(bound, dtype=np.int64)
    for _ in range(20 * bound + 5000):
        counts[source.draw(below, bound)] += 1
    assert agrees(counts, np.full(bound, 1 / bound))


def test_bounded_integers_have_no_bias_where_multiplication_alone_would(agrees: Any) -> None:
    # without rejection, one residue in three would come up twice as often as each other
    bound = 3 << 30
    source = Source(0)
    counts = np.zeros(3, dtype=np.int64)
    for _ in range(6000):
        counts[source.draw(below, bound) % 3] += 1
    assert agrees(counts, np.full(3, 1 / 3))


def test_uniform_doubles_fill_the_unit_interval() -> None:
    source = Source(3)
    values = [source.draw(uniform) for _ in range(5000)]
    assert 0.0 <= min(values) < max(values) < 1.0
    assert stats.kstest(values, "uniform").pvalue > 1e-4


@pytest.mark.parametrize("success", [1.0, 0.5, LIKELY, 0.1, 0.01])
def test_failures_are_geometric(success: float, agrees: Any) -> None:
    source = Source(11)
    counts = np.zeros(60, dtype=np.int64)
    for _ in range(8000):
        counts[min(int(source.draw(failures, success, failure_scale(success))), 59)] += 1
    law = success * (1 - success) ** np.arange(60)
    law[59] = (1 - success) ** 59
    assert agrees(counts, law)


@pytest.mark.parametrize("success", [1e-18, 1e-300])
def test_rare_events_wait_long_but_not_forever(success: float) -> None:
    source = Source(5)
    scale = failure_scale(success)
    waits = [source.draw(failures, success, scale) * success for _ in range(4000)]
    assert np.isfinite(waits).all()
    assert stats.kstest(waits, "expon").pvalue > 1e-4


@pytest.mark.parametrize("n", [1, 5, 64, 100])
def test_ones_of_a_random_string_are_binomial(n: int, agrees: Any) -> None:
    source = Source(n)
    counts = np.zeros(n + 1, dtype=np.int64)
    for _ in range(4000):
        counts[source.draw(ones_of_random_string, n)] += 1
    assert agrees(counts, stats.binom.pmf(np.arange(n + 1), n, 0.5))


@pytest.mark.parametrize(
    ("N", "a", "k"), [(20, 4, 7), (20, 16, 7), (20, 4, 15), (20, 16, 15), (9, 0, 5), (9, 9, 5), (9, 3, 0), (9, 3, 9)]
)
def test_lost_ones_are_hypergeometric(N: int, a: int, k: int, agrees: Any) -> None:
    source = Source(N + a + k)
    counts = np.zeros(k + 1, dtype=np.int64)
    for _ in range(4000):
        counts[source.draw(lost_ones, N, a, k)] += 1
    assert agrees(counts, stats.hypergeom.pmf(np.arange(k + 1), N, a, k))


@pytest.mark.parametrize(("N", "a", "k"), [(20, 4, 1), (20, 9, 2), (20, 15, 7), (20, 20, 3), (5, 2, 6), (30, 3, 29)])
def test_climb_chance_sums_the_hypergeometric_law(N: int, a: int, k: int) -> None:
    x = np.arange(k + 1)
    exact = stats.hypergeom.pmf(x[2 * x < k], N, a, k).sum() if k <= N else 0.0
    assert climb_chance(N, a, k, np.ones(64)) == pytest.approx(exact, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(("n", "i", "k"), [(10, 0, 4), (10, 4, 1), (10, 3, 6), (10, 9, 1), (300, 20, 40)])
def test_survival_is_a_hypergeometric_zero(n: int, i: int, k: int) -> None:
    assert survival(n, i, k) == pytest.approx(stats.hypergeom.pmf(0, n, i, k), rel=1e-10)


def test_reveal_gives_the_law_of_leading_ones(agrees: Any) -> None:
    counts = np.zeros(4, dtype=np.int64)
    source = Source(2)
    for _ in range(4000):
        lo, ones = source.draw(reveal, 6, 1, 3)
        assert ones == 4 - lo
        counts[lo - 1] += 1
    # placements of three ones behind the first: 0**** has C(4, 3), 10*** C(3, 2), 110** C(2, 1), 11100 one
    assert agrees(counts, np.array([4, 3, 2, 1]) / 10)


def test_start_strings_of_a_state_are_uniform_among_its_placements(agrees: Any) -> None:
    source = Source(4)
    x = np.empty(6, dtype=np.uint8)
    nothing = np.zeros(0, dtype=np.uint8)
    seen: dict[str, int] = {}
    for _ in range(3000):
        source.draw(lambda *arguments: (draw_string(*arguments),), IN_STATE, 1, 3, nothing, x)
        text = "".join(map(str, x))
        seen[text] = seen.get(text, 0) + 1
    assert all(text.startswith("10") and text.count("1") == 3 for text in seen)
    assert len(seen) == 6
    assert agrees(np.array(list(seen.values())), np.full(6, 1 / 6))
