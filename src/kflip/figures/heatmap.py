"""One number for every (LO, OM), as colours: LO upwards, OM to the right.

States exist where ``LO <= OM < n``, and at the optimum ``LO = OM = n``, marked with a star where it has no number.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize, to_rgb
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from kflip._typing import BoolArray, FloatArray
from kflip.figures import style
from kflip.figures.quantities import Result, check_result, quantity
from kflip.figures.scales import Scale, number_scale, radius_scale
from kflip.policy import state_index


def heatmap(
    result: Result,
    what: str = "radius",
    *,
    ax: Axes | None = None,
    crosses: Iterable[tuple[int, int]] | None = None,
    annotate: bool | None = None,
) -> Figure:
    """Draw one number for every state.

    Parameters
    ----------
    result
        A solution or an evaluation that sees (LO, OM), or LO alone: see :mod:`kflip.figures.quantities`.
    what
        ``"radius"``, ``"value"`` (expected remaining runtime), ``"visits"`` (expected iterations spent there),
        ``"regret"`` (expected iterations lost there against the optimal policy) or ``"std"`` (standard deviation of
        the remaining runtime).
    ax
        Where to draw; None makes a figure.
    crosses
        States ``(lo, om)`` to mark with a red cross.
    annotate
        Write the numbers into the cells; None does so up to n = 16.

    Examples
    --------
    >>> import kflip
    >>> figure = heatmap(kflip.solve(kflip.Setting(8)))
    >>> figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()
    ('OM', 'LO')
    """
    check_result(result)
    shown, n = quantity(what), result.setting.n
    marked = [state_index(n, "lo-om", lo, om, None) for lo, om in crosses or ()]
    cells = shown.cells(result)
    scale = radius_scale(result.setting.radii) if what == "radius" else number_scale(cells, shown.wide)
    numbers = n <= style.ANNOTATED_N if annotate is None else annotate
    figure, ax = style.axes_of(ax, *_size(n, numbers))
    style.map_axes(ax, n)
    style.set_title(ax, style.setting_title(result.setting), style.policy_title(result.setting, result.policy))
    infinite = np.isinf(cells)
    none = (cells == 0.0) & shown.wide
    mesh = draw_cells(ax, np.ma.masked_where(np.isnan(cells) | infinite | none, cells), scale)
    label = shown.label + draw_grey(ax, none, infinite)
    if np.isnan(cells[n, n]):
        ax.scatter(
            [n], [n], s=30.0 if n <= style.VECTOR_N else 14.0, marker="*", color="black", clip_on=False, zorder=4
        )
    colour_bar(figure, ax, mesh, scale, label)
    if numbers:
        _write_numbers(ax, cells, mesh, none, set(marked), whole=what == "radius")
    if marked:
        lo, om = np.array(marked).T
        ax.scatter(om, lo, s=(0.7 * cell_points(ax, n)) ** 2, marker="x", color="red", linewidths=1.3, zorder=2.5)
    return figure


def draw_cells(ax: Axes, cells: np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]], scale: Scale) -> QuadMesh:
    """One square for each state that is not masked; beyond a few of them as one picture, or a PDF would be huge."""
    edges = np.arange(len(cells) + 1) - 0.5
    small = len(cells) - 1 <= style.VECTOR_N
    mesh = ax.pcolormesh(
        edges,
        edges,
        cells,
        norm=scale.norm,
        cmap=scale.cmap,
        edgecolors="white" if small else "none",
        linewidth=0.5 if small else 0.0,
        rasterized=not small,
    )
    return mesh


def draw_grey(ax: Axes, none: BoolArray, infinite: BoolArray) -> str:
    """Draw the states that no colour stands for in grey, and return the note that says so."""
    notes = []
    for mask, grey, meaning in ((none, style.NONE, "light grey: none"), (infinite, style.INFINITE, "grey: infinite")):
        if mask.any():
            draw_cells(
                ax, np.ma.masked_where(~mask, np.ones(mask.shape)), Scale(Normalize(0, 1), ListedColormap([grey]))
            )
            notes.append(meaning)
    return f"\n({', '.join(notes)})" if notes else ""


def colour_bar(figure: Figure, ax: Axes, mesh: ScalarMappable, scale: Scale, label: str) -> None:
    """A labelled colour bar beside the map."""
    bar = figure.colorbar(mesh, ax=ax, extend=scale.extend, fraction=0.05, pad=0.03, aspect=22)
    if scale.ticks:
        bar.set_ticks(scale.ticks, labels=scale.labels)
        bar.ax.minorticks_off()
    bar.ax.tick_params(which="both", labelsize=style.SMALL)
    bar.ax.tick_params(length=0.0 if isinstance(scale.norm, BoundaryNorm) else 2.5)
    bar.set_label(label, fontsize=style.TEXT, parse_math=False)
    bar.outline.set_linewidth(0.5)


def cell_points(ax: Axes, n: int) -> float:
    """Side of a cell in points, before the layout settles."""
    box = ax.get_position()
    width, height = style.root_figure(ax).get_size_inches()
    return 72.0 * min(box.width * width, box.height * height) / (n + 1)


def short(number: float) -> str:
    """Three figures in as few characters as a cell has room for."""
    if number == 0.0:
        return "0"
    if number < 0.01:
        return "<.01"
    if number < 9.995:
        return f"{number:.2f}"
    if number < 99.95:
        return f"{number:.1f}"
    if number < 99_999.5:
        return f"{number:.0f}"
    digits, power = f"{number:.0e}".split("e")
    return f"{digits}e{int(power)}"


def _size(n: int, numbers: bool) -> tuple[float, float]:
    if not numbers:
        return 5.3, 4.3
    side = min(12.0, max(4.0, 0.34 * (n + 1)))
    return side + 1.0, side + 0.3


def _write_numbers(
    ax: Axes, cells: FloatArray, mesh: QuadMesh, grey: BoolArray, crossed: set[tuple[int, ...]], whole: bool
) -> None:
    where = np.argwhere(np.isfinite(cells))
    texts = [f"{cells[lo, om]:.0f}" if whole else short(float(cells[lo, om])) for lo, om in where]
    longest = max(map(len, texts), default=1)
    side = cell_points(ax, len(cells) - 1)
    size = min(style.TEXT, 0.6 * side, 1.45 * side / longest)
    for (lo, om), text in zip(where, texts, strict=True):
        red, green, blue = to_rgb(style.NONE) if grey[lo, om] else mesh.to_rgba(cells[lo, om])[:3]
        below = float(red), float(green), float(blue)
        written = ax.text(om, lo, text, ha="center", va="center", fontsize=size, color=_readable_on(below))
        if (lo, om) in crossed:  # the number keeps clear of its cross
            written.set_path_effects([withStroke(linewidth=3.0, foreground=below)])


def _readable_on(colour: tuple[float, float, float]) -> str:
    red, green, blue = colour
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"
