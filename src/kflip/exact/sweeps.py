"""Running the level sweeps in slices, so that a long solve shows progress and can be interrupted.

A compiled sweep cannot be stopped half-way.  Slices of about a fifth of a second keep Ctrl-C prompt and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import TypeAlias

import numpy as np

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.exact import chain, lo_standard, lo_strict, loom
from kflip.exact.flips import ANY, REJECT, UPWARD
from kflip.exact.level_tables import level_tables

Progress: TypeAlias = Callable[[float], None]

SLICE_SECONDS = 0.2


def acceptance(objective: str, selection: str) -> int:
    """Which moves inside a level of ``(LO, OM)`` are accepted, as a mode of :mod:`kflip.exact.flips`."""
    if objective == "loom":
        return UPWARD
    return ANY if selection == "standard" else REJECT


def in_slices(n: int, run: Callable[[int, int], None], progress: Progress | None) -> None:
    """Call ``run(first, last)`` on consecutive ranges of levels from ``n - 1`` down to 0."""
    first, size = n - 1, 16
    while first >= 0:
        last = max(0, first - size + 1)
        begin = perf_counter()
        run(first, last)
        elapsed = max(perf_counter() - begin, 1e-6)
        size = max(1, min(4 * size, int(size * SLICE_SECONDS / elapsed)))
        first = last - 1
        if progress is not None:
            progress(((n - last) / n) ** 2)


def solve_lo_om(
    n: int,
    objective: str,
    selection: str,
    radii: IntArray,
    progress: Progress | None = None,
    *,
    warm: bool = True,
) -> tuple[FloatArray, IntArray, IntArray]:
    """Optimal values and radii of every ``(LO, OM)`` state, shapes (n+1, n+1), and policy rounds per level.

    ``warm=False`` starts policy iteration on every level from the smallest radius, as the paper does.
    """
    values, table = _empty(n), np.zeros((n + 1, n + 1), dtype=np.int64)
    rounds = np.zeros(n, dtype=np.int64)
    tables = level_tables(n, radii)
    mode = acceptance(objective, selection)
    if mode == ANY:
        space = chain.evaluation_tables(n, mode, 1)

        def run(first: int, last: int) -> None:
            lo_standard.sweep(first, last, values, table, tables, space, warm, rounds)
    else:
        sweep = loom.sweep if mode == UPWARD else lo_strict.sweep

        def run(first: int, last: int) -> None:
            sweep(first, last, values, table, tables)

    in_slices(n, run, progress)
    return values, table, rounds


def evaluate_lo_om(
    n: int,
    objective: str,
    selection: str,
    *,
    table: RadiusArray | None = None,
    radii: RadiusArray | None = None,
    probabilities: FloatArray | None = None,
    progress: Progress | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the remaining time in every ``(LO, OM)`` state, shapes (n+1, n+1).

    Give either a ``table`` of radii, shape (n+1, n+1), or ``probabilities`` over ``radii``, shape (n+1, n+1, m).
    """
    values, variances = _empty(n), _empty(n)
    mode = acceptance(objective, selection)
    # the kernel takes both kinds and looks at the one that is not empty
    fixed = np.zeros((0, 0), dtype=np.int64) if table is None else table.astype(np.int64)
    mixed = np.zeros(0, dtype=np.int64) if radii is None else radii.astype(np.int64)
    weights = np.zeros((0, 0, 0)) if probabilities is None else probabilities
    space = chain.evaluation_tables(n, mode, max(1, len(mixed)))

    def run(first: int, last: int) -> None:
        chain.sweep(first, last, mode, fixed, mixed, weights, values, variances, space)

    in_slices(n, run, progress)
    return values, variances


def _empty(n: int) -> FloatArray:
    values = np.full((n + 1, n + 1), np.nan)
    values[n, n] = 0.0
    return values
