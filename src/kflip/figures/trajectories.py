"""Typical runs over a map: where a policy goes, on top of what it does there."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from kflip.figures import style
from kflip.figures.heatmap import heatmap
from kflip.figures.quantities import Result
from kflip.simulate import simulate

#: Runs are cut after this many times n**2 iterations: optimal ones take far less, and hopeless ones must end.
PATIENCE = 100

#: More points than this are drawn as a picture, or a PDF would be huge.
VECTOR_POINTS = 5_000


def trajectories(
    result: Result, runs: int = 10, seed: int = 1, *, ax: Axes | None = None, what: str = "radius"
) -> Figure:
    """Draw simulated runs from random strings over a map.

    Parameters
    ----------
    result, what, ax
        The map, as for :func:`kflip.figures.heatmap`.
    runs, seed
        How many runs of the policy, and what makes them repeatable.  Each is one line through its states (LO, OM);
        a run that has not finished after ``100 n**2`` iterations is drawn as far as it got.

    Examples
    --------
    >>> import kflip
    >>> len(trajectories(kflip.solve(kflip.Setting(8)), runs=3).axes[0].lines)
    3
    """
    figure = heatmap(result, what, ax=ax, annotate=False)
    n = result.setting.n
    made = simulate(
        result.setting, result.policy, runs, seed, record="trajectories", max_iterations=max(1_000, PATIENCE * n * n)
    )
    paths = [made.trajectory(r) for r in range(len(made))]
    many = sum(path.lo.size for path in paths) > VECTOR_POINTS
    axes = figure.axes[0] if ax is None else ax
    for path in paths:
        axes.plot(
            path.om,
            path.lo,
            color="white",
            alpha=0.9,
            linewidth=1.0,
            solid_joinstyle="round",
            path_effects=[withStroke(linewidth=1.9, foreground="black", alpha=0.5)],
            rasterized=many,
            scalex=False,
            scaley=False,
            zorder=3,
            gid="trajectory",
        )
    style.set_title(axes, f"{axes.get_title()}, {runs} run{'s' if runs > 1 else ''}")
    return figure
