"""``kflip leaderboard`` and ``kflip leaderboard add``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from kflip.cli import common
from kflip.errors import InputError

if TYPE_CHECKING:
    from kflip.sweep.standings import Standings

ResultsOption = Annotated[Path, typer.Option("--results", help="Folder with the records of kflip sweep.")]

#: Where a sweep leaves its records.
RESULTS = Path("results")

app = typer.Typer(
    rich_markup_mode="rich", context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True
)


@app.callback()
def leaderboard(
    ctx: typer.Context,
    results: ResultsOption = RESULTS,
    out: Annotated[Path, typer.Option("--out", help="Folder for leaderboard.md and leaderboard.html.")] = Path(
        "leaderboard"
    ),
    as_json: common.JsonOption = False,
) -> None:
    r"""Build the leaderboard from records: exact regrets of every method, and learning curves.

    Nothing is computed again. The page is interactive and one file; it needs the extra [bold]kflip\[report][/bold].

    Example: [bold]kflip leaderboard --results results --out leaderboard[/bold]

    Enter your own policy: [bold]kflip leaderboard add policy.npz --name "my policy"[/bold]
    """
    if ctx.invoked_subcommand is not None:
        _refuse_options(ctx)
        return
    from kflip.report import NEEDED, available
    from kflip.report.leaderboard import write
    from kflip.sweep.records import Store
    from kflip.sweep.standings import standings_of

    standings = standings_of(Store(results))
    written = [str(path) for path in write(standings, out)]
    if as_json:
        common.print_json({**standings.to_dict(), "files": written})
        return
    _print(standings)
    for path in written:
        typer.echo(path)
    if not available():
        typer.echo(f"leaderboard.html was not written: {NEEDED}")


@app.command()
def add(
    policy: Annotated[Path, typer.Argument(help="An .npz file written by kflip.save.", show_default=False)],
    name: Annotated[
        str | None,
        typer.Option(
            "--name", help="What to call it, up to 60 characters; by default as the file.", show_default=False
        ),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            "--benchmark",
            help="Id such as kflip-v1/loom-16-full; by default the setting of the file.",
            show_default=False,
        ),
    ] = None,
    results: ResultsOption = RESULTS,
    as_json: common.JsonOption = False,
) -> None:
    """Check a policy file, evaluate it exactly, and enter it as a record.

    Nothing in the file is executed. With [bold]--benchmark[/bold] the policy may see less, or use fewer radii.

    Example: [bold]kflip leaderboard add policy.npz --name "my policy" --results results[/bold]
    """
    from kflip.report.leaderboard import numbers
    from kflip.sweep.records import Store
    from kflip.sweep.submissions import submit

    store = Store(results)
    with common.progress_bar("evaluating") as progress:
        record = submit(policy, store, name=name or policy.stem, benchmark=benchmark, progress=progress)
    path = store.path(record["key"])
    if as_json:
        common.print_json({**record, "file": str(path)})
        return
    score = record["result"]["score"]
    common.print_facts(
        f"{record['task']['method']} on {record['task']['benchmark']}",
        {
            "expected runtime": f"{common.number(float(score['expected_runtime']))} iterations",
            "optimal": common.number(float(record["result"]["optimal_runtime"])),
            "regret": numbers.regret(float(score["regret"])),
            "record": str(path),
        },
    )


def _refuse_options(ctx: typer.Context) -> None:
    """Options before a subcommand would be ignored in silence."""
    for name in ctx.params:
        source = ctx.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            option = "--json" if name == "as_json" else f"--{name}"
            raise InputError(f"{option} has no effect before {ctx.invoked_subcommand}: write it after, or leave it out")


def _print(standings: Standings) -> None:
    from kflip.report.leaderboard import numbers, words

    table = Table(title=Text(words.headline(standings)), title_justify="left")
    for heading in ("benchmark", "best method", "median regret", "worst seed"):
        table.add_column(heading, justify="left" if heading in ("benchmark", "best method") else "right")
    for column in standings.benchmarks:
        best = standings.cells[column.id, column.best]
        spread = best.measures["guarded"]
        table.add_row(
            Text(column.id), Text(best.method), numbers.regret(spread.median),
            numbers.regret(spread.worst) if best.seeds > 1 else numbers.NOTHING,
        )  # fmt: skip
    common.console().print(table)
