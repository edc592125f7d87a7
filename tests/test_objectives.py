"""LeadingOnes, OneMax and the numbering of strings against loops over characters."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import kflip
from kflip.objectives import bits_of, index_of, lo_om_of_all

STEADY = settings(derandomize=True, database=None, max_examples=60, deadline=None)


def slow_lo(bits: Any) -> int:
    text = "".join(str(int(b)) for b in bits)
    return len(text) - len(text.lstrip("1"))


def slow_om(bits: Any) -> int:
    return "".join(str(int(b)) for b in bits).count("1")


@given(
    hnp.arrays(
        st.sampled_from([np.dtype(bool), np.dtype(np.int8), np.dtype(np.int64), np.dtype(np.float64)]),
        hnp.array_shapes(min_dims=1, max_dims=3, max_side=6),
        elements=st.sampled_from([0, 1]),
    )
)
@STEADY
def test_any_shape_and_type(x: np.ndarray[Any, Any]) -> None:
    lo, om, pair = kflip.leading_ones(x), kflip.one_max(x), kflip.lo_om(x)
    assert lo.shape == om.shape == x.shape[:-1]
    assert pair.shape == (*x.shape[:-1], 2)
    assert lo.dtype == om.dtype == pair.dtype == np.int64
    for where in np.ndindex(x.shape[:-1]):
        assert lo[where] == slow_lo(x[where])
        assert om[where] == slow_om(x[where])
        assert pair[where].tolist() == [slow_lo(x[where]), slow_om(x[where])]


def test_one_string_gives_a_scalar() -> None:
    assert int(kflip.leading_ones([1, 1, 0, 1])) == 2
    assert int(kflip.one_max([1, 1, 0, 1])) == 3
    assert kflip.lo_om([1, 1, 0, 1]).tolist() == [2, 3]
    assert kflip.leading_ones([True, False]).shape == ()


@pytest.mark.parametrize("n", range(1, 9))
def test_all_strings(n: int) -> None:
    strings = list(product([0, 1], repeat=n))  # lexicographic: the first position is the most significant bit
    assert bits_of(np.arange(2**n), n).tolist() == [list(s) for s in strings]
    assert index_of(strings).tolist() == list(range(2**n))
    assert kflip.leading_ones(strings).tolist() == [slow_lo(s) for s in strings]
    assert kflip.one_max(strings).tolist() == [slow_om(s) for s in strings]
    lo, om = lo_om_of_all(n)
    assert lo.tolist() == [slow_lo(s) for s in strings]
    assert om.tolist() == [slow_om(s) for s in strings]


@given(st.integers(1, 63), st.data())
@STEADY
def test_numbers_and_bits_are_inverse(n: int, data: st.DataObject) -> None:
    number = data.draw(st.integers(0, 2**n - 1))
    bits = bits_of(number, n)
    assert bits.tolist() == [int(c) for c in format(number, f"0{n}b")]
    assert int(index_of(bits)) == number


@pytest.mark.parametrize(
    "bad",
    [[2], [-1], [0.5], [1, float("nan")], ["0", "1"], "0110", 1, [], [[], []], None, [None], [[1, 0], [1]], [[1, 3]]],
)
@pytest.mark.parametrize("function", [kflip.leading_ones, kflip.one_max, kflip.lo_om, index_of])
def test_bad_bits(function: Any, bad: Any) -> None:
    with pytest.raises(kflip.InputError, match="expected bits"):
        function(bad)


def test_the_input_stays_as_it_was() -> None:
    x = np.array([[1, 0], [1, 1]])
    kflip.lo_om(x)
    index_of(x)
    assert x.flags.writeable
    assert x.tolist() == [[1, 0], [1, 1]]


def test_strings_too_long_for_an_integer() -> None:
    assert int(index_of([1] * 63)) == 2**63 - 1
    with pytest.raises(kflip.InputError, match="more than 63 bits"):
        index_of([1] * 64)


@pytest.mark.parametrize(("index", "n"), [(8, 3), (-1, 3), (1.5, 3), ([0, 9], 3), (0, 0), (0, -1), (0, 64), ("1", 3)])
def test_bad_numbers(index: Any, n: int) -> None:
    with pytest.raises(kflip.InputError):
        bits_of(index, n)
