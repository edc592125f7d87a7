"""``kflip compare``."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from kflip.cli import common
from kflip.errors import InputError
from kflip.information import compare as compute
from kflip.setting import STATES

#: Differences printed as text.
SHOWN = 12


def compare(
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    portfolio: common.PortfolioOption = "full",
    states: Annotated[str, typer.Option(help="State spaces to compare, from poor to rich.")] = ",".join(STATES),
    as_json: common.JsonOption = False,
) -> None:
    """Show what seeing more of the state is worth: LO, (LO, OM), the whole string.

    For the whole string it lists the (LO, OM) states that hold strings with another best radius.

    Examples: [bold]kflip compare --n 16 --selection strict[/bold], or
    [bold]kflip compare --n 256 --objective lo --states lo,lo-om[/bold]
    """
    if n is None:
        raise InputError("give the length of the bit string with --n")
    with common.progress_bar("solving") as progress:
        chosen = tuple(word.strip() for word in states.split(","))
        result = compute(n, objective, selection, portfolio, chosen, progress=progress)
    if as_json:
        common.print_json(
            {
                "n": n,
                "objective": objective,
                "selection": selection,
                "portfolio": portfolio,
                "states": [vars(row) for row in result.rows],
                "differences": [vars(item) for item in result.differences],
            }
        )
        return
    table = Table(title=f"{objective}, {selection} selection, n = {n}", title_justify="left")
    for heading in ("the policy sees", "expected runtime", "saved by seeing more"):
        table.add_column(heading, justify="right" if heading != "the policy sees" else "left")
    for number, row in enumerate(result.rows):
        note = "" if row.proven_optimal else " (best found)"
        table.add_row(row.state, common.number(row.expected_runtime) + note, f"{row.gain:.4%}" if number else "")
    out = common.console()
    out.print(table)
    if "bits" in chosen and "lo-om" in chosen:
        many = len(result.differences)
        out.print(f"{many} (LO, OM) states hold strings with another best radius" + (":" if many else "."))
    for item in result.differences[:SHOWN]:
        others = ", ".join(f"k = {k} for {count}" for k, count in sorted(item.radii.items()))
        out.print(f"  ({item.lo}, {item.om}): k = {item.radius}, but {others} of its {item.strings} strings")
    if len(result.differences) > SHOWN:
        out.print(f"  and {len(result.differences) - SHOWN} more; --json lists all")
