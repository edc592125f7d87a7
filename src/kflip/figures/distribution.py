"""The law of the runtime: the exact probability of having finished, with simulated runs beside it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from kflip.analysis import RuntimeDistribution, runtime_distribution
from kflip.errors import InputError
from kflip.figures import style
from kflip.figures.quantities import check_state
from kflip.policy import PolicyLike
from kflip.rules import Rule
from kflip.setting import Setting
from kflip.simulate import simulate

QUARTILES = (0.25, 0.5, 0.75)

#: Share of the runs left out on either side of the axis.
OUTSIDE = 5e-4

#: More steps than this cannot be told apart.
STEPS = 2_000


def distribution(
    setting: Setting, policy: PolicyLike | Rule, *, runs: int = 0, seed: int = 1, ax: Axes | None = None
) -> Figure:
    """Draw the exact distribution function of the runtime, its median and quartiles.

    Parameters
    ----------
    setting, policy
        What is run, as for :func:`kflip.analysis.runtime_distribution`.
    runs, seed
        If ``runs`` is positive, the empirical distribution of so many simulated runs is drawn too.
    ax
        Where to draw; None makes a figure.

    Examples
    --------
    >>> import kflip
    >>> distribution(kflip.Setting(8), "one-bit").axes[0].get_xlabel()
    'iterations'
    """
    check_state(setting)
    if runs < 0:
        raise InputError(f"runs must be at least 0, not {runs}")
    law = runtime_distribution(setting, policy)
    figure, ax = style.axes_of(ax, 5.2, 3.6)
    times = _times(law)
    ax.step(times, law.cdf(times), where="post", color=style.COLOURS[0], linewidth=1.6, label=_summary(law), zorder=3)
    if runs:
        made = simulate(setting, law.policy, runs, seed, max_iterations=int(law.end) + 1)
        label = f"{runs:,} simulated runs"
        ax.step(times, made.ecdf(times), where="post", color=style.COLOURS[1], linewidth=1.0, label=label, zorder=4)
    for share in QUARTILES:
        if share <= law.cdf(law.end):
            _mark(ax, share, float(law.quantile(share)))
    ax.set_xlim(times[0], times[-1])
    ax.set_ylim(0.0, 1.02)
    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.tick_params(labelsize=style.SMALL)
    ax.set_xlabel("iterations", fontsize=style.TEXT)
    ax.set_ylabel("runs that have finished", fontsize=style.TEXT)
    style.set_title(ax, style.setting_title(setting), style.policy_title(setting, law.policy))
    ax.grid(color="#e5e5e5", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.legend(fontsize=style.SMALL, loc="lower right", frameon=True, framealpha=0.9)
    return figure


def _times(law: RuntimeDistribution) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    reached = float(law.cdf(law.end))
    first, last = (float(law.quantile(share * reached)) for share in (OUTSIDE, 1.0 - OUTSIDE))
    margin = 0.02 * (last - first)
    low, high = max(0.0, np.floor(first - margin)), min(float(law.end), np.ceil(last + margin))
    return np.unique(np.round(np.linspace(low, max(high, low + 1.0), min(STEPS, int(high - low) + 2))))


def _summary(law: RuntimeDistribution) -> str:
    if law.unfinished > 0.0:
        return f"exact: {law.unfinished:.2%} never finish"
    return f"exact: mean {law.mean:,.1f}, std {law.std:,.1f}"


def _mark(ax: Axes, share: float, time: float) -> None:
    ax.plot([time, time], [0.0, share], color="#777777", linewidth=0.8, linestyle=":", zorder=2, gid="quartile")
    ax.scatter([time], [share], s=18.0, color="black", zorder=5)
    name = "median" if share == 0.5 else f"{share:.0%}"
    ax.annotate(
        f"{name}: {time:,.0f}",
        (time, share),
        xytext=(7.0, -3.0),
        textcoords="offset points",
        fontsize=style.SMALL,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        zorder=5,
    )
