"""Runs over a map: one line a run, through the states it was in."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import kflip
from kflip.errors import InputError
from kflip.figures import trajectories


@pytest.mark.parametrize("state", ["lo", "lo-om"])
def test_lines_are_the_runs(state: str) -> None:
    best = kflip.solve(kflip.Setting(16, "lo", state=state))
    ax = trajectories(best, 7, 3).axes[0]
    runs = kflip.simulate(best.setting, best.policy, 7, 3, record="trajectories")
    assert len(ax.lines) == 7
    for r, line in enumerate(ax.lines):
        np.testing.assert_array_equal(line.get_xdata(), runs.trajectory(r).om)
        np.testing.assert_array_equal(line.get_ydata(), runs.trajectory(r).lo)
    assert ax.get_legend() is None
    assert ax.get_title().endswith(", 7 runs")
    assert ax.get_xlim() == ax.get_ylim() == (-0.5, 16.5)


def test_ten_runs_over_radii_by_default() -> None:
    figure = trajectories(kflip.solve(kflip.Setting(8)))
    assert len(figure.axes[0].lines) == 10
    assert figure.axes[1].get_ylabel() == "search radius k"
    assert not figure.axes[0].texts


def test_over_values_in_given_axes() -> None:
    figure = Figure()
    _, ax = figure.subplots(1, 2)
    assert trajectories(kflip.solve(kflip.Setting(8)), 1, ax=ax, what="value") is figure
    assert len(ax.lines) == 1
    assert ax.get_title().endswith(", 1 run")
    assert not figure.axes[0].lines


def test_crowded_lines_are_a_picture() -> None:
    few = trajectories(kflip.solve(kflip.Setting(8)), 2).axes[0].lines
    many = trajectories(kflip.evaluate(kflip.Setting(40, "lo"), "one-bit"), 20).axes[0].lines
    assert not few[0].get_rasterized()
    assert many[0].get_rasterized()


def test_hopeless_runs_end() -> None:
    # 20 of 40 bits: an improvement of a long prefix is never seen
    result = kflip.evaluate(kflip.Setting(40), "constant-20")
    assert len(trajectories(result, 2).axes[0].lines) == 2


def test_no_runs() -> None:
    with pytest.raises(InputError, match="runs must be a whole number of at least 1"):
        trajectories(kflip.solve(kflip.Setting(4)), 0)
