"""All measurements of the exact core; writes benchmarks/RESULTS.md.

``make bench`` runs it.  Every measurement is a process of its own, so peak memory belongs to it alone, and ours and
the peers' alternate within minutes, because a shared machine is not the same machine an hour later.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TARGET = ROOT / "benchmarks" / "RESULTS.md"
SETTINGS = ("loom", "lo-strict", "lo-standard")
PEER_SIZES = (64, 128, 192)
GROWTH_SIZES = (128, 256, 512, 1024, 2048)
LARGEST = {"loom": 4096, "lo-strict": 4096}


def run(module: str, *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", module, *arguments]
    print(" ".join(command[1:]), file=sys.stderr, flush=True)
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def against_peers(folder: Path) -> list[str]:
    lines = [
        "## Against general solvers",
        "",
        "Build plus solve, seconds; peak memory beyond the start of the measurement, MiB; `x` is the peer over ours."
        " Every peer gets self-loops conditioned away, suffix averages as intermediate states, negligible transitions"
        " dropped, arrays built in compiled code, and its fastest method that reaches 1e-9. *All* radii is the model as"
        " it stands; *pruned* also takes from the peer's model every radius that a bound shows to be useless, which"
        " is work that kflip does itself. *Gap* is the largest relative difference over all states.",
        "",
        "| setting | n | kflip | MiB | peer | radii | build + solve | MiB | x | memory x | gap |",
        "|---|---:|---:|---:|---|---|---:|---:|---:|---:|---:|",
    ]
    for setting in SETTINGS:
        for n in PEER_SIZES:
            values = folder / f"{setting}-{n}.npy"
            chosen = ("--setting", setting, "--n", str(n))
            ours = run("benchmarks.ours", *chosen, "--repeats", "5", "--values", str(values))
            own = max(ours["peak_mib"] - ours["before_mib"], 0.1)
            for peer in ("storm", "quantecon"):
                for radii, flags in (("all", ["--every-radius"]), ("pruned", [])):
                    theirs = run(
                        "benchmarks.peers", "--peer", peer, *chosen, "--json", "--reference", str(values), *flags
                    )
                    memory = theirs["peak_mib"] - theirs["rss_before_mib"]
                    seconds = theirs["total_seconds"]
                    lines.append(
                        f"| {setting} | {n} | {ours['solve_seconds']:.4f} | {own:.1f}"
                        f" | {theirs['peer']} {theirs['version']} | {radii} | {seconds:.2f} | {memory:.0f}"
                        f" | {seconds / ours['solve_seconds']:.0f} | {memory / own:.0f}"
                        f" | {theirs['max_relative_error']:.0e} |"
                    )
    return lines


def growth() -> list[str]:
    lines = [
        "## Growth",
        "",
        "One solve, after compilation, one thread. *Times evaluate* divides by the time of one exact evaluation (mean"
        " and variance of every state) of the policy found: the least work imaginable. *Exponent* is the growth from"
        " the line above, as a power of n.",
        "",
        "| setting | n | seconds | exponent | times evaluate | peak MiB |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for setting in SETTINGS:
        before = None
        for n in (*GROWTH_SIZES, *((LARGEST[setting],) if setting in LARGEST else ())):
            repeats = "3" if n <= 1024 else "1"
            row = run("benchmarks.ours", "--setting", setting, "--n", str(n), "--repeats", repeats)
            power = "" if before is None else f"{_log2(row['solve_seconds'] / before):.2f}"
            before = row["solve_seconds"]
            lines.append(
                f"| {setting} | {n} | {row['solve_seconds']:.3f} | {power}"
                f" | {row['solve_seconds'] / row['evaluate_seconds']:.1f} | {row['peak_mib']:.0f} |"
            )
    return lines


def _log2(ratio: float) -> float:
    from math import log2

    return log2(ratio)


def machine() -> str:
    model = "unknown processor"
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        sections = [against_peers(Path(folder)), growth()]
    head = [
        "# Measurements",
        "",
        f"Written by `make bench` on {datetime.date.today().isoformat()}: {machine()}. Ratios of runs made in the same"
        " minute matter; absolute times on a shared machine do not.",
        "",
    ]
    TARGET.write_text("\n".join([*head, *sections[0], "", *sections[1], ""]))


if __name__ == "__main__":
    main()
