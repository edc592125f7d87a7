"""``kflip explain``."""

from __future__ import annotations

from typing import Any

import numpy as np
import typer
from rich.table import Table

from kflip.analysis import hit_ratio, regret_by_state, runtime_distribution, visits
from kflip.cli import common
from kflip.evaluation import evaluate
from kflip.policy import Policy
from kflip.setting import Setting
from kflip.solution import solve

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
WORST = 10


def explain(
    ctx: typer.Context,
    policy: common.PolicyArgument,
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    state: common.StateOption = "lo-om",
    portfolio: common.PortfolioOption = "full",
    as_json: common.JsonOption = False,
) -> None:
    """Say where a policy loses time: its runtime law, how often it is right, and the states that cost most.

    Regret is split exactly: expected visits of a state times what its radius loses there against the best one.

    Examples: [bold]kflip explain one-bit --n 64[/bold], or [bold]kflip explain mine.npz[/bold]
    """
    setting, chosen = common.setting_and_policy(ctx, policy, n, objective, selection, state, portfolio)
    with common.progress_bar("explaining") as progress:
        result = evaluate(setting, chosen)
        law = runtime_distribution(setting, chosen, progress=progress)
        hits = hit_ratio(setting, chosen)
        lost = regret_by_state(setting, chosen)
        spent = visits(setting, chosen).expected
    # at the very share of runs that finish, rounding would decide
    finish = 1.0 - law.unfinished - law.tail
    quantiles = {q: float(law.quantile(q)) if q < finish else float("inf") for q in QUANTILES}
    worst = _worst(setting, result.policy, lost, spent)
    if as_json:
        common.print_json(
            {
                "setting": setting.to_dict(),
                "policy": result.policy.name,
                "expected_runtime": result.expected_runtime,
                "std": result.std,
                "regret": result.regret,
                "quantiles": {str(q): t for q, t in quantiles.items()},
                "unfinished": law.unfinished,
                "hit_ratio": vars(hits),
                "worst_states": worst,
            }
        )
        return
    common.print_facts(
        f"{result.policy.name} on {setting}",
        {
            "expected runtime": f"{common.number(result.expected_runtime)}, standard deviation {result.std:.6g}",
            "quantiles": ", ".join(f"{q:.0%}: {t:.0f}" for q, t in quantiles.items()),
            "regret": f"{result.regret:.6%}",
            "optimal radius": f"in {hits.states:.2%} of the states, {hits.time:.2%} of the time",
        },
    )
    table = Table(title=f"The {len(worst)} states that cost most", title_justify="left")
    for heading in ("state", "radius", "best", "iterations spent there", "iterations lost", "share of the regret"):
        table.add_column(heading, justify="right")
    total = float(lost.sum())
    for row in worst:
        share = f"{row['lost'] / total:.2%}" if np.isfinite(total) and total > 0 else ""
        table.add_row(
            str(row["state"]), str(row["radius"]), str(row["best"]), f"{row['visits']:.4g}", f"{row['lost']:.4g}", share
        )
    common.console().print(table if worst else "The policy loses nothing.")


def _worst(setting: Setting, policy: Any, lost: Any, spent: Any) -> list[dict[str, Any]]:
    best = solve(setting).policy
    order = np.argsort(-np.nan_to_num(lost, nan=np.inf).ravel(), kind="stable")[:WORST]
    rows = []
    for flat in order:
        index = tuple(int(i) for i in np.unravel_index(flat, lost.shape))
        # rounding may leave a trace of regret in an optimal policy
        if not lost[index] > 1e-9:
            continue
        radius = int(policy.table[index]) if isinstance(policy, Policy) else "mixed"
        rows.append(
            {
                "state": index if len(index) > 1 else index[0],
                "radius": radius,
                "best": int(best.table[index]),
                "visits": float(spent[index]),
                "lost": float(lost[index]),
            }
        )
    return rows
