"""The pipeline with few and small numbers, so that tests end soon."""

from __future__ import annotations

from pathlib import Path

import pytest

from kflip import figures
from kflip.paper import experiments, series

#: A map, and curves that share a series with nothing else here.
ONLY = ("example", "lo-selection")


def few_numbers(monkeypatch: pytest.MonkeyPatch, largest: int = 16) -> None:
    """Keep the published numbers up to ``largest``, and end the curves there."""
    data = series.published()
    short = [
        {**entry, "published": {n: value for n, value in entry["published"].items() if int(n) <= largest}}
        for entry in data["series"]
    ]
    monkeypatch.setattr(series, "published", lambda: {**data, "series": short})
    monkeypatch.setattr(experiments, "LARGEST", {"quick": largest, "full": 2 * largest})


def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write empty pictures where they are not what is tested."""
    monkeypatch.setattr(figures, "save", lambda figure, path: Path(path).write_bytes(b""))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones as well."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
