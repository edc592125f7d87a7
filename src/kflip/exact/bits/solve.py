"""Optimal radii for every string: the levels from the optimum downwards.

LO never falls, so level ``i`` needs only itself and the strings whose first ``i + 1`` bits are ones.  One level is
solved in :mod:`kflip.exact.bits.leading_ones` or, for (LeadingOnes, OneMax), in :mod:`kflip.exact.bits.byweight`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.errors import unknown_word
from kflip.exact.bits.byweight import solve_by_weight
from kflip.exact.bits.counts import level_counts
from kflip.exact.bits.crew import Crew, share_of_level
from kflip.exact.bits.leading_ones import solve_level

SOLVERS = {"lo": solve_level, "loom": solve_by_weight}


def solve_strict(
    n: int, radii: IntArray, objective: str, progress: Callable[[float], None] | None = None
) -> tuple[FloatArray, RadiusArray]:
    """Optimal value and radius of every string with strict selection.

    Parameters
    ----------
    n
        Length of the strings, at most 30.
    radii
        The portfolio, ascending.
    objective
        ``"lo"`` or ``"loom"``.
    progress
        Called with the finished fraction.

    Returns
    -------
    values, table
        Shape ``(2**n,)``, indexed by the integer whose most significant bit is position 1; 0 at the optimum.
        Infinite, with the smallest radius of the portfolio, where no policy is sure to reach the optimum.
    """
    values, table, _ = _solve(n, radii, objective, False, progress)
    return values, table


def solve_standard(
    n: int, radii: IntArray, objective: str, progress: Callable[[float], None] | None = None
) -> tuple[FloatArray, RadiusArray, int]:
    """Optimal value and radius of every string with standard selection.

    Parameters and the first two results are those of :func:`solve_strict`; the third is the most rounds that a level or
    a weight class took to settle (:mod:`kflip.exact.bits.fixed_point`).
    """
    return _solve(n, radii, objective, True, progress)


def _solve(
    n: int, radii: IntArray, objective: str, equals: bool, progress: Callable[[float], None] | None
) -> tuple[FloatArray, RadiusArray, int]:
    """Solve all levels; ``equals`` says whether selection accepts offspring as good as their parent."""
    if objective not in SOLVERS:
        raise unknown_word("objective", objective, SOLVERS)
    values = np.zeros(1 << n)
    table: RadiusArray = np.zeros(1 << n, dtype=np.uint8)
    rounds = 0
    with Crew() as crew:
        for i in range(n - 1, -1, -1):
            level = level_counts(n, i, radii)
            report = share_of_level(progress, i)
            table[level.here] = level.fallback
            if level.radii.size == 0:
                values[level.here] = np.inf
            else:
                rounds = max(rounds, SOLVERS[objective](crew, level, equals, values, table, report))
            report(1.0)
    return values, table, rounds
