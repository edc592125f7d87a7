"""Records as numbers, and the test whether they may stand in one table.

Records are compared only if they answer the same question: one setting for each benchmark, one budget for all learners
on it, one set of options for each method.  Anything else is an error that names two records which do not fit together;
averaging them, or keeping the newer, would give a number that belongs to no method.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, isclose, nan
from typing import Any

from kflip.errors import FileFormatError, InputError
from kflip.setting import Setting
from kflip.sweep.suite import SUITES

#: A learner has a curve, a rule has none, a submission has no budget either.
LEARNER, RULE, SUBMISSION = "learner", "rule", "submission"

#: Optimal runtimes of one setting may differ by rounding on another machine, not by more than this share.
_SAME = 1e-9


@dataclass(frozen=True)
class Mark:
    """One point of a learning curve."""

    iterations: int
    raw: float
    guarded: float


@dataclass(frozen=True)
class Entry:
    """One record as numbers; what was not computed is NaN.

    Attributes
    ----------
    key
        The record's, which is the name of its file.
    benchmark, setting, budget, method, options, seed
        The task; neither budget nor seed for a submission.
    kind
        :data:`LEARNER`, :data:`RULE` or :data:`SUBMISSION`.
    optimal_runtime, raw, guarded, hits, time, area
        Runtime of the optimal policy, both regrets, both hit ratios and the area under the learning curve.
    curve
        Regrets on the way, for a learner.
    spent, seconds
        Iterations and time it took.
    """

    key: str
    benchmark: str
    setting: Setting
    budget: int | None
    method: str
    options: dict[str, Any]
    seed: int | None
    kind: str
    optimal_runtime: float
    raw: float
    guarded: float
    hits: float
    time: float
    area: float
    curve: tuple[Mark, ...]
    spent: float
    seconds: float


def entries_of(records: Iterable[Mapping[str, Any]]) -> list[Entry]:
    """Read records, and refuse those that cannot stand in one table."""
    entries = [_entry(record) for record in records]
    if not entries:
        raise InputError("no records: run kflip sweep first")
    known = {benchmark.id: benchmark.setting for suite in SUITES.values() for benchmark in suite}
    for entry in entries:
        wanted = known.get(entry.benchmark, entry.setting)
        if entry.setting != wanted:
            raise InputError(f"{_which(entry)} is of {entry.setting}, but the benchmark is {wanted}")
    _agree("settings", entries, lambda entry: entry.benchmark, lambda entry: entry.setting)
    _agree("kinds", entries, lambda entry: entry.method, lambda entry: entry.kind)
    _agree("options", entries, _comparable, lambda entry: entry.options)
    learners = [entry for entry in entries if entry.kind == LEARNER]
    _agree("budgets", learners, lambda entry: entry.benchmark, lambda entry: entry.budget)
    _once(entries)
    _one_optimum(entries)
    return entries


def _comparable(entry: Entry) -> Hashable:
    """Records that must share their options: all of a method, but a submission has one policy for each benchmark."""
    return (entry.method, entry.benchmark) if entry.kind == SUBMISSION else entry.method


def _agree(
    what: str, entries: Iterable[Entry], group: Callable[[Entry], Hashable], value: Callable[[Entry], object]
) -> None:
    first: dict[Hashable, Entry] = {}
    for entry in entries:
        other = first.setdefault(group(entry), entry)
        if value(other) != value(entry):
            raise InputError(
                f"records with different {what} cannot be compared: {_which(other)} has {_shown(value(other))},"
                f" {_which(entry)} has {_shown(value(entry))}; keep those of one kind"
            )


def _shown(value: object) -> str:
    return ", ".join(f"{key} {item}" for key, item in value.items()) if isinstance(value, dict) else str(value)


def _once(entries: Iterable[Entry]) -> None:
    first: dict[Hashable, Entry] = {}
    for entry in entries:
        other = first.setdefault((entry.benchmark, entry.method, entry.seed), entry)
        if other is not entry:
            raise InputError(f"two records of one task: {_which(other)} and {_which(entry)}; keep one")


def _one_optimum(entries: Iterable[Entry]) -> None:
    first: dict[str, Entry] = {}
    for entry in entries:
        other = first.setdefault(entry.benchmark, entry)
        if not isclose(other.optimal_runtime, entry.optimal_runtime, rel_tol=_SAME):
            raise InputError(
                f"two optimal runtimes of {entry.benchmark}: {other.optimal_runtime!r} in {_which(other)},"
                f" {entry.optimal_runtime!r} in {_which(entry)}"
            )


def _which(entry: Entry) -> str:
    seed = "" if entry.kind != LEARNER else f" seed {entry.seed}"
    return f"{entry.method!r} on {entry.benchmark}{seed} ({entry.key[:12]}.json)"


def _entry(record: Mapping[str, Any]) -> Entry:
    key = str(record.get("key"))
    try:
        task, result = record["task"], record["result"]
        score, budget, seed = result["score"], task["budget"], task["seed"]
        curve = tuple(
            Mark(_whole(point["iterations"]), _number(point["regret"]), _number(point["guarded_regret"]))
            for point in result["curve"]
        )
        return Entry(
            key=key,
            benchmark=_text(task["benchmark"]),
            setting=Setting(**task["setting"]),
            budget=None if budget is None else _whole(budget),
            method=_text(task["method"]),
            options=dict(task["options"]),
            seed=None if seed is None else _whole(seed),
            kind=LEARNER if curve else SUBMISSION if budget is None else RULE,
            optimal_runtime=_number(result["optimal_runtime"]),
            raw=_number(score["regret"]),
            guarded=_number(score["guarded_regret"]),
            hits=_number(score["hit_ratio"]),
            time=_number(score["hit_ratio_time"]),
            area=_number(result["area"]),
            curve=curve,
            spent=_number(result["spent"]),
            seconds=_number(record["seconds"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        why = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(f"record {key[:12]}.json cannot be used: {why}") from None


def _number(value: object) -> float:
    if value is None:
        return nan
    if value == "inf":
        return inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{value!r} is not a whole number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not a name")
    return value
