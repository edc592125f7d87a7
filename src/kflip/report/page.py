"""One self-contained HTML file: styles, data, script and plotly.js inside.

The tables are plain HTML, so the result can be read before, and without, any script.
"""

from __future__ import annotations

from typing import Any

from kflip.report import words
from kflip.report.assembly import assemble, piece, section
from kflip.report.tables import claims_table, numbers_table, summary_table


def render(content: dict[str, Any]) -> str:
    """Make the page.

    Parameters
    ----------
    content
        A report (``agree``, ``of``, ``numbers``, ``claims``, ``summary``, ``largest_n``, ...) with the data of its
        figures: ``maps`` and ``curves``, as :func:`kflip.paper.results.page_of` gathers them.
    """
    bodies = {
        "maps": ("State by state", piece("maps.html")),
        "curves": ("Runtime over n", piece("curves.html")),
        "summary": ("How far", summary_table(content["summary"])),
        "claims": ("Claim by claim", claims_table(content["claims"])),
        "numbers": ("Number by number", numbers_table(content["numbers"])),
    }
    return assemble(
        headline=words.headline(content),
        good=words.everything_agrees(content),
        findings=words.findings(content),
        sections=[section(name, *parts) for name, parts in bodies.items() if content[name]],
        colophon=words.colophon(content),
        styles=[piece("page.css")],
        data={"maps": content["maps"], "curves": content["curves"]},
        scripts=[piece("shared.js"), piece("page.js")],
    )
