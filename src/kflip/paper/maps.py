"""Map experiments: everything about every state of one policy, in a table and in pictures."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kflip import figures
from kflip.analysis import regret_by_state, visits
from kflip.evaluation import Evaluation, evaluate
from kflip.exact.sweeps import Progress
from kflip.paper.claims import string_differences
from kflip.paper.experiments import Maps
from kflip.paper.tables import write_table
from kflip.policy import Policy, exists
from kflip.setting import Setting
from kflip.simulate import simulate
from kflip.solution import Solution, solve

#: Trajectories drawn, and what makes them the same every time.
RUNS, SEED = 10, 1

STATE_COLUMNS = ("lo", "om", "radius", "optimal_radii", "value", "visit_probability", "visits", "regret")
RUN_COLUMNS = ("run", "iteration", "radius", "lo", "om")


def compute(maps: Maps, out: Path) -> tuple[dict[str, Any], list[str]]:
    """Write the table of the states and that of the runs; return the totals and the names of the files."""
    setting = setting_of(maps)
    best = solve(setting)
    result = _result(maps, best)
    written = [f"{maps.name}/states.csv"]
    write_table(out / written[0], STATE_COLUMNS, _states(setting, best, result))
    if "trajectories" in maps.drawn:
        written.append(f"{maps.name}/trajectories.csv")
        write_table(out / written[1], RUN_COLUMNS, _runs(result))
    crosses = string_differences(maps.n, maps.objective, maps.selection) if maps.crosses else []
    content = {
        "expected_runtime": result.expected_runtime,
        "regret": result.expected_runtime / best.expected_runtime - 1.0,
        "crosses": [list(state) for state in crosses],
    }
    return content, written


def draw(maps: Maps, crosses: list[tuple[int, int]], out: Path, progress: Progress | None) -> list[str]:
    """Write the pictures; return their names."""
    result = _result(maps, solve(setting_of(maps)))
    written: list[str] = []
    for number, what in enumerate(maps.drawn):
        if what == "trajectories":
            figure = figures.trajectories(result, RUNS, SEED, what=maps.over)
        else:
            figure = figures.heatmap(result, what, crosses=crosses or None, annotate=maps.annotate)
        for suffix in figures.FORMATS:
            written.append(f"{maps.name}/{what}{suffix}")
            figures.save(figure, out / written[-1])
        if progress is not None:
            progress((number + 1) / len(maps.drawn))
    return written


def setting_of(maps: Maps) -> Setting:
    """The benchmark; policies that see LO alone are drawn over (LO, OM) as well."""
    return Setting(maps.n, maps.objective, maps.selection)


def _result(maps: Maps, best: Solution) -> Solution | Evaluation:
    return best if maps.policy == "optimal" else evaluate(best.setting, maps.policy)


def _states(setting: Setting, best: Solution, result: Solution | Evaluation) -> Iterator[tuple[Any, ...]]:
    policy = result.policy
    if not isinstance(policy, Policy):
        raise TypeError("maps show policies with one radius per state")
    seen = visits(setting, policy)
    lost = np.zeros(setting.shape) if result is best else regret_by_state(setting, policy)
    numbers = (result.values, seen.probability, seen.expected, lost)
    for (lo, om), ties in _optimal_radii(setting).items():
        yield (lo, om, policy.at(lo, om), ties, *(float(array[lo, om]) for array in numbers))


@cache
def _optimal_radii(setting: Setting) -> dict[tuple[int, int], str]:
    """All optimal radii of every state; kept, because several maps share a setting and every radius is tried."""
    best = solve(setting)
    states = np.argwhere(exists(setting.n, "lo-om")).tolist()
    return {(lo, om): " ".join(map(str, best.optimal_radii(lo, om))) for lo, om in states}


def _runs(result: Solution | Evaluation) -> Iterator[tuple[int, ...]]:
    made = simulate(result.setting, result.policy, RUNS, SEED, record="trajectories")
    for run in range(RUNS):
        path = made.trajectory(run)
        for row in zip(path.iteration, path.k, path.lo, path.om, strict=True):
            yield (run, *(int(entry) for entry in row))
