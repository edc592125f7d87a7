"""Learning curves: both regrets, with gaps where one is infinite."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from kflip.errors import InputError
from kflip.figures.learning import FLOOR, learning_curve
from kflip.learn import Point


def test_heights() -> None:
    figure = learning_curve([Point(100, inf, 0.5), Point(200, 0.25, 0.0), Point(300, 0.1, -1e-16)], title="a $ b")
    figure.draw_without_rendering()
    ax = figure.axes[0]
    raw, infinite, guarded = ax.lines
    np.testing.assert_array_equal(raw.get_xdata(), [100, 200, 300])
    np.testing.assert_array_equal(raw.get_ydata(), [nan, 0.25, 0.1])
    np.testing.assert_array_equal(infinite.get_xdata(), [100])
    np.testing.assert_array_equal(guarded.get_ydata(), [0.5, FLOOR, FLOOR])
    assert (ax.get_yscale(), ax.get_title()) == ("log", "a $ b")
    assert {"1 %", "10 %", "50 %"} <= {label.get_text() for label in ax.get_yticklabels()}


def test_nothing_to_draw() -> None:
    with pytest.raises(InputError, match="no point"):
        learning_curve([])
