"""Figures ready for a paper: maps of (LO, OM), runs, curves and laws, as Matplotlib figures without global state.

Every function draws into ``ax`` if one is given, else into a new figure, and returns the
:class:`matplotlib.figure.Figure`.  Nothing goes through pyplot: no display is needed, and threads do not meet.

Matplotlib is loaded with this package, never by ``import kflip`` alone.
"""

from kflip.figures.compare import compare
from kflip.figures.curves import NORMALISERS, runtime_curves
from kflip.figures.distribution import distribution
from kflip.figures.heatmap import heatmap
from kflip.figures.learning import learning_curve
from kflip.figures.output import FORMATS, save
from kflip.figures.quantities import WHAT
from kflip.figures.trajectories import trajectories

__all__ = [
    "FORMATS",
    "NORMALISERS",
    "WHAT",
    "compare",
    "distribution",
    "heatmap",
    "learning_curve",
    "runtime_curves",
    "save",
    "trajectories",
]
