"""The sentences of the leaderboard: the result first.  Names come from strangers, so every one is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from math import isnan

import kflip
from kflip.report.leaderboard.numbers import NOTHING, duration, regret
from kflip.sweep.entries import LEARNER, RULE, SUBMISSION
from kflip.sweep.standings import SEEDS, Column, Overall, Standings, median_of

#: What the second line of a method says.
KINDS = {LEARNER: "learner", RULE: "no training", SUBMISSION: "submission"}

MEASURE_NAMES = {
    "guarded": "guarded regret",
    "raw": "raw regret",
    "hits": "hits by state",
    "time": "hits by time",
    "area": "area",
}

MEANINGS = {
    "guarded": "Expected runtime over the optimal one, minus 1, of the policy with k = 1 in states that training never"
    " saw left with its radius. Less is better.",
    "raw": "Expected runtime over the optimal one, minus 1, of the policy exactly as it was learned. One state with a"
    " hopeless radius is enough to never finish. Less is better.",
    "hits": "Share of all states in which the policy picks an optimal radius. More is better.",
    "time": "Share of the iterations of a run spent in states with an optimal radius; of a run that gets stuck, where"
    " it is stuck. More is better.",
    "area": "Mean of the guarded regret over training, each point counted as 1 at most. Less is better: it learned"
    " sooner.",
}


@dataclass(frozen=True)
class Markup:
    """How a language writes text that is not ours, and how it stresses it."""

    text: Callable[[str], str]
    strong: Callable[[str], str]


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]#|!~$])", r"\\\1", escape(text, quote=False))


HTML = Markup(escape, lambda text: f"<b>{escape(text)}</b>")
MARKDOWN = Markup(_markdown, lambda text: f"**{_markdown(text)}**")


def leader(standings: Standings) -> Overall:
    """The method that won most benchmarks; of several the one with the better mean place."""
    return min(standings.methods, key=lambda item: (-item.won, item.rank, item.method))


def headline(standings: Standings) -> str:
    """The result in one line."""
    first, of = leader(standings), len(standings.benchmarks)
    where = "the one benchmark" if of == 1 else f"{first.won} of {of} benchmarks"
    return f"{first.method} is best on {where}; its median regret is {regret(first.guarded)}"


def findings(standings: Standings, write: Markup) -> list[str]:
    """What else there is to know."""
    said = [_of_kind(standings, columns, write) for columns in standings.kinds()]
    stuck = [item for item in standings.methods if item.unfinished]
    if stuck:
        listed = ", ".join(f"{write.text(item.method)} on {item.unfinished} of {item.benchmarks}" for item in stuck)
        share = write.strong(f"{len(stuck)} of {len(standings.methods)}")
        said.append(f"{share} methods may never finish if nothing guards them: {listed}.")
    few = [item for item in standings.methods if not item.enough]
    if few:
        listed = ", ".join(f"{write.text(item.method)} ({item.seeds})" for item in few)
        said.append(f"{write.strong(f'Fewer than {SEEDS} seeds')}, so not yet by the protocol: {listed}.")
    odd = [column for column in standings.benchmarks if not column.official]
    if odd:
        listed = ", ".join(f"{write.text(column.id)} ({column.budget:,})" for column in odd)
        said.append(f"{write.strong('Not the budget of the suite')}: {listed}.")
    return said


def _of_kind(standings: Standings, columns: Sequence[Column], write: Markup) -> str:
    """Who wins a kind of benchmark, and by which regret."""
    winners = list(dict.fromkeys(column.best for column in columns))
    winners.sort(key=lambda name: -sum(column.best == name for column in columns))
    lost = sorted(_median(standings, column) for column in columns)
    between = regret(lost[0]) if lost[0] == lost[-1] else f"{regret(lost[0])} to {regret(lost[-1])}"
    names = ", ".join(write.strong(name) for name in winners)
    return f"{write.text(kind_title(columns[0]))}: won by {names} with {between}."


def _median(standings: Standings, column: Column) -> float:
    return standings.cells[column.id, column.best].measures["guarded"].median


def kind_title(column: Column) -> str:
    """What the benchmarks of one table share."""
    setting = column.setting
    goal = {"lo": "LeadingOnes", "loom": "(LeadingOnes, OneMax)"}[setting.objective]
    seen = {"lo": "LO", "lo-om": "(LO, OM)", "bits": "the string"}[setting.state]
    return f"{goal}, {setting.selection} selection, seeing {seen}"


def seeds_of(method: Overall) -> str:
    """The second line of a method: what it is, and how many seeds it had."""
    if method.kind != LEARNER:
        return KINDS[method.kind]
    return f"{KINDS[LEARNER]}, {method.seeds} seed{'s' if method.seeds != 1 else ''}"


def time_of(method: Overall) -> str:
    """How long it trained."""
    return duration(method.seconds) if method.kind == LEARNER else NOTHING


def by_regret(standings: Standings, columns: Sequence[Column]) -> list[Overall]:
    """Methods with a record on one of the benchmarks, by the median of their guarded regrets there."""
    found: dict[str, list[float]] = {}
    for column in columns:
        for cell in standings.on(column.id):
            found.setdefault(cell.method, []).append(cell.measures["guarded"].median)
    medians = {name: median_of(values) for name, values in found.items()}
    held = [item for item in standings.methods if item.method in found]
    return sorted(held, key=lambda item: (isnan(medians[item.method]), round(medians[item.method], 12), item.rank))


def colophon(standings: Standings) -> str:
    """Where the numbers come from, as plain text."""
    records = sum(cell.seeds for cell in standings.cells.values())
    return (
        f"Made by kflip leaderboard, kflip {kflip.__version__}, from {records} records. Runtimes are exact expectations"
        " on the chain, from a uniformly random string: nothing is sampled. Over the seeds of a learner the median"
        " is shown, and the worst in small type. The final policy is the one at the end of the budget, not the best on"
        " the way. Places are by median guarded regret; a method without a record shares the last ones."
    )
