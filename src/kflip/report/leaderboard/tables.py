"""The tables of the page.  Every measure of a cell is in it; which one is seen, the style sheet decides."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import isinf, isnan, nan

from kflip.report.leaderboard import numbers, words
from kflip.sweep.entries import LEARNER
from kflip.sweep.standings import MEASURES, SEEDS, Column, Overall, Standing, Standings

#: Upper ends of the shades, from the best on: of a loss, be it a regret, an area or a share of misses.
SHADES = (0.001, 0.01, 0.03, 0.1, 1.0)


def overall_table(standings: Standings) -> str:
    """Every method over all benchmarks, by its mean place."""
    heading = (
        ("method", "text"), ("mean place", ""), ("guarded regret", ""), ("raw regret", ""), ("may never finish", ""),
        ("area", ""), ("won", ""), ("benchmarks", ""), ("time", ""),
    )  # fmt: skip
    head = "".join(_sorter(escape(text), side) for text, side in heading)
    return _table(head, [_overall_row(item, len(standings.benchmarks)) for item in standings.methods], "overall")


def _overall_row(item: Overall, of: int) -> str:
    cells = (
        (item.rank, f"{item.rank:.1f}"),
        (item.guarded, _never(numbers.regret(item.guarded))),
        (item.raw, _never(numbers.regret(item.raw))),
        (item.unfinished, f"on {item.unfinished}" if item.unfinished else numbers.NOTHING),
        (item.area, numbers.area(item.area)),
        (-item.won, str(item.won)),
        (-item.benchmarks, f"{item.benchmarks} of {of}"),
        (item.seconds if item.kind == LEARNER else nan, words.time_of(item)),
    )
    return f"<tr>{_name(item)}{''.join(f'<td data-value={_value(value)}>{text}</td>' for value, text in cells)}</tr>"


def kind_table(standings: Standings, columns: Sequence[Column]) -> str:
    """One kind of benchmark: methods by guarded regret, benchmarks by size and portfolio."""
    head = _sorter("method", "text") + "".join(_column_head(column) for column in columns)
    rows = []
    for method in words.by_regret(standings, columns):
        cells = "".join(_cell(standings, standings.at(column.id, method.method)) for column in columns)
        rows.append(f"<tr>{_name(method)}{cells}</tr>")
    return f"<h3>{escape(words.kind_title(columns[0]))}</h3>\n" + _table(head, rows, "cells")


def shades() -> str:
    """What the shades mean."""
    labels = [f"up to {numbers.regret(end)}" for end in SHADES]
    swatches = "".join(f'<span class="swatch s{j}">{text}</span>' for j, text in enumerate(labels))
    return f'<p class="caption shades"><span>Shades of loss:</span>{swatches}<span>★ best of its column</span></p>'


def _column_head(column: Column) -> str:
    setting = column.setting
    budget = "" if column.budget is None else f", budget {column.budget:,} iterations"
    about = f"{column.id}: optimal runtime {column.optimal_runtime:.6g}{budget}"
    portfolio = str(setting.portfolio).replace("powers-of-two", "powers of two")
    return _sorter(f"n = {setting.n}<br>{escape(portfolio)}", "", about)


def _sorter(html: str, side: str, about: str = "") -> str:
    title = f' title="{escape(about)}"' if about else ""
    return f'<th scope="col" class="{side}"{title}><button type="button">{html}</button></th>'


def _name(method: Overall) -> str:
    mark = "" if method.enough else f' <abbr title="fewer than {SEEDS} seeds">†</abbr>'
    return (
        f'<th scope="row" class="text" data-value="{escape(method.method)}">{escape(method.method)}'
        f"<small>{words.seeds_of(method)}{mark}</small></th>"
    )


def _cell(standings: Standings, cell: Standing | None) -> str:
    if cell is None:
        return f"<td><span class='none'>{numbers.NOTHING}</span></td>"
    values = " ".join(f"data-{name}={_value(cell.measures[name].median)}" for name in MEASURES)
    return f"<td {values}>{''.join(_measure(standings, cell, name) for name in MEASURES)}</td>"


def _measure(standings: Standings, cell: Standing, name: str) -> str:
    spread, say = cell.measures[name], numbers.WRITERS[name]
    text = _never(say(spread.median))
    star = '<span class="star" title="best of its column">★</span> ' if standings.leads(cell, name) else ""
    said = []
    if cell.seeds > 1 and not isnan(spread.worst):
        said.append(f"worst {say(spread.worst).replace(numbers.NEVER, 'never')}")
    if not cell.enough:
        said.append(f'<abbr title="{cell.seeds} of {SEEDS} seeds">†</abbr>')
    small = f"<small>{' '.join(said)}</small>" if said else ""
    return f'<span class="m {name} {_shade(spread.median, MEASURES[name])}">{star}{text}{small}</span>'


def _shade(value: float, more_is_better: bool) -> str:
    loss = 1.0 - value if more_is_better else value
    return next((f"s{j}" for j, end in enumerate(SHADES) if loss <= end + 1e-12), "")


def _never(text: str) -> str:
    return f'<b class="never">{text}</b>' if text == numbers.NEVER else text


def _value(value: float) -> str:
    """A number for sorting: what was not computed comes last, after what is infinite."""
    return '"none"' if isnan(value) else '"inf"' if isinf(value) else f'"{value!r}"'


def _table(head: str, rows: Sequence[str], name: str) -> str:
    body = "\n".join(rows)
    return (
        f'<div class="wide"><table class="{name}">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )
