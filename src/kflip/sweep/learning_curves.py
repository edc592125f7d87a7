"""Learning curves over seeds: the median, and the band from the best seed to the worst.

Seeds are aligned mark by mark.  A learner that ended before the others keeps its last policy, so its last
regret goes on to the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from kflip.sweep.entries import Mark


@dataclass(frozen=True)
class Band:
    """Median, smallest and largest over seeds at every mark."""

    median: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True)
class Curve:
    """Regret over iterations, of the guarded policy and of the policy as it stands."""

    iterations: tuple[float, ...]
    guarded: Band
    raw: Band


def curve_of(curves: Sequence[Sequence[Mark]]) -> Curve:
    """Curve of several seeds, each with at least one mark."""
    length = max(map(len, curves))
    # those that ended before say where the others are
    iterations = tuple(median(curve[j].iterations for curve in curves if j < len(curve)) for j in range(length))
    marks = [[curve[min(j, len(curve) - 1)] for curve in curves] for j in range(length)]
    return Curve(
        iterations,
        _band([[mark.guarded for mark in seeds] for seeds in marks]),
        _band([[mark.raw for mark in seeds] for seeds in marks]),
    )


def _band(regrets: Sequence[Sequence[float]]) -> Band:
    return Band(tuple(map(median, regrets)), tuple(map(min, regrets)), tuple(map(max, regrets)))
