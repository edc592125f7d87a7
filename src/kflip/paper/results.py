"""What the page shows, gathered from the files of the experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kflip.paper import series
from kflip.paper.experiments import Curves, Experiment, Maps, sizes
from kflip.paper.steps import Known, point_name
from kflip.paper.tables import read_table

#: Digits on the page; the tables have them all.
DIGITS = 8


def page_of(report: dict[str, Any], experiments: list[Experiment], known: Known, out: Path) -> dict[str, Any]:
    """The report together with the data of its interactive figures."""
    maps = [_map(item, known[f"table-{item.name}"], out) for item in experiments if isinstance(item, Maps)]
    curves = [_curves(item, report["effort"], known) for item in experiments if isinstance(item, Curves)]
    return {**report, "maps": maps, "curves": curves}


def _map(item: Maps, totals: dict[str, Any], out: Path) -> dict[str, Any]:
    """One map; states in the order of its table, LO ascending and OM from LO to n - 1."""
    table = read_table(out / item.name / "states.csv")
    ties = table["optimal_radii"]
    shown = {
        "name": item.name,
        "title": f"{item.title}, n = {item.n}",
        "figure": item.figure,
        "n": item.n,
        "runtime": totals["expected_runtime"],
        "excess": totals["regret"],
        "annotate": item.annotate or item.crosses,
        "crosses": totals["crosses"],
        "radius": [int(text) for text in table["radius"]],
        # nearly always just the radius itself
        "optimal": {
            number: text for number, (text, k) in enumerate(zip(ties, table["radius"], strict=True)) if text != k
        },
        "value": _short(table["value"]),
        "probability": _short(table["visit_probability"]),
        "visits": _short(table["visits"]),
        "regret": _short(table["regret"]),
        "runs": [],
    }
    if "trajectories" in item.drawn:
        shown["runs"] = _runs(read_table(out / item.name / "trajectories.csv"))
    return shown


def _runs(table: dict[str, list[str]]) -> list[dict[str, list[int]]]:
    runs: dict[str, dict[str, list[int]]] = {}
    for run, lo, om in zip(table["run"], table["lo"], table["om"], strict=True):
        path = runs.setdefault(run, {"lo": [], "om": []})
        path["lo"].append(int(lo))
        path["om"].append(int(om))
    return list(runs.values())


def _curves(item: Curves, effort: str, known: Known) -> dict[str, Any]:
    lines = []
    for name, label in item.series.items():
        entry, lengths = series.by_id(name), sizes(name, effort)
        scale = series.NORMALISERS[entry["normaliser"]]
        lines.append(
            {
                "label": label,
                "n": lengths,
                "ours": [known[point_name(name, n)]["total"] / scale(n) for n in lengths],
                "published": {int(n): value for n, value in entry["published"].items()},
            }
        )
    return {
        "name": item.name,
        "title": item.title,
        "figure": item.figure,
        "normaliser": item.normaliser,
        "lines": lines,
    }


def _short(column: list[str]) -> list[float]:
    return [float(f"{float(text):.{DIGITS}g}") for text in column]
