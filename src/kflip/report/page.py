"""One self-contained HTML file: styles, data, script and plotly.js inside.

The tables are plain HTML, so the result can be read before, and without, any script.
"""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from string import Template
from typing import Any

from kflip.report import words
from kflip.report.tables import claims_table, numbers_table, summary_table

NEEDED = "it needs Plotly, pip install 'kflip[report]'"


def available() -> bool:
    """Whether plotly.js can be put into the page."""
    return find_spec("plotly") is not None


def render(content: dict[str, Any]) -> str:
    """Make the page.

    Parameters
    ----------
    content
        A report (``agree``, ``of``, ``numbers``, ``claims``, ``summary``, ``largest_n``, ...) with the data of its
        figures: ``maps`` and ``curves``, as :func:`kflip.paper.results.page_of` gathers them.
    """
    from plotly.offline import get_plotlyjs  # type: ignore[import-not-found, import-untyped, unused-ignore]

    figures = {"maps": content["maps"], "curves": content["curves"]}
    return Template(_piece("page.html")).substitute(
        title=escape(words.headline(content)),
        style=_piece("page.css"),
        verdict="good" if words.everything_agrees(content) else "bad",
        headline=escape(words.headline(content)),
        findings="\n".join(f"<li>{sentence}</li>" for sentence in words.findings(content)),
        maps=_section("maps", content["maps"], _piece("maps.html")),
        curves=_section("curves", content["curves"], _piece("curves.html")),
        summary=_section("summary", content["summary"], summary_table(content["summary"])),
        numbers=_section("numbers", content["numbers"], numbers_table(content["numbers"])),
        claims=_section("claims", content["claims"], claims_table(content["claims"])),
        colophon=words.colophon(content),
        data=_inside_script(json.dumps(figures, separators=(",", ":"), allow_nan=False)),
        plotly=_inside_script(get_plotlyjs()),
        script=_piece("page.js"),
    )


_HEADINGS = {
    "maps": "State by state",
    "curves": "Runtime over n",
    "summary": "How far",
    "numbers": "Number by number",
    "claims": "Claim by claim",
}


def _section(name: str, shown: list[Any], body: str) -> str:
    """A section, or nothing if there is nothing to show."""
    return f'<section id="{name}">\n<h2>{_HEADINGS[name]}</h2>\n{body}\n</section>' if shown else ""


def _piece(name: str) -> str:
    return files("kflip.report").joinpath("pieces", name).read_text(encoding="utf-8")


def _inside_script(text: str) -> str:
    """Text that cannot end the script element it is written into."""
    return text.replace("</script", "<\\/script")
