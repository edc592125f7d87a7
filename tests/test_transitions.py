"""One iteration against counting: every string, every set of flipped positions, in exact fractions."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

import kflip

Law = dict[Any, Fraction]


def leading(x: int, n: int) -> int:
    text = format(x, f"0{n}b")
    return len(text) - len(text.lstrip("1"))


@cache
def strings(n: int) -> list[tuple[int, int]]:
    """(LO, OM) of all strings, read off their digits."""
    return [(leading(x, n), format(x, "b").count("1")) for x in range(2**n)]


@cache
def counted(n: int, k: int, state: str, objective: str, selection: str) -> dict[Any, tuple[Law, Law]]:
    """Law of the offspring and of the next state for every state, the strings of a state being equally likely."""
    pairs = strings(n)
    label: Any = {"lo": lambda x: pairs[x][0], "lo-om": lambda x: pairs[x], "bits": lambda x: x}[state]
    fitness: Any = (lambda x: pairs[x]) if objective == "loom" else (lambda x: pairs[x][0])
    flips = [sum(1 << b for b in chosen) for chosen in combinations(range(n), k)]
    offspring: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    after: dict[Any, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
    sizes: dict[Any, int] = defaultdict(int)
    for x in range(2**n):
        here = label(x)
        sizes[here] += 1
        for mask in flips:
            y = x ^ mask
            kept = fitness(y) >= fitness(x) if selection == "standard" else fitness(y) > fitness(x)
            offspring[here][label(y)] += 1
            after[here][label(y if kept else x)] += 1
    ways = comb(n, k)
    return {
        here: (
            {there: Fraction(count, sizes[here] * ways) for there, count in offspring[here].items()},
            {there: Fraction(count, sizes[here] * ways) for there, count in after[here].items()},
        )
        for here in sizes
    }


def agree(setting: kflip.Setting, k: int) -> int:
    laws = counted(setting.n, k, setting.state, setting.objective, setting.selection)
    for state, (offspring, after) in laws.items():
        result = kflip.transitions(setting, state, k)
        assert result.offspring == offspring, (state, k)
        assert result.next == after, (state, k)
        assert sum(result.offspring.values()) == sum(result.next.values()) == 1
        assert all(isinstance(chance, Fraction) and chance > 0 for chance in result.next.values())
        assert list(result.next) == sorted(result.next)
    return len(laws)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_lo_om(n: int, objective: str, selection: str) -> None:
    setting = kflip.Setting(n, objective, selection)
    assert sum(agree(setting, k) for k in range(1, n + 1)) == n * (n * (n + 1) // 2 + 1)


@pytest.mark.parametrize("n", range(1, 9))
@pytest.mark.parametrize("selection", ["standard", "strict"])
def test_lo(n: int, selection: str) -> None:
    setting = kflip.Setting(n, "lo", selection, "lo")
    assert sum(agree(setting, k) for k in range(1, n + 1)) == n * (n + 1)


@pytest.mark.parametrize("n", range(1, 7))
@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_bits(n: int, objective: str, selection: str) -> None:
    setting = kflip.Setting(n, objective, selection, "bits")
    assert sum(agree(setting, k) for k in range(1, n + 1)) == n * 2**n


@pytest.mark.parametrize("n", [20, 61, 200])
def test_laws_of_long_strings_sum_to_one(n: int) -> None:
    for k in (1, 2, n // 3, n - 1, n):
        for lo in (0, 1, n // 4, n - 2, n - 1, n):
            law = kflip.transitions(kflip.Setting(n, "lo", state="lo"), lo, k)
            assert sum(law.offspring.values()) == sum(law.next.values()) == 1
        for pair in ((0, 0), (1, n // 2), (n // 4, n - 1), (n, n)):
            law = kflip.transitions(kflip.Setting(n), pair, k)
            assert sum(law.offspring.values()) == sum(law.next.values()) == 1


def test_the_optimum_stays() -> None:
    for state, optimum in (("lo-om", (5, 5)), ("bits", 31)):
        for k in range(1, 6):
            assert kflip.transitions(kflip.Setting(5, state=state), optimum, k).next == {optimum: 1}


def test_every_way_to_name_a_state() -> None:
    pair = kflip.transitions(kflip.Setting(4), (1, 2), 2)
    for same in ([1, 2], np.array([1, 2]), (np.int8(1), np.uint64(2))):
        law = kflip.transitions(kflip.Setting(4), same, np.int64(2))  # type: ignore[arg-type]
        assert law == pair
        assert all(type(value) is int for state in law.next for value in state)
    bits = kflip.Setting(4, state="bits")
    for string in ([1, 0, 1, 1], np.array([True, False, True, True]), np.int64(11)):
        assert kflip.transitions(bits, string, 2) == kflip.transitions(bits, 11, 2)
    lo = kflip.transitions(kflip.Setting(4, "lo", state="lo"), np.int64(2), 1)
    assert all(type(state) is int for state in lo.next)


def test_the_radius_need_not_be_in_the_portfolio() -> None:
    assert kflip.transitions(kflip.Setting(4, portfolio=[1]), (0, 0), 4).next == {(4, 4): 1}


@pytest.mark.parametrize("k", [0, -1, 5, 10**30, True, 1.0, "1", None, [1]])
@pytest.mark.parametrize("state", ["lo-om", "bits"])
def test_bad_radius(state: str, k: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"radius k must be a whole number in 1\.\.4"):
        kflip.transitions(kflip.Setting(4, state=state), (0, 0), k)


@pytest.mark.parametrize("state", [-1, 5, 1.0, True, "1", None, (1,), [1], (1, 2)])
def test_bad_lo(state: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"lo must be a whole number in 0\.\.4"):
        kflip.transitions(kflip.Setting(4, "lo", state="lo"), state, 1)


@pytest.mark.parametrize(
    "state",
    [3, None, (1,), (1, 2, 3), "a", "12", (1.0, 2.0), (True, 1), (2, 1), (1, 4), (4, 3), (-1, 0), (None, 1), (0, None)],
)
def test_bad_pair(state: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"pair \(lo, om\)|lo must be|no state has lo"):
        kflip.transitions(kflip.Setting(4), state, 1)


@pytest.mark.parametrize(
    "state", [16, -1, 3.0, True, "0101", None, [0, 1, 1], [0, 1, 2, 1], [[0, 1], [1, 1]], [[0], [1, 1]]]
)
def test_bad_string(state: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"expected .*bits|integer in 0\.\.15"):
        kflip.transitions(kflip.Setting(4, state="bits"), state, 1)


def test_lo_alone_is_no_markov_state_of_loom() -> None:
    for selection in ("standard", "strict"):
        with pytest.raises(kflip.InputError, match="not a Markov state"):
            kflip.transitions(kflip.Setting(4, "loom", selection, "lo"), 1, 1)


def test_a_law_that_does_not_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kflip.memory.available_bytes", lambda: 10**6)
    setting = kflip.Setting(30, state="bits")
    assert len(kflip.transitions(setting, 0, 2).offspring) == comb(30, 2)
    with pytest.raises(kflip.TooLargeError, match="needs about"):
        kflip.transitions(setting, 0, 15)
