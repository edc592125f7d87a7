"""Expected runtimes over n, normalised so that curves can be told apart, with published points around them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from kflip._typing import FloatArray
from kflip.errors import InputError, unknown_word
from kflip.figures import style

#: What a runtime may be divided by.
NORMALISERS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "n ln n": lambda n: n * np.log(n),
    "n^2": lambda n: n**2,
}

_NAMES = {"n ln n": r"$n\,\ln\,n$", "n^2": r"$n^2$"}
_DASHES = ("-", "--", "-.", ":")
_MARKERS = "osD^vP"


def runtime_curves(
    series: Iterable[Mapping[str, Any]], *, ax: Axes | None = None, normaliser: str | None = "n ln n"
) -> Figure:
    """Draw expected runtimes over n.

    Parameters
    ----------
    series
        For each curve a mapping with ``label``, ``n`` and ``runtime`` (sequences of one length, iterations), and
        optionally ``published``, a mapping from n to a value that is normalised already, drawn as hollow markers.
    ax
        Where to draw; None makes a figure.
    normaliser
        ``"n ln n"``, ``"n^2"``, or None for plain iterations.

    Examples
    --------
    >>> figure = runtime_curves([{"label": "RLS", "n": [4, 8], "runtime": [5.3, 16.2]}])
    >>> figure.axes[0].get_xscale()
    'log'
    """
    if normaliser is not None and normaliser not in NORMALISERS:
        raise unknown_word("normaliser", normaliser, NORMALISERS)
    curves = [_curve(one, normaliser) for one in series]
    if not curves:
        raise InputError("there is no series to draw")
    figure, ax = style.axes_of(ax, 5.6, 3.8)
    looks = zip(cycle(style.COLOURS), cycle(_DASHES), cycle(_MARKERS))
    for (label, n, height, published), (colour, dash, marker) in zip(curves, looks, strict=False):
        ax.plot(n, height, color=colour, linestyle=dash, linewidth=1.4, label=label)
        if published:
            ax.plot(
                list(published),
                list(published.values()),
                linestyle="none",
                marker=marker,
                markersize=6.0,
                markerfacecolor="none",
                markeredgecolor=colour,
                markeredgewidth=1.1,
            )
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_locator(LogLocator(base=2, numticks=24))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:.0f}"))
    ax.set_xlabel("n", fontsize=style.TEXT)
    ax.set_ylabel("expected runtime" + (f" / ({_NAMES[normaliser]})" if normaliser else ""), fontsize=style.TEXT)
    ax.tick_params(labelsize=style.SMALL)
    ax.grid(color="#dddddd", linewidth=0.5)
    ax.set_axisbelow(True)
    handles = ax.get_legend_handles_labels()[0]
    if any(published for *_, published in curves):
        ring = Line2D([], [], linestyle="none", marker="o", markersize=6.0, markerfacecolor="none", label="published")
        ring.set_markeredgecolor("#555555")
        handles.append(ring)
    ax.legend(handles=handles, fontsize=style.SMALL, frameon=True, framealpha=0.9)
    return figure


def _curve(one: Mapping[str, Any], normaliser: str | None) -> tuple[str, FloatArray, FloatArray, dict[int, float]]:
    missing = [key for key in ("label", "n", "runtime") if key not in one]
    if missing:
        raise InputError(f"a series needs label, n and runtime; {', '.join(missing)} is missing")
    n, runtime = (np.asarray(one[key], dtype=np.float64) for key in ("n", "runtime"))
    if n.ndim != 1 or n.shape != runtime.shape:
        raise InputError(f"series {one['label']!r} has {n.size} lengths n and {runtime.size} runtimes")
    if (n < 1).any() or (normaliser == "n ln n" and (n < 2).any()):
        raise InputError(f"series {one['label']!r}: n must be at least {2 if normaliser == 'n ln n' else 1}")
    height = runtime if normaliser is None else runtime / NORMALISERS[normaliser](n)
    return str(one["label"]), n, height, dict(one.get("published") or {})
