"""The leaderboard as one self-contained HTML file.

The tables are plain HTML, so the result can be read before, and without, any script; a script sorts them, and draws
the learning curves.  Names of methods come from strangers: they are escaped here, and once more where a plot would
read markup in them.
"""

from __future__ import annotations

from dataclasses import asdict
from html import escape
from typing import Any

from kflip.export import jsonable
from kflip.report.assembly import assemble, piece, section
from kflip.report.leaderboard import words
from kflip.report.leaderboard.tables import kind_table, overall_table, shades
from kflip.sweep.standings import Column, Standing, Standings

_PACKAGE = "kflip.report.leaderboard"


def render_page(standings: Standings) -> str:
    """Make the page; it needs Plotly, see :func:`kflip.report.available`."""
    curves = [_curves(standings, column) for column in standings.benchmarks if column.budget is not None]
    sections = [
        section("overall", "Overall", piece("overall.html", _PACKAGE) + overall_table(standings)),
    ]
    if curves:
        sections.append(section("curves", "Learning curves", piece("curves.html", _PACKAGE)))
    sections.append(section("cells", "Benchmark by benchmark", _tables(standings)))
    return assemble(
        headline=words.headline(standings),
        good=True,
        findings=words.findings(standings, words.HTML),
        sections=sections,
        colophon=escape(words.colophon(standings)),
        styles=[piece("page.css"), piece("leaderboard.css", _PACKAGE)],
        data=jsonable(
            {
                "curves": curves,
                "learners": _named(standings, True),
                "levels": _named(standings, False),
                "measures": words.MEASURE_NAMES,
            }
        ),
        scripts=[piece("shared.js"), piece("leaderboard.js", _PACKAGE)],
    )


def _tables(standings: Standings) -> str:
    meanings = "".join(f'<p class="caption m {name}">{escape(text)}</p>' for name, text in words.MEANINGS.items())
    tables = "\n".join(kind_table(standings, columns) for columns in standings.kinds())
    controls = piece("measures.html", _PACKAGE)
    return f'<div id="measured" data-measure="guarded">\n{controls}{meanings}\n{shades()}\n{tables}\n</div>'


def _named(standings: Standings, learns: bool) -> list[str]:
    """Names in a fixed order, so that a method has one colour on every benchmark."""
    return sorted({cell.method for cell in standings.cells.values() if (cell.curve is not None) == learns})


def _curves(standings: Standings, column: Column) -> dict[str, Any]:
    cells = standings.on(column.id)
    return {
        "title": f"{column.id}: {words.kind_title(column)}",
        "id": column.id,
        "budget": column.budget,
        "optimum": column.optimal_runtime,
        "lines": [_line(cell) for cell in cells if cell.curve is not None],
        "levels": [
            {"method": cell.method, "kind": words.KINDS[cell.kind]}
            | {name: cell.measures[name].median for name in ("guarded", "raw")}
            for cell in cells
            if cell.curve is None
        ],
    }


def _line(cell: Standing) -> dict[str, Any]:
    return {"method": cell.method, "seeds": cell.seeds} | (asdict(cell.curve) if cell.curve is not None else {})
