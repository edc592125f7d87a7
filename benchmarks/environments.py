"""Speed of the environments beside DACBench's Theory benchmark, and of runs on bits beside a Python loop on ``ioh``.

``python -m benchmarks.environments`` prints a Markdown table.  It needs DACBench and ``ioh`` beside kflip, in an
environment without PyTorch (DACBench then asks for torchvision).  All play LeadingOnes with standard selection and the
radii 1, 2, 4, 8, 16, the actions in turn; an episode that ends begins anew.  Times are processor times of one
process, the best of several repeats that alternate between the competitors; each competitor is warmed up first.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np

import kflip
from kflip.envs import RLSEnv, RLSVectorEnv

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # DACBench tells which of its extras are missing
    import ioh
    from dacbench.benchmarks import TheoryBenchmark

RADII = [1, 2, 4, 8, 16]
MANY = 4096

#: A competitor does some work and says how many iterations it was.
Competitor = Callable[[], int]


def _setting(n: int) -> kflip.Setting:
    return kflip.Setting(n, "lo", state="lo", portfolio=RADII)


def _play(env: Any, steps: int) -> int:
    env.reset()
    for action in islice(cycle(range(len(RADII))), steps):
        _, _, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return steps


def _play_many(envs: RLSVectorEnv, steps: int) -> int:
    actions = np.arange(envs.num_envs) % len(RADII)
    for _ in range(steps):
        envs.step(actions)
        actions = (actions + 1) % len(RADII)
    return steps * envs.num_envs


def _theory(n: int, folder: Path) -> Any:
    instances = folder / f"random-{n}.csv"
    instances.write_text(f"id,size,initObj\n0,{n},random\n")
    config = {
        "instance_set_path": str(instances),
        "action_choices": RADII,
        "observation_description": "f(x)",
        "reward_choice": "minus_evals",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TheoryBenchmark(config).get_environment(test_env=True)


def _vector(n: int, **options: Any) -> RLSVectorEnv:
    envs = RLSVectorEnv(_setting(n), MANY, **options)
    envs.reset(seed=1)
    return envs


def _loop_on_ioh(n: int, runs: int) -> int:
    problem = ioh.get_problem("LeadingOnes", instance=1, dimension=n, problem_class=ioh.ProblemClass.PBO)
    rng = np.random.default_rng(1)
    iterations = 0
    for _ in range(runs):
        x = rng.integers(0, 2, n)
        value = int(problem(x))
        while value < n:
            y = x.copy()
            flips = rng.choice(n, size=n // (value + 1), replace=False)
            y[flips] ^= 1
            offspring = int(problem(y))
            if offspring >= value:
                x, value = y, offspring
            iterations += 1
        problem.reset()
    return iterations


def _runs_on_bits(n: int, runs: int) -> int:
    setting = kflip.Setting(n, "lo", state="lo")
    return int(kflip.simulate(setting, "lo-optimal", runs, seed=1, level="bits", threads=1).runtimes.sum())


def rates(competitors: dict[str, Competitor], repeats: int) -> dict[str, float]:
    """Iterations per second of processor time, the best of the repeats."""
    best = dict.fromkeys(competitors, 0.0)
    for compete in competitors.values():
        compete()
    for _ in range(repeats):
        for name, compete in competitors.items():
            begin = time.process_time()
            iterations = compete()
            best[name] = max(best[name], iterations / (time.process_time() - begin))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    print("| n | what | iterations per second | times the reference |")
    print("|--:|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for n in (50, 128):
            reference = "DACBench Theory environment"
            _report(
                n,
                reference,
                {
                    reference: partial(_play, _theory(n, Path(folder)), 5_000),
                    "one environment": partial(_play, RLSEnv(_setting(n)), 50_000),
                    "one environment, no mask": partial(_play, RLSEnv(_setting(n), action_mask=False), 50_000),
                    f"{MANY} environments": partial(_play_many, _vector(n), 300),
                    f"{MANY} environments, no mask": partial(_play_many, _vector(n, action_mask=False), 300),
                },
                arguments.repeats,
            )
            reference = "Python loop on ioh"
            _report(
                n,
                reference,
                {
                    reference: partial(_loop_on_ioh, n, 2),
                    "simulate(level='bits')": partial(_runs_on_bits, n, 500),
                },
                arguments.repeats,
            )


def _report(n: int, reference: str, competitors: dict[str, Competitor], repeats: int) -> None:
    found = rates(competitors, repeats)
    for name, rate in found.items():
        print(f"| {n} | {name} | {rate:,.0f} | {rate / found[reference]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
