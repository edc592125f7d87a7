"""CSV files whose bytes depend on nothing but the numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from kflip.files import atomic_write


def write_table(path: Path, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows; floats with the shortest digits that give the same number back, None as an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heading)
    writer.writerows(rows)
    with atomic_write(path) as stream:
        stream.write(text.getvalue().encode())


def read_table(path: Path) -> dict[str, list[str]]:
    """The columns of a table, as text."""
    with path.open(encoding="utf-8", newline="") as stream:
        heading, *rows = csv.reader(stream)
    return {name: [row[number] for row in rows] for number, name in enumerate(heading)}
