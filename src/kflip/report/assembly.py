"""What every page is put together from: one template, styles, data, script and plotly.js, all inside one file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from string import Template
from typing import Any

NEEDED = "it needs Plotly, pip install 'kflip[report]'"


def available() -> bool:
    """Whether plotly.js can be put into a page."""
    return find_spec("plotly") is not None


def assemble(
    *,
    headline: str,
    good: bool,
    findings: Iterable[str],
    sections: Iterable[str],
    colophon: str,
    styles: Iterable[str],
    data: dict[str, Any],
    scripts: Iterable[str],
) -> str:
    """One self-contained page.

    Parameters
    ----------
    headline
        The result in one line, as text.
    good
        Whether the result is what one hopes for; the colour beside it.
    findings, sections, colophon
        As HTML.
    styles, scripts
        Texts of style sheets and scripts, in their order; the scripts find plotly.js loaded.
    data
        JSON values that the scripts read from the element ``data``.
    """
    from plotly.offline import get_plotlyjs  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return Template(piece("page.html")).substitute(
        title=escape(headline),
        style="\n".join(styles),
        verdict="good" if good else "bad",
        headline=escape(headline),
        findings="\n".join(f"<li>{sentence}</li>" for sentence in findings),
        sections="\n".join(sections),
        colophon=colophon,
        data=json_inside_script(data),
        # the library's own text; only what ends the element has to go
        plotly=get_plotlyjs().replace("</script", "<\\/script"),
        script="\n".join(scripts),
    )


def section(name: str, heading: str, body: str) -> str:
    """A section with a heading, as HTML."""
    return f'<section id="{name}">\n<h2>{heading}</h2>\n{body}\n</section>'


def piece(name: str, package: str = "kflip.report") -> str:
    """A file in the folder ``pieces`` of a package."""
    return files(package).joinpath("pieces", name).read_text(encoding="utf-8")


def json_inside_script(content: dict[str, Any]) -> str:
    """JSON without the one character that could end, or comment out, the element it is written into."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
