"""Settings: what is accepted, what is refused and with which words."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.setting import MAX_N, OBJECTIVES, SELECTIONS, STATES


def test_defaults() -> None:
    setting = kflip.Setting(7)
    assert (setting.n, setting.objective, setting.selection, setting.state) == (7, "loom", "standard", "lo-om")
    assert str(setting.portfolio) == "full"
    assert setting.radii == (1, 2, 3, 4, 5, 6, 7)


@pytest.mark.parametrize("n", [0, -1, -(10**30), np.int64(0)])
def test_n_below_one(n: int) -> None:
    with pytest.raises(kflip.InputError, match=f"at least 1, not {n}"):
        kflip.Setting(n)


@pytest.mark.parametrize("n", [True, False, 4.0, 4.5, float("nan"), "4", None, [4], np.bool_(1), np.float64(4), 4 + 0j])
def test_n_is_a_whole_number(n: Any) -> None:
    with pytest.raises(kflip.InputError, match="n must be a whole number"):
        kflip.Setting(n)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64])
def test_numpy_integers_become_plain(kind: Any) -> None:
    setting = kflip.Setting(kind(12))
    assert type(setting.n) is int
    assert setting == kflip.Setting(12)
    assert hash(setting) == hash(kflip.Setting(12))


@pytest.mark.parametrize("state", STATES)
def test_largest_n(state: str) -> None:
    limit = MAX_N[state]
    assert kflip.Setting(limit, state=state, portfolio=[1]).n == limit
    for n in (limit + 1, 10**30):
        with pytest.raises(kflip.TooLargeError, match=f"n = {n} is too large: state '{state}' goes up to n = {limit}"):
            kflip.Setting(n, state=state)


@pytest.mark.parametrize(
    ("words", "nearest"),
    [
        ({"objective": "l0"}, "'lo'"),
        ({"objective": "looom"}, "'loom'"),
        ({"selection": "strikt"}, "'strict'"),
        ({"selection": "Standard"}, "'standard'"),
        ({"state": "lo_om"}, "'lo-om'"),
        ({"state": "bit"}, "'bits'"),
        ({"portfolio": "power-of-two"}, "'powers-of-two'"),
        ({"portfolio": "evenly-spread"}, "'evenly-spread-M'"),
        ({"portfolio": "Full"}, "'full'"),
    ],
)
def test_unknown_word_with_nearest_match(words: dict[str, str], nearest: str) -> None:
    ((kind, word),) = words.items()
    with pytest.raises(kflip.InputError) as caught:
        kflip.Setting(4, **words)
    message = str(caught.value)
    assert f"unknown {kind} {word!r}" in message
    assert f"Did you mean {nearest}?" in message


@pytest.mark.parametrize(("kind", "known"), [("objective", OBJECTIVES), ("selection", SELECTIONS), ("state", STATES)])
@pytest.mark.parametrize("word", ["", "zzzz", None, 3, ["lo"], np.array(["lo", "lo-om"]), b"lo"])
def test_words_outside_the_vocabulary(kind: str, known: tuple[str, ...], word: Any) -> None:
    with pytest.raises(kflip.InputError, match=f"unknown {kind} .*choose one of {', '.join(known)}"):
        kflip.Setting(4, **{kind: word})


def test_numpy_words_become_plain() -> None:
    setting = kflip.Setting(4, objective=np.str_("lo"))
    assert type(setting.objective) is str
    assert setting == kflip.Setting(4, "lo")


def test_frozen() -> None:
    setting = kflip.Setting(4)
    for name, value in (("n", 5), ("objective", "lo"), ("portfolio", "full")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(setting, name, value)
    assert setting.radii is setting.radii
    with pytest.raises(dataclasses.FrozenInstanceError):
        del setting.n


@pytest.mark.parametrize(
    "portfolio", [[1, 2], (2, 1), "1,2", " 2, 1 ,", {1, 2}, [1, 2, 1, 2], np.array([2, 1]), range(1, 3), iter([1, 2])]
)
def test_equal_portfolios_make_equal_settings(portfolio: Any) -> None:
    setting = kflip.Setting(4, portfolio=portfolio)
    reference = kflip.Setting(4, portfolio=kflip.Portfolio("1,2"))
    assert setting == reference
    assert hash(setting) == hash(reference)
    assert len({setting, reference}) == 1
    assert setting.radii == (1, 2)


def test_different_settings_differ() -> None:
    settings = {
        kflip.Setting(n, objective, selection, state, portfolio)
        for n in (4, 5)
        for objective in OBJECTIVES
        for selection in SELECTIONS
        for state in STATES
        for portfolio in ("full", "1,2", "1")
    }
    assert len(settings) == 2 * 2 * 2 * 3 * 3
    assert kflip.Setting(4) != "loom"


def test_asking_for_radii_does_not_change_equality() -> None:
    asked, fresh = kflip.Setting(6), kflip.Setting(6)
    assert asked.radii
    assert asked == fresh
    assert hash(asked) == hash(fresh)


@pytest.mark.parametrize(
    ("portfolio", "message"),
    [
        ([1, 5], "radius 5 in the portfolio is above n = 4"),
        ("9", "radius 9 in the portfolio is above n = 4"),
        ([0, 1], "radius 0 in the portfolio is below 1"),
        ("0", "below 1"),
        ([-2], "radius -2 in the portfolio is below 1"),
        ([], "empty portfolio"),
        ((), "empty portfolio"),
        (",", "empty portfolio"),
        ("", "unknown portfolio ''"),
    ],
)
def test_portfolio_that_does_not_fit(portfolio: Any, message: str) -> None:
    with pytest.raises(kflip.InputError, match=message):
        kflip.Setting(4, portfolio=portfolio)


@pytest.mark.parametrize(("state", "shape"), [("lo", (6,)), ("lo-om", (6, 6)), ("bits", (32,))])
def test_shape(state: str, shape: tuple[int, ...]) -> None:
    assert kflip.Setting(5, state=state).shape == shape


@pytest.mark.parametrize("portfolio", ["full", "powers-of-two", "initial-segment-3", "evenly-spread-2", [3, 1]])
def test_plain_values_make_the_same_setting(portfolio: Any) -> None:
    setting = kflip.Setting(8, "lo", "strict", "lo", portfolio)
    again = setting.to_dict()
    assert all(type(value) in (int, str) for value in again.values())
    assert kflip.Setting(**again) == setting
    assert pickle.loads(pickle.dumps(setting)) == setting
    assert dataclasses.replace(setting, n=8) == setting


def test_replacing_n_checks_the_portfolio_again() -> None:
    with pytest.raises(kflip.InputError, match="above n = 3"):
        dataclasses.replace(kflip.Setting(8, portfolio=[1, 7]), n=3)


def test_readable_text() -> None:
    assert str(kflip.Setting(9)) == "(LeadingOnes, OneMax), standard selection, seeing (LO, OM), n = 9"
    text = str(kflip.Setting(9, "lo", "strict", "bits", [1, 9]))
    assert text == "LeadingOnes, strict selection, seeing the string, n = 9, radii 1,9"
