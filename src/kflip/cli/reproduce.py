"""``kflip reproduce``."""

from __future__ import annotations

import typer
from rich.table import Table

from kflip import cli
from kflip.cli import common
from kflip.paper import series


def reproduce(as_json: common.JsonOption = False) -> None:
    """Recompute every number the paper published and say whether it agrees. Exit code 1 if one differs."""
    results: list[series.Comparison] = []
    with common.progress_bar("recomputing") as progress:
        for comparison in series.compare():
            results.append(comparison)
            if progress is not None:
                progress(len(results) / series.count())
    agree = [item for item in results if item.verdict != "differs"]
    if as_json:
        rows = [{**vars(item), "verdict": item.verdict} for item in results]
        common.print_json({"numbers": rows, "agree": len(agree), "of": len(results)})
    else:
        table = Table(title="Expected runtimes, normalised: published and recomputed", title_justify="left")
        for heading in ("series", "n", "published", "ours", "without OM = LO starts", "verdict"):
            table.add_column(heading, justify="left" if heading in ("series", "verdict") else "right")
        for item in results:
            table.add_row(
                item.series,
                str(item.n),
                f"{item.published:.13f}",
                f"{item.ours:.13f}",
                f"{item.as_published:.13f}",
                item.verdict,
                end_section=item.n == max(other.n for other in results if other.series == item.series),
            )
        common.console().print(table)
        typer.echo(f"{len(agree)} of {len(results)} published numbers agree.")
    if len(agree) < len(results):
        raise typer.Exit(cli.FAILED)
