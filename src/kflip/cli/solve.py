"""``kflip solve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kflip import files
from kflip.cli import common
from kflip.solution import solve as compute


def solve(
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    state: common.StateOption = "lo-om",
    portfolio: common.PortfolioOption = "full",
    out: Annotated[Path | None, typer.Option(help="Write the solution to this .npz file.", show_default=False)] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Compute the optimal policy of a setting exactly.

    Examples: [bold]kflip solve --n 128[/bold], or
    [bold]kflip solve --n 512 --objective lo --selection strict --out lo-512.npz[/bold]
    """
    setting = common.make_setting(n, objective, selection, state, portfolio)
    if out is not None:
        common.check_writable(out)
    with common.progress_bar("solving") as progress:
        solution = compute(setting, progress=progress)
    if out is not None:
        files.save(out, solution)
    if as_json:
        common.print_json(
            {
                "setting": setting.to_dict(),
                "expected_runtime": solution.expected_runtime,
                "expected_evaluations": solution.expected_runtime + 1.0,
                "out": None if out is None else str(out),
            }
        )
        return
    facts = {
        "expected runtime": f"{common.number(solution.expected_runtime)} iterations from a random string",
        "radii in use": _summary(solution.policy.table[solution.policy.table > 0]),
    }
    if out is not None:
        facts["written to"] = str(out)
    common.print_facts(str(setting), facts)


def _summary(radii: object) -> str:
    import numpy as np

    used, counts = np.unique(np.asarray(radii), return_counts=True)
    share = ", ".join(f"{k} ({c / counts.sum():.0%})" for k, c in zip(used[:3], counts[:3], strict=True))
    return f"{len(used)} different, of all states: {share}" + (f", up to {used[-1]}" if len(used) > 3 else "")
