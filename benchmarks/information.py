"""How much is the whole string worth?  Writes docs/results/information.md.

``python -m benchmarks.information`` solves every benchmark that fits for n = 4..24; about five minutes on two cores.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import kflip
from kflip.information import Comparison, compare

TARGET = Path(__file__).parents[1] / "docs" / "results" / "information.md"
LARGEST = {("loom", "strict"): 24, ("lo", "strict"): 24, ("loom", "standard"): 22, ("lo", "standard"): 20}
TITLES = {"loom": "(LeadingOnes, OneMax)", "lo": "LeadingOnes"}


def section(objective: str, selection: str) -> list[str]:
    """One benchmark: a sentence on what the string saves, then the table."""
    rows = []
    saved: dict[int, float] = {}
    for n in range(4, LARGEST[objective, selection] + 1):
        begin = time.perf_counter()
        result: Comparison = compare(n, objective, selection)
        poor, seen, rich = result.rows
        mark = "" if poor.proven_optimal else "*"
        saved[n] = max(0.0, rich.gain)  # equal optima may differ by rounding
        rows.append(
            f"| {n} | {poor.expected_runtime:.9f}{mark} | {seen.expected_runtime:.9f} | {rich.expected_runtime:.9f}"
            f" | {seen.gain:.4%} | {saved[n]:.6%} | {len(result.differences)} |"
        )
        print(f"{objective} {selection} n = {n}: {time.perf_counter() - begin:.1f} s", file=sys.stderr)
    most = max(saved, key=lambda n: saved[n])
    return [
        f"## {TITLES[objective]}, {selection} selection",
        "",
        f"Seeing the whole string instead of (LO, OM) saves at most {saved[most]:.3%} (n = {most}),"
        f" and {saved[max(saved)]:.4%} at n = {max(saved)}.",
        "",
        "| n | seeing LO | seeing (LO, OM) | seeing the string | saved by OM | saved by the string | states differ |",
        "|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
    ]


def main() -> None:
    text = [
        "# How much is the whole string worth?",
        "",
        f"Made by `python -m benchmarks.information` with kflip {kflip.__version__}. Expected iterations of the optimal"
        " policy from a uniformly random string, full portfolio. “States differ” counts the (LO, OM) states that hold"
        " at least one string with another best radius. A star marks the best policy found where optimality is not"
        " proven (seeing LO alone on (LeadingOnes, OneMax), see [the search](loom-lo-only.md)).",
        "",
    ]
    for kind in LARGEST:
        text += section(*kind)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("\n".join(text))


if __name__ == "__main__":
    main()
