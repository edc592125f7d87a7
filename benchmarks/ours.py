"""Time and memory of one kflip solve, in a process of its own.

``python -m benchmarks.ours --setting loom --n 192`` prints one JSON line.  Compilation is done beforehand on a tiny
instance of the same setting; everything else counts.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np

import kflip

SETTINGS = {
    "loom": ("loom", "standard"),
    "lo-strict": ("lo", "strict"),
    "lo-standard": ("lo", "standard"),
}


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str, n: int, repeats: int, values: Path | None) -> dict[str, float | int | str]:
    objective, selection = SETTINGS[name]
    small = kflip.Setting(8, objective, selection)
    kflip.evaluate(small, kflip.solve(small).policy)
    setting = kflip.Setting(n, objective, selection)
    before = peak_mib()
    solve_times, evaluate_times = [], []
    for _ in range(repeats):
        begin = time.perf_counter()
        solution = kflip.solve(setting)
        solve_times.append(time.perf_counter() - begin)
    after = peak_mib()
    for _ in range(repeats):
        begin = time.perf_counter()
        kflip.evaluate(setting, solution.policy)
        evaluate_times.append(time.perf_counter() - begin)
    if values is not None:
        np.save(values, solution.values)
    return {
        "setting": name,
        "n": n,
        "solve_seconds": min(solve_times),
        "evaluate_seconds": min(evaluate_times),
        "peak_mib": after,
        "before_mib": before,
        "expected_runtime": solution.expected_runtime,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--setting", choices=list(SETTINGS), required=True)
    parser.add_argument("--n", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--values", type=Path, help="also save the values to this .npy file")
    options = parser.parse_args()
    print(json.dumps(measure(options.setting, options.n, options.repeats, options.values)))


if __name__ == "__main__":
    main()
