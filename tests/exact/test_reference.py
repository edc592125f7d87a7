"""Every state and every tie set against exact rational brute force computed elsewhere."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import kflip

RECORDS: list[dict[str, Any]] = [
    record
    for record in json.loads((Path(__file__).parents[1] / "data" / "small_n.json").read_text())["records"]
    if record["state"] == "lo-om"
]


def name(record: dict[str, Any]) -> str:
    radii = ",".join(map(str, record["portfolio"]))
    return f"{record['objective']}-{record['selection']}-{record['n']}-[{radii}]"


def pair(key: str) -> tuple[int, int]:
    lo, om = key.split(",")
    return int(lo), int(om)


def test_all_records_are_used() -> None:
    assert len(RECORDS) == 90


@pytest.mark.parametrize("record", RECORDS, ids=name)
def test_values_and_ties(record: dict[str, Any]) -> None:
    setting = kflip.Setting(record["n"], record["objective"], record["selection"], "lo-om", record["portfolio"])
    solution = kflip.solve(setting)
    assert solution.expected_runtime == pytest.approx(float(Fraction(record["expected_runtime"])), rel=1e-12)
    for key, value in record["values"].items():
        assert solution.values[pair(key)] == pytest.approx(float(Fraction(value)), rel=1e-12, abs=0.0)
    for key, radii in record["optimal_radii"].items():
        lo, om = pair(key)
        assert solution.optimal_radii(lo, om) == tuple(radii)
        assert solution.policy.at(lo, om) == radii[0]
