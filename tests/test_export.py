"""CSV and JSON parse back to the very same numbers."""

from __future__ import annotations

import csv
import importlib
import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.policy import exists

module = importlib.import_module("kflip.export")  # the package shows the function under this name

SETTINGS = (
    kflip.Setting(1),
    kflip.Setting(7),
    kflip.Setting(6, "lo", "strict"),
    kflip.Setting(9, "lo", state="lo"),
    kflip.Setting(1, "lo", state="lo"),
    kflip.Setting(5, portfolio=[2, 3]),
    kflip.Setting(6, "lo", state="lo", portfolio=[2, 3]),
)


def strict_json(text: str) -> Any:
    """Parse, refusing the NaN and Infinity that are not JSON."""

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def expected_rows(solution: kflip.Solution) -> list[tuple[Any, ...]]:
    setting = solution.setting
    return [
        (*index, int(solution.policy.table[index]), float(solution.values[index]))
        for index in np.ndindex(setting.shape)
        if exists(setting.n, setting.state)[index]
    ]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_csv(setting: kflip.Setting, tmp_path: Path) -> None:
    solution = kflip.solve(setting)
    path = tmp_path / "a.csv"
    kflip.export(solution, path)
    assert b"\r" not in path.read_bytes()
    with path.open(newline="") as stream:
        header, *rows = csv.reader(stream)
    states = ["lo"] if setting.state == "lo" else ["lo", "om"]
    assert header == [*states, "radius", "value"]
    assert [(*map(int, row[:-1]), float(row[-1])) for row in rows] == expected_rows(solution)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_json(setting: kflip.Setting, tmp_path: Path) -> None:
    solution = kflip.solve(setting)
    path = tmp_path / "a.json"
    kflip.export(solution, path)
    content = strict_json(path.read_text())
    assert set(content) == {"setting", "expected_runtime", "columns", "rows"}
    assert kflip.Setting(**content["setting"]) == setting
    assert float(content["expected_runtime"]) == solution.expected_runtime
    assert content["columns"] == [*(["lo"] if setting.state == "lo" else ["lo", "om"]), "radius", "value"]
    assert [(*row[:-1], float(row[-1])) for row in content["rows"]] == expected_rows(solution)


def test_infinity_is_valid_json(tmp_path: Path) -> None:
    solution = kflip.solve(kflip.Setting(5, portfolio=[2, 3]))
    assert solution.expected_runtime == math.inf
    kflip.export(solution, tmp_path / "a.json")
    content = strict_json((tmp_path / "a.json").read_text())
    assert content["expected_runtime"] == "inf"
    assert "inf" in {row[-1] for row in content["rows"]}


def test_strings_are_written_as_bits(tmp_path: Path) -> None:
    setting = kflip.Setting(3, state="bits")
    policy = kflip.Policy(3, "bits", np.array([1, 2, 3, 1, 2, 3, 1, 0]))
    solution = kflip.Solution(setting, policy, np.array([7.5, 6.5, 5.5, 4.5, 3.5, 2.5, 1.5, 0.0]), 4.0)
    kflip.export(solution, tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines == [
        "x,radius,value",
        "000,1,7.5",
        "001,2,6.5",
        "010,3,5.5",
        "011,1,4.5",
        "100,2,3.5",
        "101,3,2.5",
        "110,1,1.5",
    ]


def test_the_format_may_be_named(tmp_path: Path) -> None:
    solution = kflip.solve(kflip.Setting(3))
    for name, form, first in (
        ("a.txt", "csv", "l"),
        ("b.csv", "json", "{"),
        ("C.CSV", None, "l"),
        ("d.Json", None, "{"),
    ):
        kflip.export(solution, tmp_path / name, form)
        assert (tmp_path / name).read_text()[0] == first
    kflip.export(solution, str(tmp_path / "e.csv"))
    assert (tmp_path / "e.csv").read_text() == (tmp_path / "C.CSV").read_text()


@pytest.mark.parametrize(
    ("name", "form", "nearest"),
    [("a.jsn", None, "json"), ("a", None, None), ("a.csv", "cvs", "csv"), ("a.npz", None, None)],
)
def test_unknown_format(name: str, form: str | None, nearest: str | None, tmp_path: Path) -> None:
    with pytest.raises(kflip.InputError, match=r"unknown export format .*choose one of csv, json") as caught:
        kflip.export(kflip.solve(kflip.Setting(3)), tmp_path / name, form)
    assert ("Did you mean" in str(caught.value)) == (nearest is not None)
    assert str(nearest) in str(caught.value) or nearest is None
    assert not list(tmp_path.iterdir())


def test_unwritable_folder(tmp_path: Path) -> None:
    with pytest.raises(kflip.InputError, match="cannot write"):
        kflip.export(kflip.solve(kflip.Setting(3)), tmp_path / "none" / "a.csv")


@pytest.mark.parametrize("form", ["csv", "json"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("odd")])
def test_a_failing_export_leaves_the_old_file(
    form: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solution = kflip.solve(kflip.Setting(4))
    path = tmp_path / f"a.{form}"
    kflip.export(solution, path)
    before = path.read_bytes()
    original = module.rows

    def some_rows(solution: kflip.Solution) -> Iterator[tuple[Any, ...]]:
        yield next(original(solution))
        raise error

    monkeypatch.setattr(module, "rows", some_rows)
    with pytest.raises(kflip.InputError if isinstance(error, OSError) else type(error)):
        kflip.export(solution, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_plain_json_values() -> None:
    content = {"a": np.float64(math.inf), "b": -math.inf, "c": [math.nan, np.int64(3)], "d": (True, None, np.bool_(0))}
    plain = module.jsonable(content)
    assert plain == {"a": "inf", "b": "-inf", "c": [None, 3], "d": [True, None, False]}
    assert strict_json(json.dumps(plain)) == plain
