"""Two policies: signs where their radii differ, and differences of regret that sum to the difference in runtime."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import SymLogNorm
from matplotlib.figure import Figure

import kflip
from kflip.errors import InputError
from kflip.figures import compare
from kflip.policy import exists
from tests.figures.test_heatmap import cells, meshes


def test_where_and_what_it_costs() -> None:
    setting = kflip.Setting(8, "lo")
    best = kflip.solve(setting)
    other = kflip.evaluate(setting, "lo-optimal")
    assert isinstance(other.policy, kflip.Policy)
    figure = compare(setting, "lo-optimal", best.policy)
    left, right = figure.axes[:2]
    difference = other.policy.table - best.policy.table
    mask = exists(8, "lo-om")
    assert (np.ma.getmaskarray(cells(left)) == ~mask).all()
    assert (cells(left).filled(0) == np.sign(difference)).all()
    assert {-1, 0, 1} == set(np.sign(difference)[mask].tolist())
    assert float(cells(right).sum()) == pytest.approx(other.expected_runtime - best.expected_runtime)
    assert (np.ma.getmaskarray(cells(right))[mask & (difference == 0)]).all()
    assert f"differ in {np.count_nonzero(difference) / 36:.1%} of the states" in left.get_title()
    assert f"lo-optimal {other.expected_runtime:.2f}, optimal {best.expected_runtime:.2f}" in right.get_title()
    assert "lo-optimal takes" in right.get_title()
    labels = [ax.get_ylabel() for ax in figure.axes[2:]]
    assert labels == [
        "radius of lo-optimal against optimal",
        "iterations lost: lo-optimal minus optimal\n(light grey: none)",
    ]
    for ax in (left, right):
        assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xlim()) == ("OM", "LO", (-0.5, 8.5))


def test_order_changes_the_sign() -> None:
    setting = kflip.Setting(8)
    best = kflip.solve(setting).policy
    one, other = compare(setting, "one-bit", best), compare(setting, best, "one-bit")
    for panel in (0, 1):
        first, second = cells(one.axes[panel]), cells(other.axes[panel])
        np.testing.assert_array_equal(first.filled(0), -second.filled(0))
    assert one.axes[1].get_title().split("\n")[1] == other.axes[1].get_title().split("\n")[1]


def test_colours_are_symmetric() -> None:
    norm = meshes(compare(kflip.Setting(8), "one-bit", "max-drift").axes[1])[0].norm
    assert isinstance(norm, SymLogNorm)
    assert norm.vmin is not None
    assert norm.vmax is not None
    assert norm.vmin == -norm.vmax
    assert norm(0.0) == pytest.approx(0.5)


def test_a_policy_and_itself() -> None:
    figure = compare(kflip.Setting(8), "one-bit", "one-bit")
    assert "radii differ in 0.0% of the states" in figure.axes[0].get_title()
    assert figure.axes[1].get_title().endswith("both are equally fast")
    assert "one-bit (first)" in figure.axes[1].get_title()
    assert cells(figure.axes[1]).count() == 0
    assert cells(figure.axes[1], 1).count() == 36
    figure.draw_without_rendering()


def test_policies_that_see_lo() -> None:
    setting = kflip.Setting(8, "lo", state="lo")
    figure = compare(setting, "one-bit", "lo-optimal")
    gap = kflip.evaluate(setting, "one-bit").expected_runtime - kflip.solve(setting).expected_runtime
    assert float(cells(figure.axes[1]).sum()) == pytest.approx(gap)


def test_mixed_radii_and_infinite_regret() -> None:
    figure = compare(kflip.Setting(6), "random-radius", "constant-2")
    right = figure.axes[1]
    assert "infinite runtime" in right.get_title()
    assert "grey: infinite" in figure.axes[3].get_ylabel()
    # a radius drawn from 1 to 6 is 3.5 on average
    assert set(cells(figure.axes[0]).compressed().tolist()) == {1.0}


def test_given_axes() -> None:
    figure = Figure()
    axes = figure.subplots(1, 3)
    assert compare(kflip.Setting(6), "one-bit", "lo-optimal", ax=list(axes[1:])) is figure
    assert [len(meshes(ax)) > 0 for ax in axes] == [False, True, True]
    with pytest.raises(InputError, match="needs two axes, not 3"):
        compare(kflip.Setting(6), "one-bit", "lo-optimal", ax=list(axes))


def test_bits_are_refused() -> None:
    with pytest.raises(InputError, match="state 'bits' is not supported"):
        compare(kflip.Setting(4, state="bits"), "one-bit", "one-bit")
