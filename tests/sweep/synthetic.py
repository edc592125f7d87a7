"""Records that nobody computed, shaped like those of a sweep, to be aggregated and shown."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from math import inf, nan
from typing import Any

import numpy as np

from kflip.export import jsonable
from kflip.setting import Setting
from kflip.sweep.suite import benchmark_named

Record = dict[str, Any]


def record(
    method: str = "learner",
    benchmark: str = "kflip-v1/loom-16-full",
    seed: int | None = 0,
    *,
    raw: float = 0.5,
    guarded: float = 0.1,
    hits: float = 0.5,
    time: float = 0.75,
    area: float = 0.25,
    curve: Sequence[tuple[int, float, float]] = ((500_000, inf, 0.2), (1_000_000, 0.5, 0.1)),
    budget: int | None = 1_000_000,
    options: dict[str, Any] | None = None,
    setting: Setting | None = None,
    optimum: float = 40.0,
    seconds: float = 1.5,
) -> Record:
    """A record of a learner; without a curve of a rule, without a budget of a submission."""
    task = {
        "benchmark": benchmark,
        "setting": (setting or benchmark_named(benchmark).setting).to_dict(),
        "budget": budget,
        "method": method,
        "options": {"version": 1} if options is None else options,
        "seed": seed,
    }
    result = {
        "spent": budget if curve else 0,
        "optimal_runtime": optimum,
        "score": {
            "expected_runtime": optimum * (1 + raw),
            "regret": raw,
            "guarded_runtime": optimum * (1 + guarded),
            "guarded_regret": guarded,
            "hit_ratio": hits,
            "hit_ratio_time": time,
        },
        "area": area if curve else None,
        "curve": [{"iterations": at, "regret": bare, "guarded_regret": safe} for at, bare, safe in curve],
        "policy_sha256": "0" * 64,
    }
    key = hashlib.sha256(json.dumps(task, sort_keys=True).encode()).hexdigest()
    return {
        "format": "kflip-record",
        "version": 1,
        "kflip": "0",
        "key": key,
        "task": task,
        "result": jsonable(result),
        "seconds": seconds,
    }


def rule(method: str = "rule", benchmark: str = "kflip-v1/loom-16-full", **changes: Any) -> Record:
    """A record of a rule."""
    regret = changes.pop("regret", 0.3)
    return record(method, benchmark, 0, **{"raw": regret, "guarded": regret, "curve": (), "options": {}, **changes})


def submission(method: str = "theirs", benchmark: str = "kflip-v1/loom-16-full", **changes: Any) -> Record:
    """A record of a third party's policy."""
    regret, options = changes.pop("regret", 0.3), {"policy_sha256": "0" * 64}
    plain = {"raw": regret, "guarded": regret, "curve": (), "budget": None, "options": options}
    return record(method, benchmark, None, **{**plain, **changes})


#: Regrets of a whole sweep at the end of training, about; and whether the raw policy may never finish.
_LEARNERS = {
    "certainty-equivalence": (0.004, 0.0),
    "dqn": (0.008, 0.1),
    "dqn-plain": (0.9, 0.9),
    "ppo": (0.05, 0.2),
    "q-learning": (0.4, 1.0),
    "q-learning-events": (0.06, 0.6),
    "q-learning-shaped": (0.02, 0.0),
}
_RULES = {"one-bit": 0.05, "lo-optimal": 0.6, "random-radius": 9.0, "max-drift": 0.02, "max-success": 0.03}


def sweep(benchmarks: Iterable[str], strangers: Sequence[str] = (), seeds: int = 5) -> list[Record]:
    """Records of seven learners, six rules and some strangers' policies on every benchmark."""
    rng = np.random.default_rng(7)
    made = []
    for identity in benchmarks:
        benchmark = benchmark_named(identity)
        common = {"optimum": 2.5 * benchmark.setting.n, "time": nan if benchmark.setting.state == "bits" else 0.8}
        hard = float(rng.uniform(0.5, 3.0))
        for method, (end, stuck) in _LEARNERS.items():
            for seed in range(seeds):
                marks = [benchmark.budget * j // 20 for j in range(1, 21)]
                safe = [hard * end * (20 / j) ** 0.8 * float(rng.lognormal(0.0, 0.25)) for j in range(1, 21)]
                lost = [inf if rng.random() < stuck else 1.3 * value for value in safe]
                made.append(
                    record(
                        method,
                        identity,
                        seed,
                        raw=lost[-1],
                        guarded=safe[-1],
                        hits=float(rng.uniform(0.3, 1.0)),
                        area=float(np.mean(np.minimum(safe, 1.0))),
                        curve=list(zip(marks, lost, safe, strict=True)),
                        budget=benchmark.budget,
                        seconds=round(float(rng.uniform(5, 200)), 3),
                        **common,
                    )
                )
        for method, regret in _RULES.items():
            made.append(rule(method, identity, regret=hard * regret, budget=benchmark.budget, seconds=0.01, **common))
        made.append(rule("constant-2", identity, regret=inf, budget=benchmark.budget, seconds=0.01, **common))
        made += [submission(name, identity, regret=0.01 * hard, seconds=0.02, **common) for name in strangers]
    return made
