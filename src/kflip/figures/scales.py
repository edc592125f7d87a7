"""Colours of numbers.

Radii get discrete colours.  Most states of an optimal policy use 1 to 5 and a few use almost ``n``, so every radius up
to 5 has its own colour and the rest share one per octave: 6-8, 9-16, 17-32 and so on.  The colours are taken from
viridis, which grows evenly lighter and survives colour blindness and grey print, with wider steps between small radii.
The scale depends on ``n`` and the portfolio alone: maps of different policies can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import matplotlib
import numpy as np
from matplotlib.colors import BoundaryNorm, Colormap, ListedColormap, LogNorm, Normalize

from kflip._typing import FloatArray

#: Radii with a colour of their own.
SINGLE = 5

#: Colour steps up to those, as multiples of the steps between octaves.
WIDER = {2: 3.0, 3: 2.5, 4: 2.0, 5: 2.0}

#: Orders of magnitude a logarithmic scale shows; less is drawn like the least.
DECADES = 6

#: Numbers this many times their median ask for a logarithmic scale.
SPREAD = 1e3


@dataclass(frozen=True)
class Scale:
    """Colours for numbers: ``ticks`` and ``labels`` for the colour bar if it is discrete, ``extend`` if it is cut."""

    norm: Normalize
    cmap: Colormap
    ticks: tuple[float, ...] = ()
    labels: tuple[str, ...] = ()
    extend: str = "neither"


def radius_bins(radii: tuple[int, ...]) -> list[tuple[int, int]]:
    """Smallest and largest radius of every colour, for the ascending radii of a portfolio."""
    edges = [*range(1, SINGLE + 2)]
    step = 8
    while edges[-1] <= radii[-1]:
        edges.append(step + 1)
        step *= 2
    inside = [[k for k in radii if low <= k < high] for low, high in pairwise(edges)]
    return [(group[0], group[-1]) for group in inside if group]


def radius_scale(radii: tuple[int, ...]) -> Scale:
    """Discrete colours for the radii of a portfolio."""
    bins = radius_bins(radii)
    boundaries = [low - 0.5 for low, _ in bins] + [radii[-1] + 0.5]
    steps = np.array([0.0, *(WIDER.get(low, 1.0) for low, _ in bins[1:])])
    places = steps.cumsum() / max(steps.sum(), 1.0)
    colours = ListedColormap(matplotlib.colormaps["viridis"](places), name="radius")
    # a norm needs two colours at least
    norm = BoundaryNorm(boundaries, colours.N) if colours.N > 1 else Normalize(boundaries[0], boundaries[1])
    labels = tuple(str(low) if low == high else f"{low}–{high}" for low, high in bins)
    return Scale(norm, colours, tuple((a + b) / 2 for a, b in pairwise(boundaries)), labels)


def number_scale(cells: FloatArray, wide: bool) -> Scale:
    """Continuous colours from zero, or over orders of magnitude if ``wide`` or if a few numbers dwarf the others."""
    positive = cells[np.isfinite(cells) & (cells > 0.0)]
    viridis = matplotlib.colormaps["viridis"]
    if not positive.size:
        return Scale(Normalize(0.0, 1.0), viridis)
    top = float(positive.max())
    if not (wide or top > SPREAD * float(np.median(positive))):
        return Scale(Normalize(0.0, top), viridis)
    least, floor = float(positive.min()), top / 10.0**DECADES
    if least == top:
        return Scale(LogNorm(top / 10.0, top), viridis)
    return Scale(LogNorm(max(least, floor), top), viridis, extend="min" if least < floor else "neither")
