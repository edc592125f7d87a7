"""Solutions as CSV and JSON, for everyone who does not read NumPy files."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from kflip.errors import unknown_word
from kflip.files import atomic_write
from kflip.policy import exists
from kflip.solution import Solution

FORMATS = ("csv", "json")


def jsonable(value: Any) -> Any:
    """Plain JSON values: ``inf`` becomes the string ``"inf"``, NaN becomes null, NumPy numbers plain numbers."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def columns(solution: Solution) -> tuple[str, ...]:
    """Names of the exported columns."""
    state = {"lo": ("lo",), "lo-om": ("lo", "om"), "bits": ("x",)}[solution.setting.state]
    return (*state, "radius", "value")


def rows(solution: Solution) -> Iterator[tuple[Any, ...]]:
    """One row per state that is not optimal: the state, its radius and its value, in table order."""
    n = solution.setting.n
    table, values = solution.policy.table, solution.values
    for index in map(tuple, np.argwhere(exists(n, solution.setting.state)).tolist()):
        state = (format(index[0], f"0{n}b"),) if solution.setting.state == "bits" else index
        yield (*state, int(table[index]), float(values[index]))


def export(solution: Solution, path: str | Path, form: str | None = None) -> None:
    """Write a solution as CSV or JSON.

    Parameters
    ----------
    path
        Where; written atomically.
    form
        ``"csv"`` or ``"json"``; by default what the name ends in.
    """
    chosen = form or Path(path).suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise unknown_word("export format", chosen, FORMATS)
    with atomic_write(path) as binary:
        text = io.TextIOWrapper(binary, encoding="utf-8", newline="")
        if chosen == "csv":
            text.write(",".join(columns(solution)) + "\n")
            text.writelines(",".join(map(str, row)) + "\n" for row in rows(solution))
        else:
            head = {"setting": solution.setting.to_dict(), "expected_runtime": solution.expected_runtime}
            text.write(json.dumps(jsonable(head))[:-1] + f', "columns": {json.dumps(columns(solution))}, "rows": [')
            for number, row in enumerate(rows(solution)):
                text.write(("," if number else "") + "\n" + json.dumps(jsonable(row)))
            text.write("\n]}\n")
        text.detach()  # flushes, and leaves closing to atomic_write
