"""``kflip evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer

from kflip.cli import common
from kflip.evaluation import evaluate as compute


def evaluate(
    ctx: typer.Context,
    policy: Annotated[
        str,
        typer.Option("--policy", help=f"A rule ({common.RULES}) or an .npz file with a policy or solution."),
    ] = "one-bit",
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    state: common.StateOption = "lo-om",
    portfolio: common.PortfolioOption = "full",
    as_json: common.JsonOption = False,
) -> None:
    """Evaluate any policy exactly: mean, standard deviation and regret.

    A rule needs [bold]--n[/bold] and the other options of the setting; a file brings its own setting.

    Example: [bold]kflip evaluate --n 128 --objective loom --policy one-bit[/bold]
    """
    setting, chosen = common.setting_and_policy(ctx, policy, n, objective, selection, state, portfolio)
    with common.progress_bar("evaluating") as progress:
        result = compute(setting, chosen, progress=progress)
        regret = result.regret
    if as_json:
        common.print_json(
            {
                "setting": setting.to_dict(),
                "policy": result.policy.name,
                "expected_runtime": result.expected_runtime,
                "std": result.std,
                "optimal_runtime": result.optimal_runtime,
                "regret": regret,
            }
        )
        return
    common.print_facts(
        f"{result.policy.name} on {setting}",
        {
            "expected runtime": f"{common.number(result.expected_runtime)} iterations",
            "standard deviation": common.number(result.std),
            "optimal": common.number(result.optimal_runtime),
            "regret": f"{regret:.6%}",
        },
    )
