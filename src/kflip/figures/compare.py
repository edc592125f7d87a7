"""Two policies side by side: where their radii differ, and what that costs.

Regret splits exactly over the states (:func:`kflip.analysis.regret_by_state`), so the differences of the second panel
sum to the difference of the expected runtimes.
"""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize, SymLogNorm
from matplotlib.figure import Figure

from kflip._typing import FloatArray
from kflip.errors import InputError
from kflip.evaluation import evaluate
from kflip.figures import style
from kflip.figures.heatmap import colour_bar, draw_cells, draw_grey
from kflip.figures.quantities import TRACE, check_state, lost, mean_radii, seeing_both
from kflip.figures.scales import Scale
from kflip.policy import PolicyLike
from kflip.rules import Rule, resolve
from kflip.setting import Setting

#: Purple, grey, orange: the ends of the diverging map, told apart with every kind of colour vision.
SMALLER, SAME, LARGER = "#5e3c99", "#e6e6e6", "#e66101"

#: Orders of magnitude shown on either side of zero.
DECADES = 4


def compare(
    setting: Setting, first: PolicyLike | Rule, second: PolicyLike | Rule, *, ax: Sequence[Axes] | None = None
) -> Figure:
    """Draw where two policies differ and what it costs, in two panels.

    Parameters
    ----------
    setting
        The benchmark; policies that see LO alone are compared on (LO, OM).
    first, second
        Whatever :func:`kflip.evaluate` takes.
    ax
        Two axes to draw into; None makes a figure.

    Examples
    --------
    >>> import kflip
    >>> setting = kflip.Setting(8)
    >>> figure = compare(setting, "one-bit", kflip.solve(setting).policy)
    """
    check_state(setting)
    policies = [resolve(setting, policy) for policy in (first, second)]
    names = [policy.name for policy in policies]
    if names[0] == names[1]:
        names = [f"{names[0]} (first)", f"{names[1]} (second)"]
    if ax is None:
        figure = Figure(figsize=(10.8, 4.4), layout="compressed")
        left, right = figure.subplots(1, 2)
    else:
        if len(ax) != 2:
            raise InputError(f"a comparison needs two axes, not {len(ax)}")
        left, right = ax
        figure = style.root_figure(left)
    both = seeing_both(setting)
    runtimes = [evaluate(both, resolve(both, policy)).expected_runtime for policy in policies]
    radii = [mean_radii(policy) for policy in policies]
    _where(figure, left, radii[0] - radii[1], setting, names)
    _cost(figure, right, [lost(setting, policy) for policy in policies], runtimes, names)
    return figure


def _where(figure: Figure, ax: Axes, difference: FloatArray, setting: Setting, names: list[str]) -> None:
    style.map_axes(ax, setting.n)
    sign = np.where(np.abs(difference) < TRACE, 0.0, np.sign(difference))
    exist = ~np.isnan(difference)
    scale = Scale(
        BoundaryNorm([-1.5, -0.5, 0.5, 1.5], 3),
        ListedColormap([SMALLER, SAME, LARGER]),
        (-1.0, 0.0, 1.0),
        ("smaller", "same", "larger"),
    )
    mesh = draw_cells(ax, np.ma.masked_where(~exist, sign), scale)
    colour_bar(figure, ax, mesh, scale, f"radius of {names[0]} against {names[1]}")
    share = np.count_nonzero(sign[exist]) / np.count_nonzero(exist)
    style.set_title(ax, style.setting_title(setting), f"radii differ in {share:.1%} of the states")


def _cost(figure: Figure, ax: Axes, regrets: list[FloatArray], runtimes: list[float], names: list[str]) -> None:
    n = len(regrets[0]) - 1
    style.map_axes(ax, n)
    with np.errstate(invalid="ignore"):  # infinite against infinite
        difference = regrets[0] - regrets[1]
    exist = ~np.isnan(regrets[0])
    finite = exist & np.isfinite(difference)
    same = finite & (np.abs(difference) < TRACE)
    scale = _diverging(float(np.abs(difference[finite]).max(initial=0.0)))
    mesh = draw_cells(ax, np.ma.masked_where(~finite | same, difference), scale)
    label = f"iterations lost: {names[0]} minus {names[1]}"
    notes = draw_grey(ax, same, exist & ~finite)
    colour_bar(figure, ax, mesh, scale, label + notes)
    style.set_title(
        ax,
        f"expected runtime: {names[0]} {runtimes[0]:,.2f}, {names[1]} {runtimes[1]:,.2f}",
        _verdict(runtimes, names),
    )


def _diverging(top: float) -> Scale:
    """Logarithmic on both sides of zero, with a few round numbers on the bar."""
    colours = matplotlib.colormaps["PuOr_r"]
    if not top > TRACE:
        return Scale(Normalize(-1.0, 1.0), colours)
    highest = int(np.floor(np.log10(top)))
    powers = [highest - 2 * step for step in range(DECADES // 2)]
    ticks = [-(10.0**p) for p in powers] + [0.0] + [10.0**p for p in powers[::-1]]
    labels = [rf"$-10^{{{p}}}$" for p in powers] + ["0"] + [f"$10^{{{p}}}$" for p in powers[::-1]]
    norm = SymLogNorm(top / 10.0**DECADES, vmin=-top, vmax=top)
    return Scale(norm, colours, tuple(ticks), tuple(labels))


def _verdict(runtimes: list[float], names: list[str]) -> str:
    gap = runtimes[0] - runtimes[1]
    if not np.isfinite(gap):
        return "an infinite runtime cannot be split"
    if abs(gap) < TRACE * max(runtimes):
        return "both are equally fast"
    slower, faster = (0, 1) if gap > 0 else (1, 0)
    return f"{names[slower]} takes {abs(gap):,.2f} iterations more ({100.0 * abs(gap) / runtimes[faster]:.2g} %)"
