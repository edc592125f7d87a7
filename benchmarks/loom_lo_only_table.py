"""What seeing OM is worth on (LeadingOnes, OneMax): writes docs/results/loom-lo-only.md."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import kflip
from kflip.analysis import BestLoOnly, best_lo_only

SIZES = (16, 32, 64, 128, 256)
TARGET = Path(__file__).parent.parent / "docs" / "results" / "loom-lo-only.md"

HEAD = """# (LeadingOnes, OneMax): what seeing OM is worth

    python benchmarks/loom_lo_only_table.py

Exact expected runtimes in iterations from a uniformly random string, radii 1..n.  "Best seeing LO" picks one radius for
each LO; the table names the radii other than 1.  It is proved best where it says so, otherwise it is the best policy
found, no change of a single radius improves it, and no such policy is below the bound.

| n | best seeing (LO, OM) | best seeing LO | its radii other than 1 | proved | k = 1 | k = floor(n / (LO + 1)) |
|--:|--:|--:|:--|:--|--:|--:|
"""


def radii_of(best: BestLoOnly) -> str:
    """Radii other than 1, as ``LO: k``."""
    return ", ".join(f"{lo}: {k}" for lo, k in enumerate(best.table[:-1]) if k != 1)


def rows(budget: int) -> Iterator[str]:
    for n in SIZES:
        rich, poor = kflip.Setting(n), kflip.Setting(n, state="lo")
        best = best_lo_only(poor, budget=budget)
        standing = "best" if best.proven_optimal else f"at least {best.lower_bound:.6f}"
        others = [kflip.evaluate(poor, rule).expected_runtime for rule in ("one-bit", "lo-optimal")]
        optimum = kflip.solve(rich).expected_runtime
        numbers = [f"{x:.6f}" for x in (optimum, best.expected_runtime, *others)]
        yield f"| {n} | {numbers[0]} | {numbers[1]} | {radii_of(best)} | {standing} | {numbers[2]} | {numbers[3]} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", type=int, default=100_000, help="partial policies the proof may follow")
    lines = []
    for line in rows(parser.parse_args().budget):
        print(line, flush=True)
        lines.append(line)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
