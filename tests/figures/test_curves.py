"""Curves over n: the right heights, and published points where they were published."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.errors import InputError
from kflip.figures import runtime_curves

N = [4, 8, 16]


def series() -> list[dict[str, object]]:
    return [
        {
            "label": rule,
            "n": N,
            "runtime": [kflip.evaluate(kflip.Setting(n), rule).expected_runtime for n in N],
            **({"published": {4: 0.9, 16: 0.95}} if rule == "one-bit" else {}),
        }
        for rule in ("one-bit", "lo-optimal")
    ]


@pytest.mark.parametrize(
    ("normaliser", "divisor"),
    [("n ln n", [4 * np.log(4), 8 * np.log(8), 16 * np.log(16)]), ("n^2", [16, 64, 256]), (None, [1, 1, 1])],
)
def test_heights(normaliser: str | None, divisor: list[float]) -> None:
    given = series()
    ax = runtime_curves(given, normaliser=normaliser).axes[0]
    first, points, second = ax.lines
    for line, one in ((first, given[0]), (second, given[1])):
        np.testing.assert_array_equal(line.get_xdata(), N)
        np.testing.assert_allclose(np.asarray(line.get_ydata()), np.array(one["runtime"]) / divisor, rtol=1e-14)
    np.testing.assert_array_equal(points.get_xdata(), [4, 16])
    np.testing.assert_array_equal(points.get_ydata(), [0.9, 0.95])
    assert (points.get_markerfacecolor(), points.get_linestyle()) == ("none", "None")
    assert points.get_markeredgecolor() == first.get_color() != second.get_color()


def test_axes() -> None:
    figure = runtime_curves(series())
    figure.draw_without_rendering()
    ax = figure.axes[0]
    assert ax.get_xscale() == "log"
    low, high = ax.get_xlim()
    ticks = [
        label.get_text()
        for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
        if low <= tick <= high
    ]
    assert ticks == ["4", "8", "16"]
    assert ax.get_xlabel() == "n"
    assert ax.get_ylabel() == r"expected runtime / ($n\,\ln\,n$)"
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["one-bit", "lo-optimal", "published"]


def test_without_published_points() -> None:
    ax = runtime_curves(series()[1:], normaliser=None).axes[0]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["lo-optimal"]
    assert ax.get_ylabel() == "expected runtime"


def test_refused() -> None:
    with pytest.raises(InputError, match=r"unknown normaliser 'n2'.*n ln n, n\^2"):
        runtime_curves(series(), normaliser="n2")
    with pytest.raises(InputError, match="no series"):
        runtime_curves([])
    with pytest.raises(InputError, match="runtime is missing"):
        runtime_curves([{"label": "a", "n": [4]}])
    with pytest.raises(InputError, match="'a' has 2 lengths n and 1 runtimes"):
        runtime_curves([{"label": "a", "n": [4, 8], "runtime": [1.0]}])
    with pytest.raises(InputError, match="n must be at least 2"):
        runtime_curves([{"label": "a", "n": [1, 8], "runtime": [1.0, 2.0]}])
