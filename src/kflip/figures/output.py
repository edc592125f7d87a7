"""Figures as files: the same figure always gives the same bytes."""

from __future__ import annotations

import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure

from kflip.errors import InputError
from kflip.files import atomic_write

#: What a file name may end in, and how it is written.  Dots per inch in a PDF are those of maps and of crowded lines;
#: all else is vectors.  Dates and versions would make equal figures differ.
FORMATS: dict[str, dict[str, Any]] = {
    ".png": {"format": "png", "dpi": 200, "metadata": {"Software": None}},
    ".pdf": {"format": "pdf", "dpi": 400, "metadata": {"CreationDate": None, "Producer": None, "Creator": "kflip"}},
}

#: How often the layout is made: axes of a fixed shape move their neighbours in the first pass.
PASSES = 2

#: Matplotlib keeps the type of embedded fonts in settings that all threads share.
_ONE_AT_A_TIME = threading.Lock()


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure, complete or not at all.

    Parameters
    ----------
    figure
        What the functions of :mod:`kflip.figures` return.
    path
        Where; ends in ``.png`` (200 dots per inch) or ``.pdf`` (vectors, fonts embedded as TrueType).

    Notes
    -----
    The first call settles the layout for good: Matplotlib would begin the next one where the last one ended, and the
    second file would differ from the first.
    """
    target = Path(path)
    options = FORMATS[check_suffix(target)]
    content = BytesIO()
    if figure.get_layout_engine() is not None:
        for _ in range(PASSES):
            figure.draw_without_rendering()
        figure.set_layout_engine("none")
    with _ONE_AT_A_TIME, matplotlib.rc_context({"pdf.fonttype": 42, "pdf.compression": 9}):
        figure.savefig(content, **options)
    with atomic_write(target) as stream:
        stream.write(content.getvalue())


def check_suffix(path: Path) -> str:
    """The ending that tells the format; an error names those that are known."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"a figure is written as {' or '.join(FORMATS)}, not as {path.name!r}")
    return suffix
