"""Learning curves: exact regret over the iterations spent, as the policy stands and guarded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, NullFormatter

from kflip.errors import InputError
from kflip.figures import style
from kflip.learn import Point

#: Regrets below this, such as those of an optimal policy, are drawn here: a logarithm has no place for zero.
FLOOR = 1e-6


def learning_curve(curve: Sequence[Point], *, title: str = "", ax: Axes | None = None) -> Figure:
    """Draw one learning curve.

    Parameters
    ----------
    curve
        Points of a :class:`~kflip.learn.Training`.  Where a regret is infinite, the line has a gap, and a triangle at
        the upper edge stands for it.
    title
        A line above.
    ax
        Where to draw; None makes a figure.

    Examples
    --------
    >>> figure = learning_curve([Point(100, float("inf"), 0.5), Point(200, 0.25, 0.125)])
    >>> figure.axes[0].get_yscale()
    'log'
    """
    if not curve:
        raise InputError("there is no point to draw")
    figure, ax = style.axes_of(ax, 5.6, 3.8)
    iterations = np.array([point.iterations for point in curve], dtype=np.float64)
    regrets = {
        "as it stands": np.array([point.regret for point in curve]),
        "guarded by k = 1": np.array([point.guarded_regret for point in curve]),
    }
    for (label, regret), colour, dash in zip(regrets.items(), style.COLOURS, ("-", "--"), strict=False):
        height = np.where(np.isfinite(regret), np.maximum(regret, FLOOR), np.nan)
        ax.plot(iterations, height, color=colour, linestyle=dash, linewidth=1.4, marker="o", markersize=3, label=label)
        never = iterations[np.isposinf(regret)]
        if never.size:
            ax.plot(
                never,
                np.ones_like(never),
                linestyle="none",
                marker="^",
                markersize=5,
                markerfacecolor="none",
                color=colour,
                clip_on=False,
                transform=ax.get_xaxis_transform(),
                label=f"{label}: infinite",
            )
    ax.set_yscale("log")
    # whole steps of 1, 2, 5 are read faster than powers of ten, and regret is spoken of in per cent
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100.0 * share:g} %"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.xaxis.set_major_formatter(EngFormatter(sep=""))
    ax.set_xlim(left=0.0)
    ax.set_xlabel("iterations spent", fontsize=style.TEXT)
    ax.set_ylabel("regret", fontsize=style.TEXT)
    ax.tick_params(labelsize=style.SMALL)
    ax.grid(color="#dddddd", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.legend(fontsize=style.SMALL, frameon=True, framealpha=0.9)
    if title:
        style.set_title(ax, title)
    return figure
