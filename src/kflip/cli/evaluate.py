"""``kflip evaluate``."""

from __future__ import annotations

from typing import Annotated

import typer

from kflip import rules
from kflip.cli import common
from kflip.evaluation import evaluate as compute


def evaluate(
    ctx: typer.Context,
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            help=f"A rule ({', '.join(rules.REGISTRY)}, constant-K) or an .npz file with a policy or solution.",
        ),
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
        # seeing LO alone on objective loom leaves no Markov chain to optimise over
        known = (setting.state, setting.objective) != ("lo", "loom")
        optimal, regret = (result.optimal_runtime, result.regret) if known else (None, None)
    if as_json:
        common.print_json(
            {
                "setting": setting.to_dict(),
                "policy": result.policy.name,
                "expected_runtime": result.expected_runtime,
                "std": result.std,
                "optimal_runtime": optimal,
                "regret": regret,
            }
        )
        return
    facts = {
        "expected runtime": f"{common.number(result.expected_runtime)} iterations",
        "standard deviation": common.number(result.std),
    }
    if optimal is not None:
        facts |= {"optimal": common.number(optimal), "regret": f"{regret:.6%}"}
    common.print_facts(f"{result.policy.name} on {setting}", facts)
