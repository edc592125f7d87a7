"""Portfolio families against their definitions, and names that survive a round trip."""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kflip
from kflip import Portfolio


@pytest.mark.parametrize("n", range(1, 17))
def test_plain_families(n: int) -> None:
    assert Portfolio("full").radii(n) == tuple(k for k in range(1, n + 1))
    powers = [2**e for e in range(10) if 2**e <= n]
    assert Portfolio("powers-of-two").radii(n) == tuple(powers)


@pytest.mark.parametrize("n", range(1, 17))
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 40])
def test_sized_families(n: int, size: int) -> None:
    assert Portfolio(f"initial-segment-{size}").radii(n) == tuple(range(1, min(size, n) + 1))
    spread = {1} | {floor(i * n / size) for i in range(1, size)} - {0}
    assert Portfolio(f"evenly-spread-{size}").radii(n) == tuple(sorted(spread))


def test_the_paper_writes_one_third_and_two_thirds() -> None:
    for n in (3, 6, 9, 12, 96):
        assert Portfolio("evenly-spread-3").radii(n) == tuple(sorted({1, n // 3, 2 * n // 3}))
    assert Portfolio("evenly-spread-3").radii(4) == (1, 2)


@pytest.mark.parametrize("size", [10**6, 10**15, 10**100])
def test_huge_sizes_answer_at_once(size: int) -> None:
    assert Portfolio(f"evenly-spread-{size}").radii(9) == (1, 2, 3, 4, 5, 6, 7, 8)
    assert Portfolio(f"initial-segment-{size}").radii(9) == tuple(range(1, 10))


@pytest.mark.parametrize("text", ["9" * 5000, "1," + "9" * 5000, "initial-segment-" + "9" * 5000])
def test_numbers_beyond_what_python_reads(text: str) -> None:
    with pytest.raises(kflip.InputError, match="a number of 5000 digits"):
        Portfolio(text)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=12))
@settings(derandomize=True, database=None, max_examples=60, deadline=None)
def test_explicit_lists(radii: list[int]) -> None:
    portfolio = Portfolio.of(radii)
    assert portfolio.radii(50) == tuple(sorted(set(radii)))
    assert Portfolio(str(portfolio)) == portfolio
    assert Portfolio.of(tuple(reversed(radii))) == portfolio
    if max(radii) > 1:
        with pytest.raises(kflip.InputError, match=f"radius {max(radii)} in the portfolio is above n"):
            portfolio.radii(max(radii) - 1)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("full", "full"),
        ("powers-of-two", "powers-of-two"),
        ("initial-segment-3", "initial-segment-3"),
        ("initial-segment-003", "initial-segment-3"),
        ("evenly-spread-12", "evenly-spread-12"),
        ("5", "5"),
        (" 5 ", "5"),
        ("+5", "5"),
        ("05,1", "1,5"),
        ("1,2,5", "1,2,5"),
        ("5, 2,1,,2,", "1,2,5"),
    ],
)
def test_names_round_trip(written: str, name: str) -> None:
    portfolio = Portfolio(written)
    assert str(portfolio) == portfolio.name == name
    assert Portfolio(str(portfolio)) == portfolio
    assert hash(Portfolio(str(portfolio))) == hash(portfolio)
    assert Portfolio.of(portfolio) is portfolio


@pytest.mark.parametrize(
    "word",
    [
        "",
        "all",
        "full-3",
        "powers-of-three",
        "initial-segment",
        "initial-segment-M",
        "initial-segment--3",
        "1;2",
        "1.5",
    ],
)
def test_unknown_names(word: str) -> None:
    with pytest.raises(kflip.InputError, match=r"unknown portfolio .*initial-segment-M, evenly-spread-M"):
        Portfolio(word)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("initial-segment-0", "at least 1"),
        ("evenly-spread-0", "at least 1"),
        ("1,a", "radius 'a'"),
        ("1,2.5", "radius '2.5'"),
        ("-3", "radius -3"),
        ([True, 2], "radius True"),
        ([1.0], r"radius 1\.0"),
        (["1"], "radius '1'"),
        ([None], "radius None"),
        (np.array([1.0, 2.0]), "not a whole number"),
        (np.array([[1, 2], [3, 4]]), "not a whole number"),
        (3, "a name or a list of radii, not 3"),
        (None, "a name or a list of radii, not None"),
        (b"1,2", "a name or a list of radii, not b'1,2'"),
        (set(), "empty"),
    ],
)
def test_refused(spec: Any, message: str) -> None:
    with pytest.raises(kflip.InputError, match=message):
        Portfolio.of(spec)


def test_the_name_itself_is_a_string() -> None:
    with pytest.raises(kflip.InputError, match=r"see Portfolio\.of"):
        Portfolio([1, 2])  # type: ignore[arg-type]
