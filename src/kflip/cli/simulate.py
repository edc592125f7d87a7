"""``kflip simulate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kflip.cli import common
from kflip.evaluation import evaluate
from kflip.simulate import simulate as run


def simulate(
    ctx: typer.Context,
    policy: common.RuleArgument,
    runs: Annotated[int, typer.Option(help="How many runs.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Makes the runs repeatable.", show_default="drawn anew")] = None,
    level: Annotated[str, typer.Option(help="bits flips real bits; state jumps in (LO, OM): the same law.")] = "state",
    max_iterations: Annotated[int | None, typer.Option(help="Stop every run here.", show_default="never")] = None,
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    state: common.StateOption = "lo-om",
    portfolio: common.PortfolioOption = "full",
    ioh: Annotated[
        Path | None, typer.Option(help="Also write the runs to this folder for IOHanalyzer.", show_default=False)
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Run the real algorithm many times and compare with the exact answer.

    Examples: [bold]kflip simulate loom-128.npz --runs 1000 --seed 1[/bold], or
    [bold]kflip simulate one-bit --n 128 --runs 10000[/bold]
    """
    setting, chosen = common.setting_and_policy(ctx, policy, n, objective, selection, state, portfolio)
    with common.progress_bar("simulating") as progress:
        result = run(
            setting,
            chosen,
            runs,
            seed,
            level="bits" if setting.state == "bits" else level,
            record=None if ioh is None else "trajectories",
            max_iterations=max_iterations,
            progress=progress,
        )
    exact = evaluate(setting, chosen)
    if ioh is not None:
        result.to_ioh(ioh)
    low, high = result.confidence_interval()
    unfinished = int((~result.finished).sum())
    if as_json:
        common.print_json(
            {
                "setting": setting.to_dict(),
                "policy": exact.policy.name,
                "runs": runs,
                "seed": result.seed,
                "level": result.level,
                "mean": result.mean,
                "confidence_interval": [low, high],
                "std": result.std,
                "unfinished": unfinished,
                "exact_mean": exact.expected_runtime,
                "exact_std": exact.std,
                "ioh": None if ioh is None else str(ioh),
            }
        )
        return
    facts = {
        "mean of the runs": f"{result.mean:.6g}, 95 % confidence {low:.6g} to {high:.6g}",
        "exact mean": common.number(exact.expected_runtime),
        "std of the runs": f"{result.std:.6g}",
        "exact std": common.number(exact.std),
        "runs": f"{runs} with seed {result.seed}" + (f", {unfinished} not finished" if unfinished else ""),
    }
    if ioh is not None:
        facts["written to"] = str(ioh)
    common.print_facts(f"{exact.policy.name} on {setting}", facts)
