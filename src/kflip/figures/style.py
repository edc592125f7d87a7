"""What all figures share: sizes, colours, titles, and the axes of a map over (LO, OM)."""

from __future__ import annotations

import textwrap

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, Locator, MaxNLocator

from kflip.policy import AnyPolicy
from kflip.rules import AdaptiveRule
from kflip.setting import Setting

#: Points of type; figures are made to be printed as they are, one or two to a page.
TEXT, SMALL = 9.0, 8.0

#: Characters that fit above a map.
LINE = 56

#: Okabe and Ito's colours, told apart with every kind of colour vision; without yellow, too pale for a line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")

#: A state whose number is zero or infinite, where a logarithmic map has no colour for it.
NONE, INFINITE = "#e6e6e6", "#8c8c8c"

#: Up to this length every cell has a border and is drawn as a vector; beyond, the map is one picture.
VECTOR_N = 32

#: Up to this length the cells can hold their numbers.
ANNOTATED_N = 16


def axes_of(ax: Axes | None, width: float, height: float) -> tuple[Figure, Axes]:
    """The given axes and their figure, or new ones of this size in inches."""
    if ax is None:
        figure = Figure(figsize=(width, height), layout="compressed")
        return figure, figure.add_subplot()
    return root_figure(ax), ax


def root_figure(ax: Axes) -> Figure:
    """The figure of the axes, even if they sit in a part of one."""
    figure = ax.figure
    return figure if isinstance(figure, Figure) else figure.figure


def setting_title(setting: Setting) -> str:
    """What is optimised, in one short line."""
    goal = {"lo": "LeadingOnes", "loom": "(LeadingOnes, OneMax)"}[setting.objective]
    return f"{goal}, {setting.selection} selection, n = {setting.n}"


def policy_title(setting: Setting, policy: AnyPolicy | AdaptiveRule) -> str:
    """Which policy, what it sees, and the radii it may use if not all."""
    seen = {"lo": "LO", "lo-om": "(LO, OM)"}[setting.state]
    text = f"{policy.name} policy, seeing {seen}"
    if str(setting.portfolio) != "full":
        text = f"{text}, radii {str(setting.portfolio).replace(',', ', ')}"
    return textwrap.fill(text, LINE, max_lines=3, placeholder=" ...")


def set_title(ax: Axes, *lines: str) -> None:
    """Lines above the axes, as they stand: a policy's name may hold a dollar sign."""
    ax.set_title("\n".join(lines), fontsize=TEXT, parse_math=False)


def map_axes(ax: Axes, n: int) -> None:
    """OM to the right, LO upwards, one unit a state, as the paper draws them."""
    ax.set_aspect("equal")
    ax.set_xlim(-0.5, n + 0.5)
    ax.set_ylim(-0.5, n + 0.5)
    ax.xaxis.set_major_locator(_ticks(n))
    ax.yaxis.set_major_locator(_ticks(n))
    ax.tick_params(labelsize=SMALL, length=2.5)
    ax.set_xlabel("OM", fontsize=TEXT)
    ax.set_ylabel("LO", fontsize=TEXT)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _ticks(n: int) -> Locator:
    if n <= ANNOTATED_N:
        return FixedLocator(range(n + 1))
    if n % 8 == 0 and n & (n - 1) == 0:
        return FixedLocator(range(0, n + 1, n // 8))
    return MaxNLocator(8, integer=True)
