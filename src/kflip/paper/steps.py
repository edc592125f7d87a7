"""From declarations to steps: what is done, in which order, and what each step builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from kflip.exact.sweeps import Progress
from kflip.paper import claims, curves, maps, series
from kflip.paper.experiments import LARGEST_STRING, Curves, Experiment, Maps, Summary, sizes
from kflip.setting import Setting
from kflip.solution import solve

#: What finished steps found, by name.
Known: TypeAlias = Mapping[str, dict[str, Any]]
Work: TypeAlias = Callable[[Known, Path, Progress | None], tuple[dict[str, Any], list[str]]]


@dataclass(frozen=True)
class Step:
    """One step.

    Attributes
    ----------
    name, title
        A file name, and what a person reads while it runs.
    asked
        Plain values that determine the result, together with what the steps in ``needs`` found.
    cost
        About how many seconds it takes, for an even progress bar.
    work
        Writes files below a folder; returns what it found and the names of the files.
    """

    name: str
    title: str
    asked: dict[str, Any]
    cost: float
    work: Work
    needs: tuple[str, ...] = ()


def steps_of(experiments: Iterable[Experiment], effort: str) -> list[Step]:
    """The steps of some experiments, each once, every step after those it needs."""
    unique: dict[str, Step] = {}
    for experiment in experiments:
        for step in _steps(experiment, effort):
            unique.setdefault(step.name, step)
    return list(unique.values())


def point_name(name: str, n: int) -> str:
    """Name of the step that computes one point of a series."""
    return f"point-{name}-{n}"


def claim_name(claim: str) -> str:
    """Name of the step that decides one claim."""
    return f"claim-{claim}"


def _steps(experiment: Experiment, effort: str) -> Iterator[Step]:
    for claim in experiment.claims:
        yield _claim(claim, effort)
    if isinstance(experiment, Maps):
        yield _map_table(experiment)
        yield _map_pictures(experiment)
    elif isinstance(experiment, Curves):
        wanted = [(name, n) for name in experiment.series for n in sizes(name, effort)]
        for name, n in wanted:
            yield _point(name, n)
        yield _curves(experiment, wanted)
    else:
        yield from _summary(experiment, effort)


def _claim(name: str, effort: str) -> Step:
    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        return asdict(claims.check(name, effort)), []

    asked = {"claim": name, "effort": effort if name == "policy-iteration-5" else "any"}
    return Step(claim_name(name), f"claim {name}", asked, 1.0, work)


def _map_table(experiment: Maps) -> Step:
    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        return maps.compute(experiment, out)

    return Step(f"table-{experiment.name}", f"{experiment.name}: every state", asdict(experiment), 3.0, work)


def _map_pictures(experiment: Maps) -> Step:
    table = f"table-{experiment.name}"

    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        crosses = [(int(lo), int(om)) for lo, om in known[table]["crosses"]]
        return {}, maps.draw(experiment, crosses, out, progress)

    return Step(f"pictures-{experiment.name}", f"{experiment.name}: pictures", asdict(experiment), 3.0, work, (table,))


def _point(name: str, n: int) -> Step:
    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        total, partial = series.totals(series.by_id(name), n, progress)
        return {"total": total, "partial": partial}, []

    # measured: solving takes about n^2.1, and policy iteration four times as long
    cost = 4.0 * (n / 1024) ** 2.1 * (4.0 if name == "lo-standard-optimal" else 1.0)
    return Step(point_name(name, n), f"{name}, n = {n}", {"series": series.by_id(name), "n": n}, cost, work)


def _curves(experiment: Curves, wanted: list[tuple[str, int]]) -> Step:
    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        found = {(name, n): known[point_name(name, n)] for name, n in wanted}
        points = {key: (entry["total"], entry["partial"]) for key, entry in found.items()}
        return {}, curves.write_curves(experiment, points, out)

    needs = tuple(point_name(name, n) for name, n in wanted)
    return Step(f"curves-{experiment.name}", f"{experiment.name}: curves", asdict(experiment), 1.0, work, needs)


def _summary(experiment: Summary, effort: str) -> Iterator[Step]:
    largest: dict[str, int] = {}
    needs: dict[str, str] = {}
    for benchmark in experiment.benchmarks:
        if benchmark.series is None:
            n = LARGEST_STRING[effort]
            step = _string_point(benchmark.objective, benchmark.selection, n)
        else:
            n = max(sizes(benchmark.series, effort))
            step = _point(benchmark.series, n)
        yield step
        largest[benchmark.title], needs[benchmark.title] = n, step.name

    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        rows = []
        for benchmark in experiment.benchmarks:
            found = known[needs[benchmark.title]]["total"]
            row = {**asdict(benchmark), "benchmark": benchmark.title, "our_n": largest[benchmark.title]}
            rows.append({**row, "expected_runtime": found})
        return {"rows": rows}, curves.write_summary(experiment, rows, out)

    asked = {**asdict(experiment), "largest": largest}
    yield Step(f"table-{experiment.name}", f"{experiment.name}: table", asked, 1.0, work, tuple(needs.values()))


def _string_point(objective: str, selection: str, n: int) -> Step:
    setting = Setting(n, objective, selection, "bits")

    def work(known: Known, out: Path, progress: Progress | None) -> tuple[dict[str, Any], list[str]]:
        return {"total": solve(setting, progress=progress).expected_runtime}, []

    name = f"strings-{objective}-{selection}"
    return Step(point_name(name, n), f"{name}, n = {n}", setting.to_dict(), 8.0 * 4.5 ** ((n - 22) / 2), work)
