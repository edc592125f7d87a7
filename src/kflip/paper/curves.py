"""Curves and the summary table: expected runtimes over n, ours beside the published ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from kflip import figures
from kflip.paper import series
from kflip.paper.experiments import Curves, Summary
from kflip.paper.tables import write_table

CURVE_COLUMNS = ("series", "label", "n", "runtime", "normalised", "published", "as_published", "verdict")
SUMMARY_COLUMNS = ("benchmark", "objective", "selection", "state", "paper_n", "our_n", "expected_runtime")

#: (series, n) to the expected runtime and the part of it that the paper counts.
Points = Mapping[tuple[str, int], tuple[float, float]]


def write_curves(curves: Curves, points: Points, out: Path) -> list[str]:
    """Write the table and the pictures of one figure; return the names of the files."""
    rows, drawn = [], []
    for name, label in curves.series.items():
        entry = series.by_id(name)
        mine = {n: total for (owner, n), total in points.items() if owner == name}
        for n, (total, partial) in mine.items():
            scale = series.NORMALISERS[entry["normaliser"]](n)
            known: tuple[Any, ...] = (None, partial / scale, None)
            if str(n) in entry["published"]:
                item = series.comparison(entry, n, total, partial)
                known = (item.published, item.as_published, item.verdict)
            rows.append((name, label, n, total, total / scale, *known))
        published = {int(n): value for n, value in entry["published"].items()}
        runtimes = [total for total, _ in mine.values()]
        drawn.append({"label": label, "n": list(mine), "runtime": runtimes, "published": published})
    written = [f"{curves.name}/runtimes.csv"]
    write_table(out / written[0], CURVE_COLUMNS, rows)
    figure = figures.runtime_curves(drawn, normaliser=curves.normaliser)
    return written + _save(figure, f"{curves.name}/runtimes", out)


def write_summary(summary: Summary, rows: list[dict[str, Any]], out: Path) -> list[str]:
    """Write the table, and a picture of how far the paper and we got."""
    written = [f"{summary.name}/summary.csv"]
    write_table(out / written[0], SUMMARY_COLUMNS, ([row[name] for name in SUMMARY_COLUMNS] for row in rows))
    return written + _save(_largest(rows), f"{summary.name}/summary", out)


def _largest(rows: list[dict[str, Any]]) -> Figure:
    figure = Figure(figsize=(6.4, 2.2), layout="constrained")
    ax = figure.subplots()
    heights = range(len(rows))
    for key, label, colour, shift in (("paper_n", "paper", "#b0b0b0", -0.18), ("our_n", "kflip", "#35608d", 0.18)):
        bars = ax.barh([y + shift for y in heights], [row[key] for row in rows], 0.34, color=colour, label=label)
        ax.bar_label(bars, padding=3, fontsize=8)
    ax.set_yticks(list(heights), [row["benchmark"] for row in rows], fontsize=8)
    ax.invert_yaxis()
    ax.set_xscale("log", base=2)
    ax.set_xlim(8, 2.4 * max(row["our_n"] for row in rows))
    ax.set_xlabel("largest n computed", fontsize=9)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(fontsize=8, frameon=False)
    return figure


def _save(figure: Figure, stem: str, out: Path) -> list[str]:
    written = [f"{stem}{suffix}" for suffix in figures.FORMATS]
    for name in written:
        figures.save(figure, out / name)
    return written
