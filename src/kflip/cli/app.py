"""The list of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from kflip import __version__
from kflip.cli.compare import compare
from kflip.cli.evaluate import evaluate
from kflip.cli.explain import explain
from kflip.cli.export import export
from kflip.cli.leaderboard import app as leaderboard
from kflip.cli.plot import plot
from kflip.cli.reproduce import reproduce
from kflip.cli.simulate import simulate
from kflip.cli.solve import solve
from kflip.cli.sweep import sweep
from kflip.cli.train import train
from kflip.cli.verify import verify

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Benchmarks of parameter control whose optimal policy is known exactly.\n\n"
    "RLS_k flips k random bits per iteration; which k is best, given what one knows of the state? "
    "Start with [bold]kflip solve --n 128[/bold] or [bold]kflip reproduce[/bold].",
)

for command in (solve, evaluate, explain, compare, simulate, verify, export, plot, reproduce, train, sweep):
    app.command()(command)
app.add_typer(leaderboard, name="leaderboard")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"kflip {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass
