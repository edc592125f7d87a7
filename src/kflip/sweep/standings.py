r"""Standings: what the records say about every method on every benchmark, and over all of them.

Over the seeds of a method on a benchmark the *median* and the *worst* are kept; an infinite regret, of a policy that
may never finish, takes part as the number it is.  A benchmark is won by the smallest median guarded regret.  Ranks are
fractional (methods that tie share the mean of their places), and methods without a record on a benchmark share the
last places there: leaving out the hard ones does not help.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from math import isfinite, isinf, isnan, nan
from statistics import mean, median
from typing import Any

from kflip.setting import Setting
from kflip.sweep.entries import LEARNER, Entry, entries_of
from kflip.sweep.learning_curves import Curve, curve_of
from kflip.sweep.suite import SUITES, Benchmark

#: Seeds that the protocol asks of a learner.
SEEDS = 5

#: What is measured, and whether more of it is better: regret of the guarded policy and of the policy as it stands,
#: share of states and of time with an optimal radius, area under the learning curve.
MEASURES = {"guarded": False, "raw": False, "hits": True, "time": True, "area": False}

#: Regrets are compared to this many decimals; what is below is rounding.
_DECIMALS = 12


@dataclass(frozen=True)
class Spread:
    """Median and worst over seeds; NaN if a seed has no such number."""

    median: float
    worst: float


@dataclass(frozen=True)
class Standing:
    """One method on one benchmark.

    Attributes
    ----------
    measures
        Every one of :data:`MEASURES` over seeds.
    seeds, enough
        How many, and whether as many as the protocol asks; what does not learn needs one.
    spent, seconds
        Medians of the iterations and the time it took.
    rank
        Place on the benchmark, from 1.
    curve
        Regrets on the way, for a learner.
    """

    benchmark: str
    method: str
    kind: str
    measures: Mapping[str, Spread]
    seeds: int
    enough: bool
    spent: float
    seconds: float
    rank: float
    curve: Curve | None

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the curve."""
        fields = {key: value for key, value in vars(self).items() if key not in ("measures", "curve")}
        return fields | {name: asdict(spread) for name, spread in self.measures.items()}


@dataclass(frozen=True)
class Column:
    """One benchmark.

    Attributes
    ----------
    id, setting
        What it is called and what it is.
    size
        ``"small"``, ``"medium"``, ``"large"``, or empty outside the suites.
    budget
        Iterations that learners could spend; None without learners.
    official
        Whether that is what its suite allows; always so outside the suites.
    optimal_runtime
        Expected runtime of the optimal policy.
    best
        The method that won it; of several the first by name.
    """

    id: str
    setting: Setting
    size: str
    budget: int | None
    official: bool
    optimal_runtime: float
    best: str

    @property
    def kind(self) -> tuple[str, str, str]:
        """Objective, selection and state; benchmarks that share these stand in one table."""
        return self.setting.objective, self.setting.selection, self.setting.state

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return vars(self) | {"setting": self.setting.to_dict()}


@dataclass(frozen=True)
class Overall:
    """One method over all benchmarks.

    Attributes
    ----------
    benchmarks, won
        On how many it has records, and how many it won.
    rank
        Mean place over all benchmarks.
    guarded, raw, area, seconds
        Medians over its benchmarks of its medians over seeds.
    unfinished
        Benchmarks on which the policy as it stands may never finish, with some seed.
    seeds, enough
        The fewest on a benchmark, and whether they are as many as the protocol asks.
    """

    method: str
    kind: str
    benchmarks: int
    won: int
    rank: float
    guarded: float
    raw: float
    area: float
    unfinished: int
    seeds: int
    enough: bool
    seconds: float


@dataclass(frozen=True)
class Standings:
    """All of it: benchmarks in the order of their suite, methods by their mean place."""

    benchmarks: tuple[Column, ...]
    methods: tuple[Overall, ...]
    cells: Mapping[tuple[str, str], Standing]

    def at(self, benchmark: str, method: str) -> Standing | None:
        """One method on one benchmark; None without a record."""
        return self.cells.get((benchmark, method))

    def on(self, benchmark: str) -> list[Standing]:
        """Every method on one benchmark, best first."""
        return sorted(
            (cell for cell in self.cells.values() if cell.benchmark == benchmark),
            key=lambda cell: (cell.rank, cell.method),
        )

    def leads(self, cell: Standing, measure: str) -> bool:
        """Whether nobody on the benchmark has a better median of a measure; many may tie, none leads at infinity."""
        medians = [other.measures[measure].median for other in self.on(cell.benchmark)]
        value = cell.measures[measure].median
        best = (max if MEASURES[measure] else min)((known for known in medians if isfinite(known)), default=nan)
        return isfinite(value) and round(value, _DECIMALS) == round(best, _DECIMALS)

    def kinds(self) -> list[tuple[Column, ...]]:
        """The benchmarks, those of one kind together, in the order of the first."""
        found: dict[tuple[str, str, str], list[Column]] = {}
        for column in self.benchmarks:
            found.setdefault(column.kind, []).append(column)
        return [tuple(columns) for columns in found.values()]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the curves."""
        return {
            "benchmarks": [column.to_dict() for column in self.benchmarks],
            "methods": [asdict(method) for method in self.methods],
            "standings": [cell.to_dict() for column in self.benchmarks for cell in self.on(column.id)],
        }


def standings_of(records: Iterable[Mapping[str, Any]]) -> Standings:
    """Gather the standings from records.

    Raises
    ------
    InputError
        If there are none, or if two of them cannot stand in one table (:mod:`kflip.sweep.entries`).
    FileFormatError
        If one lacks what a record has.
    """
    entries = sorted(entries_of(records), key=lambda entry: (entry.benchmark, entry.method, entry.seed or 0))
    methods = sorted({entry.method for entry in entries})
    cells: dict[tuple[str, str], Standing] = {}
    places: dict[str, list[float]] = {method: [] for method in methods}
    columns = []
    for benchmark, of_benchmark in groupby(entries, key=lambda entry: entry.benchmark):
        here = list(of_benchmark)
        by_method = {method: list(group) for method, group in groupby(here, key=lambda entry: entry.method)}
        ranks = _ranks(
            {name: median_of([entry.guarded for entry in group]) for name, group in by_method.items()}, methods
        )
        for method in methods:
            places[method].append(ranks[method])
        cells |= {(benchmark, name): _standing(group, ranks[name]) for name, group in by_method.items()}
        columns.append(_column(here, min(by_method, key=lambda name: (ranks[name], name))))
    columns.sort(key=_order)
    won = [column.best for column in columns]
    overall = []
    for method in methods:
        held = [cell for cell in cells.values() if cell.method == method]
        overall.append(_overall(held, won.count(method), mean(places[method])))
    return Standings(tuple(columns), tuple(sorted(overall, key=lambda item: (item.rank, item.method))), cells)


def median_of(values: Sequence[float]) -> float:
    """Median; infinite values count as such, and with one that is NaN there is none."""
    return nan if not values or any(map(isnan, values)) else median(values)


def _ranks(regrets: Mapping[str, float], methods: Sequence[str]) -> dict[str, float]:
    """Fractional ranks by regret; NaN after infinity, and after both the methods without a regret."""

    def place(method: str) -> tuple[int, float]:
        value = regrets.get(method)
        if value is None:
            return 2, 0.0
        return (1, 0.0) if isnan(value) else (0, round(value, _DECIMALS) + 0.0)

    ranks: dict[str, float] = {}
    for _, tied in groupby(sorted(methods, key=place), key=place):
        names = list(tied)
        ranks |= dict.fromkeys(names, len(ranks) + (len(names) + 1) / 2)
    return ranks


def _standing(entries: Sequence[Entry], rank: float) -> Standing:
    """One method on one benchmark, from its seeds."""
    some = entries[0]
    learns = some.kind == LEARNER
    return Standing(
        benchmark=some.benchmark,
        method=some.method,
        kind=some.kind,
        measures={
            name: _spread([getattr(entry, name) for entry in entries], more_is_better)
            for name, more_is_better in MEASURES.items()
        },
        seeds=len(entries),
        enough=len(entries) >= SEEDS or not learns,
        spent=median_of([entry.spent for entry in entries]),
        seconds=median_of([entry.seconds for entry in entries]),
        rank=rank,
        curve=curve_of([entry.curve for entry in entries]) if learns else None,
    )


def _spread(values: Sequence[float], more_is_better: bool) -> Spread:
    if any(map(isnan, values)):
        return Spread(nan, nan)
    return Spread(median(values), min(values) if more_is_better else max(values))


def _column(entries: Sequence[Entry], best: str) -> Column:
    some = entries[0]
    budget = next((entry.budget for entry in entries if entry.kind == LEARNER), None)
    known = _in_suites().get(some.benchmark)
    official = known is None or budget is None or budget == known.budget
    size = "" if known is None else known.size
    return Column(some.benchmark, some.setting, size, budget, official, some.optimal_runtime, best)


def _in_suites() -> dict[str, Benchmark]:
    return {benchmark.id: benchmark for suite in SUITES.values() for benchmark in suite}


def _order(column: Column) -> tuple[int, str]:
    """The suites' benchmarks first and in their order, then the others by name."""
    order = list(_in_suites())
    return (order.index(column.id) if column.id in order else len(order)), column.id


def _overall(cells: Sequence[Standing], won: int, rank: float) -> Overall:
    medians = {name: [cell.measures[name].median for cell in cells] for name in MEASURES}
    return Overall(
        method=cells[0].method,
        kind=cells[0].kind,
        benchmarks=len(cells),
        won=won,
        rank=rank,
        guarded=median_of(medians["guarded"]),
        raw=median_of(medians["raw"]),
        area=median_of(medians["area"]),
        unfinished=sum(isinf(cell.measures["raw"].worst) for cell in cells),
        seeds=min(cell.seeds for cell in cells),
        enough=all(cell.enough for cell in cells),
        seconds=median_of([cell.seconds for cell in cells]),
    )
