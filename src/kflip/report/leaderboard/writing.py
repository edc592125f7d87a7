"""The two files of a leaderboard."""

from __future__ import annotations

from pathlib import Path

from kflip.errors import InputError
from kflip.files import atomic_write
from kflip.report.assembly import available
from kflip.report.leaderboard.markdown import render_markdown
from kflip.report.leaderboard.page import render_page
from kflip.sweep.standings import Standings

MARKDOWN, PAGE = "leaderboard.md", "leaderboard.html"


def write(standings: Standings, folder: str | Path) -> list[Path]:
    """Write ``leaderboard.md``, and ``leaderboard.html`` if Plotly is installed, into a folder that is made if needed.

    Returns
    -------
    The files written.
    """
    out = Path(folder)
    texts = {MARKDOWN: render_markdown(standings)}
    if available():
        texts[PAGE] = render_page(standings)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}") from None
    if PAGE not in texts:
        (out / PAGE).unlink(missing_ok=True)  # an older page would contradict the new numbers
    for name, text in texts.items():
        with atomic_write(out / name) as stream:
            stream.write(text.encode())
    return [out / name for name in texts]
