"""Every string and every tie set against exact rational brute force computed elsewhere, and published totals."""

from __future__ import annotations

import json
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.exact.bits import action_values, solve_standard, solve_strict
from kflip.exact.scan import TIE_TOLERANCE
from kflip.objectives import bits_of, leading_ones, one_max

RECORDS: list[dict[str, Any]] = [
    record
    for record in json.loads((Path(__file__).parents[2] / "data" / "small_n.json").read_text())["records"]
    if record["state"] == "bits"
]


def name(record: dict[str, Any]) -> str:
    return f"{record['objective']}-{record['selection']}-{record['n']}-{record['portfolio']}"


def test_all_records_are_used() -> None:
    kinds = {(record["objective"], record["selection"]) for record in RECORDS}
    assert kinds == {("loom", "strict"), ("loom", "standard")}
    assert len(RECORDS) == 55


@pytest.mark.parametrize("record", RECORDS, ids=name)
def test_values_and_ties(record: dict[str, Any]) -> None:
    n, objective, selection = record["n"], record["objective"], record["selection"]
    radii = np.array(record["portfolio"])
    solve = solve_strict if selection == "strict" else solve_standard
    values, table = solve(n, radii, objective)[:2]
    assert values.mean() == pytest.approx(float(Fraction(record["expected_runtime"])), rel=1e-12)
    assert len(record["values"]) == 2**n
    for text, value in record["values"].items():
        assert values[int(text, 2)] == pytest.approx(float(Fraction(value)), rel=1e-12, abs=0)
    for text, tied in record["optimal_radii"].items():
        x = int(text, 2)
        times = action_values(n, objective, selection, radii, values, x)
        assert radii[times <= values[x] * (1.0 + TIE_TOLERANCE)].tolist() == tied
        assert table[x] == tied[0]
    assert table[-1] == 0


@pytest.mark.parametrize(("n", "expected"), [(8, 14.364823876226), (16, 40.236390216455)])
def test_published_totals(n: int, expected: float) -> None:
    values, _ = solve_strict(n, np.arange(1, n + 1), "loom")
    assert fsum(values) / 2**n == pytest.approx(expected, rel=3e-14)


def test_where_the_string_says_more_than_lo_and_om() -> None:
    n = 16
    _, table = solve_strict(n, np.arange(1, n + 1), "loom")
    strings = bits_of(np.arange(2**n - 1), n)
    lo, om = leading_ones(strings), one_max(strings)
    coarse = kflip.solve(kflip.Setting(n, "loom")).policy.table
    differs = table[:-1] != coarse[lo, om]
    assert set(zip(lo[differs].tolist(), om[differs].tolist(), strict=True)) == {(0, 7), (0, 8), (3, 5), (3, 7)}
