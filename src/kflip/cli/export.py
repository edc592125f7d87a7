"""``kflip export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kflip import files
from kflip.cli import common
from kflip.export import FORMATS, columns
from kflip.export import export as write


def export(
    file: common.FileArgument,
    out: Annotated[Path, typer.Argument(help="Where to write; .csv or .json.", show_default=False)],
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"{' or '.join(FORMATS)}; by default what OUT ends in.", show_default=False),
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Write a solution as CSV or JSON, one row per state."""
    solution = files.load(file)
    write(solution, out, form)
    if as_json:
        common.print_json({"file": str(file), "out": str(out), "columns": list(columns(solution))})
    else:
        typer.echo(f"{out}: {', '.join(columns(solution))}, one row per state")
