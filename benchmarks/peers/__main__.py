"""Solve one setting with one peer and print what it took.

``python -m benchmarks.peers --peer storm --setting loom --n 128 --json``, a fresh process each time so that peak memory
is the peer's own.  Times leave out imports and compilation (a tiny setting is solved first) and count everything
else: writing down the process, the peer's own model, solving, and reading the values back.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .model import SETTINGS, FloatArray, expected_runtime, values_table

MODULES = {"storm": "benchmarks.peers.storm", "quantecon": "benchmarks.peers.quantecon_ddp"}


def measure(peer_name: str, setting: str, n: int, every_radius: bool) -> tuple[dict[str, Any], FloatArray]:
    """Solve one setting; return the record and the values, shape (n+1, n+1) indexed ``[lo, om]``."""
    peer = importlib.import_module(MODULES[peer_name])
    peer.solve(peer.prepare(setting, 4, every_radius))
    before = peak_mib()
    start, cpu = time.perf_counter(), time.process_time()
    problem = peer.prepare(setting, n, every_radius)
    built = time.perf_counter()
    values = peer.solve(problem)
    solved = time.perf_counter()
    runtime = expected_runtime(n, values)
    end, cpu_end = time.perf_counter(), time.process_time()
    record = {
        "peer": peer.NAME,
        "version": peer.version(),
        "method": peer.METHOD,
        "setting": setting,
        "n": n,
        **peer.size(problem)._asdict(),
        "build_seconds": built - start,
        "solve_seconds": solved - built,
        "total_seconds": end - start,
        "cpu_seconds": cpu_end - cpu,
        "rss_before_mib": before,
        "peak_mib": peak_mib(),
        "expected_runtime": runtime,
    }
    return record, values_table(n, values)


def peak_mib() -> float:
    """Largest resident memory of this process so far."""
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def relative_error(table: FloatArray, reference: FloatArray) -> float:
    """Largest relative difference over all states but the optimum."""
    states = reference > 0.0
    return float(np.max(np.abs(table[states] / reference[states] - 1.0)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("--peer", choices=MODULES, required=True)
    parser.add_argument("--setting", choices=SETTINGS, required=True)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--reference", type=Path, help=".npy with values of shape (n+1, n+1), indexed [lo, om]")
    parser.add_argument("--every-radius", action="store_true", help="keep radii that cannot be optimal")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    record, table = measure(arguments.peer, arguments.setting, arguments.n, arguments.every_radius)
    if arguments.reference is not None:
        record["max_relative_error"] = relative_error(table, np.load(arguments.reference))
    if arguments.json:
        print(json.dumps(record))
    else:
        print("\n".join(f"{name:20}{value}" for name, value in record.items()))


if __name__ == "__main__":
    main()
