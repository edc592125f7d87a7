"""``kflip train``."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kflip import files
from kflip.cli import common
from kflip.setting import Setting

if TYPE_CHECKING:
    from kflip.learn import Training

#: Iterations spent if neither --budget nor a benchmark says how many.
BUDGET = 10**6


def train(
    ctx: typer.Context,
    n: common.NOption = None,
    objective: common.ObjectiveOption = "loom",
    selection: common.SelectionOption = "standard",
    state: common.StateOption = "lo-om",
    portfolio: common.PortfolioOption = "full",
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="Setting and budget of this benchmark, such as kflip-v1/loom-16-full; see kflip sweep --list.",
            show_default=False,
        ),
    ] = None,
    learner: Annotated[
        str, typer.Option(help="q-learning, certainty-equivalence, ...; an unknown name lists all.")
    ] = "certainty-equivalence",
    budget: Annotated[
        int | None, typer.Option(help="Iterations to spend.", show_default=f"{BUDGET}, or the benchmark's")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same policy.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Write the final policy, as it stands, to this .npz file.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the learning curve to this .png or .pdf file.", show_default=False)
    ] = None,
    as_json: common.JsonOption = False,
) -> None:
    """Train a learner and score its final policy exactly.

    The policy is scored as it stands, and guarded: with k = 1 in states that were never seen to be left with its own
    radius.

    Examples: [bold]kflip train --n 16 --objective lo --selection strict --portfolio powers-of-two[/bold], or
    [bold]kflip train --benchmark kflip-v1/loom-16-full --learner q-learning-shaped --out policy.npz[/bold]
    """
    # learners and Matplotlib take longer to load than most commands to run
    from kflip.learn import learner_named

    setting, spend = _what(ctx, benchmark, n, objective, selection, state, portfolio)
    for path in (out, plot):
        if path is not None:
            common.check_writable(path)
    if plot is not None:
        from kflip.figures.output import check_suffix

        check_suffix(plot)
    chosen = learner_named(learner)
    with common.progress_bar(f"training {learner}") as progress:
        training = chosen.train(setting, spend if budget is None else budget, seed, progress=progress)
    if out is not None:
        files.save(out, training.policy, setting)
    if plot is not None:
        _draw(training, plot)
    _report(training, out, plot, as_json)


def _what(
    context: typer.Context,
    benchmark: str | None,
    n: int | None,
    objective: str,
    selection: str,
    state: str,
    portfolio: str,
) -> tuple[Setting, int]:
    """The setting, and the iterations to spend on it."""
    if benchmark is None:
        return common.make_setting(n, objective, selection, state, portfolio), BUDGET
    from kflip.sweep.suite import benchmark_named

    common.refuse_setting(context, "a benchmark brings its own setting")
    known = benchmark_named(benchmark)
    return known.setting, known.budget


def _draw(training: Training, path: Path) -> None:
    from kflip.figures import save
    from kflip.figures.learning import learning_curve

    title = f"{training.learner}, seed {training.seed}\n{training.setting}"
    save(learning_curve(training.curve, title=title), path)


def _report(training: Training, out: Path | None, plot: Path | None, as_json: bool) -> None:
    if as_json:
        asked = {
            "setting": training.setting.to_dict(),
            "learner": training.learner,
            "seed": training.seed,
            "budget": training.budget,
        }
        written = {"out": out, "plot": plot}
        common.print_json(asked | training.to_dict() | {key: path and str(path) for key, path in written.items()})
        return
    score = training.score
    facts = {
        "iterations spent": f"{training.spent} of {training.budget}",
        "optimal": common.number(training.optimal_runtime),
        "expected runtime": f"{common.number(score.expected_runtime)}, guarded {common.number(score.guarded_runtime)}",
        "regret": f"{score.regret:.6%}, guarded {score.guarded_regret:.6%}",
        "hit ratio": f"{score.hit_ratio:.2%} of the states" + _of_the_time(score.hit_ratio_time),
        "area under the curve": f"{training.area:.6g}",
    }
    facts |= {key: str(path) for key, path in (("policy", out), ("learning curve", plot)) if path is not None}
    common.print_facts(f"{training.learner}, seed {training.seed}, on {training.setting}", facts)


def _of_the_time(share: float) -> str:
    return "" if isnan(share) else f", {share:.2%} of the time"  # not computed for strings
