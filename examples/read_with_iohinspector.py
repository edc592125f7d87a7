"""Simulate runs, write them in the format of IOHprofiler and read them back with iohinspector.

    python examples/read_with_iohinspector.py --n 32 --runs 100

Evaluations are iterations plus 1: the start is the first evaluation.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from iohinspector import DataManager

import kflip


def main() -> None:
    """Print the mean runtime that iohinspector finds beside the exact expected runtime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=32)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()

    setting = kflip.Setting(arguments.n, objective="loom")
    names = ("one-bit", "lo-optimal")
    with tempfile.TemporaryDirectory() as folder:
        manager = DataManager()
        for name in names:
            runs = kflip.simulate(setting, name, arguments.runs, arguments.seed, record="trajectories")
            manager.add_folder(str(runs.to_ioh(Path(folder) / name)))
        changes = manager.load(monotonic=True, include_meta_data=True)
    for name in names:
        of_policy = changes.filter(changes["algorithm_name"] == name)
        at_optimum = of_policy.filter(of_policy["lo"] == arguments.n)
        mean = at_optimum["evaluations"].mean() - 1
        exact = kflip.evaluate(setting, name)
        print(f"{name}: {len(at_optimum)} runs, mean {mean:.2f} iterations, exact {exact.expected_runtime:.2f}")


if __name__ == "__main__":
    main()
