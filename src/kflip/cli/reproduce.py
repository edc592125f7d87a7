"""``kflip reproduce``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from kflip import cli
from kflip.cli import common

if TYPE_CHECKING:
    from kflip.paper.pipeline import Watch
    from kflip.paper.steps import Step


def reproduce(
    quick: Annotated[bool, typer.Option("--quick", help="Stay near the paper's sizes: under a minute.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Just this figure or table, such as loom; may be repeated.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Folder for tables, pictures and the report.")] = Path(
        "reproduction"
    ),
    as_json: common.JsonOption = False,
) -> None:
    """Recompute every figure, table and number of the paper and say whether they agree.

    Steps that an earlier run finished in the same folder are kept. Exit code 1 if a number differs, or if a claim fails
    that is not known to be wrong.
    """
    # Matplotlib takes longer to load than most commands to run
    from kflip.paper import pipeline

    with _watching() as watch:
        report = pipeline.reproduce(out, quick=quick, only=only or (), watch=watch)
    if as_json:
        common.print_json(report)
    else:
        _print(report)
        typer.echo(f"Tables and pictures: {out}{'/' if not str(out).endswith('/') else ''}*/")
        typer.echo(f"Page: {pipeline.page_note(out)}")
    if pipeline.failed(report):
        raise typer.Exit(cli.FAILED)


@contextmanager
def _watching() -> Iterator[Watch]:
    """A bar that names the step on a terminal, a line for every step in a pipe."""
    last = 0
    if sys.stderr is None or not sys.stderr.isatty():

        def write_line(step: Step, number: int, steps: int, kept: bool, done: float) -> None:
            nonlocal last
            if number != last:
                typer.echo(f"[{number:>3}/{steps}] {step.title}{' (kept)' if kept else ''}", err=True)
            last = number

        yield write_line
        return
    columns = BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def move_bar(step: Step, number: int, steps: int, kept: bool, done: float) -> None:
            bar.update(task, completed=done, description=f"{number}/{steps} {step.title}")

        yield move_bar


def _print(report: dict[str, Any]) -> None:
    out = common.console()
    if report["numbers"]:
        table = Table(title="Expected runtimes, normalised: published and recomputed", title_justify="left")
        for heading in (
            "series",
            "n",
            "published",
            "ours",
            "difference",
            "without OM = LO starts",
            "difference",
            "verdict",
        ):
            table.add_column(heading, justify="left" if heading in ("series", "verdict") else "right")
        for number, item in enumerate(report["numbers"]):
            following = report["numbers"][number + 1 : number + 2]
            table.add_row(
                item["series"],
                str(item["n"]),
                f"{item['published']:.13f}",
                f"{item['ours']:.13f}",
                f"{item['difference']:+.0e}",
                f"{item['as_published']:.13f}",
                f"{item['difference_as_published']:+.0e}",
                item["verdict"],
                end_section=not following or following[0]["series"] != item["series"],
            )
        out.print(table)
    if report["claims"]:
        table = Table(title="Claims", title_justify="left")
        for heading in ("the paper says", "we find", "verdict"):
            table.add_column(heading)
        for item in report["claims"]:
            table.add_row(item["text"], item["found"], item["verdict"])
        out.print(table)
    if report["numbers"]:
        typer.echo(f"{report['agree']} of {report['of']} published numbers agree.")
    if report["claims"]:
        typer.echo(f"{report['claims_checked']} of {report['claims_of']} claims hold.")
