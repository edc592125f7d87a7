"""``kflip plot``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kflip import files
from kflip.cli import common
from kflip.errors import FileFormatError, InputError
from kflip.evaluation import Evaluation, evaluate
from kflip.solution import Solution


def plot(
    file: Annotated[Path, typer.Argument(help="An .npz file with a solution or policy.", show_default=False)],
    what: Annotated[str, typer.Option(help="What the colours show: radius, value, visits, regret or std.")] = "radius",
    out: Annotated[
        Path | None, typer.Option(help="Where to write; .png or .pdf.", show_default="FILE-WHAT.png beside FILE")
    ] = None,
    trajectories: Annotated[
        int | None, typer.Option(help="Draw so many simulated runs over the map.", show_default="none")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes the runs repeatable.")] = 1,
    as_json: common.JsonOption = False,
) -> None:
    """Draw a map of a solution or policy: LO upwards, OM to the right.

    Examples: [bold]kflip plot loom-128.npz[/bold], or
    [bold]kflip plot loom-128.npz --what value --trajectories 10 --out loom-128.pdf[/bold]
    """
    # Matplotlib takes long to load: the other commands need not wait for it
    from kflip import figures
    from kflip.figures.output import check_suffix
    from kflip.figures.quantities import quantity

    quantity(what)
    if trajectories is not None and trajectories < 1:
        raise InputError(f"--trajectories must be at least 1, not {trajectories}")
    if seed < 0:
        raise InputError(f"--seed must be at least 0, not {seed}")
    ending = "" if trajectories is None else "-trajectories"
    target = file.with_name(f"{file.stem}-{what}{ending}.png") if out is None else out
    check_suffix(target)
    result = _result(file)
    if trajectories is None:
        figure = figures.heatmap(result, what)
    else:
        figure = figures.trajectories(result, trajectories, seed, what=what)
    figures.save(figure, target)
    if as_json:
        common.print_json(
            {
                "file": str(file),
                "out": str(target),
                "what": what,
                "trajectories": trajectories,
                "seed": None if trajectories is None else seed,
                "setting": result.setting.to_dict(),
                "policy": result.policy.name,
            }
        )
    else:
        typer.echo(f"{target}: {what} of {result.policy.name} on {result.setting}")


def _result(file: Path) -> Solution | Evaluation:
    """A solution as it is; a policy evaluated."""
    try:
        return files.load(file)
    except FileFormatError:
        setting, policy = files.load_policy(file)  # complains again if the file is no policy either
        return evaluate(setting, policy)
