"""``kflip verify``."""

from __future__ import annotations

import typer
from rich.table import Table

from kflip import cli, files
from kflip.cli import common
from kflip.verify import verify as check


def verify(file: common.FileArgument, as_json: common.JsonOption = False) -> None:
    """Check a solution by another route than the solver's, and say what was proved.

    The policy is evaluated anew on its Markov chain, every radius is tried in every state, and for small n
    everything is repeated in exact fractions. Exit code 1 if anything deviates.
    """
    solution = files.load(file)
    with common.progress_bar("verifying") as progress:
        result = check(solution, progress=progress)
    if as_json:
        common.print_json(
            {
                "file": str(file),
                "setting": solution.setting.to_dict(),
                "passed": result.passed,
                "checks": [vars(item) for item in result.checks],
            }
        )
    else:
        table = Table(title=str(solution.setting), title_justify="left")
        for heading in ("check", "largest deviation", "", "what it shows"):
            table.add_column(heading)
        for item in result.checks:
            mark = "[green]passed[/green]" if item.passed else "[red]FAILED[/red]"
            table.add_row(item.name, f"{item.deviation:.1e}", mark, item.proves if item.passed else "")
        common.console().print(table)
    if not result.passed:
        raise typer.Exit(cli.FAILED)
