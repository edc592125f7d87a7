"""The leaderboard as Markdown: for a repository, a pull request, a mail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan

from kflip.report.leaderboard import numbers, words
from kflip.report.leaderboard.words import MARKDOWN
from kflip.sweep.standings import SEEDS, Column, Standing, Standings


def render_markdown(standings: Standings) -> str:
    """Headline, findings, all methods, and for every kind of benchmark the guarded and the raw regrets."""
    parts = [f"# {MARKDOWN.text(words.headline(standings))}"]
    parts.append("\n".join(f"- {sentence}" for sentence in words.findings(standings, MARKDOWN)))
    parts += ["## Overall", _overall(standings), "## Benchmark by benchmark"]
    parts.append("Median over seeds, the worst in parentheses; the best of a column in bold.")
    for columns in standings.kinds():
        parts.append(f"### {MARKDOWN.text(words.kind_title(columns[0]))}")
        for measure in ("guarded", "raw"):
            parts += [f"{words.MEASURE_NAMES[measure].capitalize()}:", _by_benchmark(standings, columns, measure)]
    parts.append(MARKDOWN.text(words.colophon(standings)))
    return "\n\n".join(parts) + "\n"


def _overall(standings: Standings) -> str:
    heading = (
        "method", "", "mean place", "guarded regret", "raw regret", "may never finish", "won", "benchmarks", "time",
    )  # fmt: skip
    rows = [
        (
            MARKDOWN.text(item.method),
            words.seeds_of(item) + ("" if item.enough else " †"),
            f"{item.rank:.1f}",
            numbers.regret(item.guarded),
            numbers.regret(item.raw),
            f"on {item.unfinished}" if item.unfinished else "",
            str(item.won),
            str(item.benchmarks),
            words.time_of(item),
        )
        for item in standings.methods
    ]
    note = "" if all(item.enough for item in standings.methods) else f"\n\n† fewer than {SEEDS} seeds."
    return _table(heading, rows, texts=2) + note


def _by_benchmark(standings: Standings, columns: Sequence[Column], measure: str) -> str:
    heading = [
        "method",
        *(f"n = {column.setting.n}, {MARKDOWN.text(str(column.setting.portfolio))}" for column in columns),
    ]
    rows = []
    for method in words.by_regret(standings, columns):
        cells = [standings.at(column.id, method.method) for column in columns]
        rows.append([MARKDOWN.text(method.method), *(_cell(standings, cell, measure) for cell in cells)])
    return _table(heading, rows, texts=1)


def _cell(standings: Standings, cell: Standing | None, measure: str) -> str:
    if cell is None:
        return ""
    spread, say = cell.measures[measure], numbers.WRITERS[measure]
    text = say(spread.median)
    if standings.leads(cell, measure):
        text = f"**{text}**"
    if cell.seeds > 1 and not isnan(spread.worst):
        text += f" ({say(spread.worst)})"
    return text if cell.enough else f"{text} †"


def _table(heading: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    sides = ["---"] * texts + ["---:"] * (len(heading) - texts)
    return "\n".join("| " + " | ".join(row) + " |" for row in (heading, sides, *rows))
