"""Every published series of expected runtimes, recomputed.

The published totals leave out the start states with ``OM = LO`` (the strings ``1^i 0^(n-i)``, weight ``n / 2^n``
together).  With the same omission they are reproduced to about 1e-13; the correct total stands beside it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from kflip._typing import FloatArray
from kflip.evaluation import evaluate
from kflip.exact.sweeps import Progress
from kflip.rules import lo_optimal, one_bit
from kflip.setting import Setting
from kflip.solution import solve

NORMALISERS: dict[str, Callable[[int], float]] = {
    "n ln n": lambda n: n * math.log(n),
    "n^2": lambda n: float(n * n),
}

AGREES, AGREES_WITHOUT, DIFFERS = "agrees", "agrees without OM = LO starts", "differs"

#: Relative difference up to which a number counts as reproduced; the figures print 16 digits.
AGREEMENT = 1e-11


@dataclass(frozen=True)
class Comparison:
    """One published number beside ours, all divided by the series' normaliser.

    ``ours`` is the correct total, ``as_published`` the total without the start states ``OM = LO``.
    """

    series: str
    n: int
    published: float
    ours: float
    as_published: float

    @property
    def verdict(self) -> str:
        """Whether the numbers agree, as they stand or under the paper's convention."""
        if abs(self.difference) <= AGREEMENT:
            return AGREES
        if abs(self.difference_as_published) <= AGREEMENT:
            return AGREES_WITHOUT
        return DIFFERS

    @property
    def difference(self) -> float:
        """Relative difference of the correct total from the published number."""
        return self.ours / self.published - 1.0

    @property
    def difference_as_published(self) -> float:
        """Relative difference under the paper's convention, without the start states ``OM = LO``."""
        return self.as_published / self.published - 1.0


@cache
def published() -> dict[str, Any]:
    """The numbers read from the paper's figures and text."""
    data: dict[str, Any] = json.loads(files("kflip.paper").joinpath("published.json").read_text())
    return data


def compare() -> Iterator[Comparison]:
    """Recompute every published number, in the order of the file."""
    for series in published()["series"]:
        for text in series["published"]:
            yield comparison(series, int(text), *totals(series, int(text)))


def comparison(series: dict[str, Any], n: int, total: float, partial: float) -> Comparison:
    """Set the :func:`totals` of one point beside the number published for it."""
    scale = NORMALISERS[series["normaliser"]](n)
    return Comparison(series["id"], n, series["published"][str(n)], total / scale, partial / scale)


def count() -> int:
    """How many numbers :func:`compare` yields."""
    return sum(len(series["published"]) for series in published()["series"])


def by_id(name: str) -> dict[str, Any]:
    """One published series."""
    return next(series for series in published()["series"] if series["id"] == name)


def totals(series: dict[str, Any], n: int, progress: Progress | None = None) -> tuple[float, float]:
    """Expected runtime of one point of a series, and the part of it that the paper counts."""
    # policies that see LO alone are evaluated on (LO, OM) too: the omitted start states need their own values
    setting = Setting(n, series["objective"], series["selection"], "lo-om", series["portfolio"])
    if series["policy"] == "always k=1":
        result: Any = evaluate(setting, one_bit, progress=progress)
    elif series["state"] == "lo" or series["policy"].startswith("k = floor"):
        result = evaluate(setting, lo_optimal, progress=progress)
    else:
        result = solve(setting, progress=progress)
    return result.expected_runtime, result.expected_runtime - _omitted(result.values)


def _omitted(values: FloatArray) -> float:
    n = values.shape[0] - 1
    return float(np.diagonal(values)[:n].sum() * 2.0**-n)
