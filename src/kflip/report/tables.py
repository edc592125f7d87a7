"""The tables of the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from itertools import groupby
from typing import Any

#: Headings of columns of text; numbers stand to the right.
_TEXTS = {"benchmark, selection, what the policy sees", "the paper says", "we find", "verdict"}
_LEFT = ' class="text"'

_MARKS = {"agrees": "good", "agrees without OM = LO starts": "good", "differs": "bad"}


def numbers_table(numbers: list[dict[str, Any]]) -> str:
    """Every published number beside ours."""
    heading = (
        "n",
        "published",
        "ours",
        "relative difference",
        "without OM = LO starts",
        "relative difference",
        "verdict",
    )
    body = []
    for name, group in groupby(numbers, key=lambda item: item["series"]):
        body.append(f'<tr class="group"><th colspan="{len(heading)}">{escape(name)}</th></tr>')
        for item in group:
            cells = (
                str(item["n"]),
                f"{item['published']:.13f}",
                f"{item['ours']:.13f}",
                f"{item['difference']:+.1e}",
                f"{item['as_published']:.13f}",
                f"{item['difference_as_published']:+.1e}",
            )
            body.append(_row(cells, _verdict(item["verdict"], _MARKS[item["verdict"]])))
    return "<p>Expected runtimes, divided by n ln n or n² as in the paper.</p>" + _table(heading, body)


def claims_table(claims: list[dict[str, Any]]) -> str:
    """Every claim and what was computed."""
    body = []
    for item in claims:
        texts = "".join(f'<td class="text long">{escape(item[key])}</td>' for key in ("text", "found"))
        body.append(f"<tr>{texts}{_verdict(item['verdict'], 'good' if item['holds'] else 'bad')}</tr>")
    return _table(("the paper says", "we find", "verdict"), body)


def summary_table(rows: list[dict[str, Any]]) -> str:
    """The benchmarks with the largest n computed."""
    body = []
    for row in rows:
        cells = (str(row["paper_n"]), str(row["our_n"]), f"{row['expected_runtime']:,.3f}")
        numbers = "".join(f"<td>{cell}</td>" for cell in cells)
        body.append(f'<tr><td class="text long">{escape(row["benchmark"])}</td>{numbers}</tr>')
    heading = ("benchmark, selection, what the policy sees", "largest n, paper", "largest n, here", "expected runtime")
    return _table(heading, body)


def _row(cells: Iterable[str], last: str) -> str:
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + last + "</tr>"


def _verdict(text: str, mark: str) -> str:
    return f'<td class="text {mark}">{escape(text)}</td>'


def _table(heading: Iterable[str], body: Iterable[str]) -> str:
    head = "".join(f"<th{_LEFT if text in _TEXTS else ''}>{escape(text)}</th>" for text in heading)
    return (
        f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n'
        + "\n".join(body)
        + "\n</tbody></table></div>"
    )
