"""Colours of numbers: bins of radii, and norms that fit the numbers."""

from __future__ import annotations

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import BoundaryNorm, LogNorm, Normalize

import kflip
from kflip.figures.scales import number_scale, radius_bins, radius_scale


def test_small_radii_have_their_own_colour_and_large_ones_share_octaves() -> None:
    bins = radius_bins(kflip.Setting(128).radii)
    assert bins == [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 8), (9, 16), (17, 32), (33, 64), (65, 128)]


@pytest.mark.parametrize("n", [1, 2, 5, 6, 8, 9, 100, 1024])
def test_every_radius_is_in_one_bin(n: int) -> None:
    covered = [k for low, high in radius_bins(tuple(range(1, n + 1))) for k in range(low, high + 1)]
    assert covered == list(range(1, n + 1))


def test_radius_norm_boundaries() -> None:
    scale = radius_scale(kflip.Setting(16).radii)
    assert isinstance(scale.norm, BoundaryNorm)
    assert list(scale.norm.boundaries) == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 8.5, 16.5]
    assert scale.labels == ("1", "2", "3", "4", "5", "6–8", "9–16")
    assert np.asarray(scale.norm([1, 2, 5, 6, 8, 9, 16])).tolist() == [0, 1, 4, 5, 5, 6, 6]


def test_only_radii_of_the_portfolio_are_named() -> None:
    scale = radius_scale(kflip.Setting(64, portfolio="powers-of-two").radii)
    assert scale.labels == ("1", "2", "4", "8", "16", "32", "64")
    assert np.asarray(scale.norm([1, 2, 4, 8, 16, 32, 64])).tolist() == list(range(7))


def test_one_radius_alone() -> None:
    scale = radius_scale((1,))
    assert scale.labels == ("1",)
    assert scale.cmap(scale.norm(1.0)) == scale.cmap(0.0)


def test_colours_grow_lighter_and_small_radii_are_farthest_apart() -> None:
    colours = radius_scale(kflip.Setting(1024).radii).cmap(np.arange(13))
    lightness = colours[:, :3] @ np.array([0.2126, 0.7152, 0.0722])
    assert (np.diff(lightness) > 0.01).all()
    # viridis is perceptually uniform: equal steps along it look equally different
    viridis = matplotlib.colormaps["viridis"](np.arange(256))
    steps = np.diff([np.abs(viridis - colour).sum(axis=1).argmin() for colour in colours])
    assert steps.min() >= 12
    assert steps[:4].min() > 1.8 * steps[4:].max()


def test_numbers_start_at_zero_unless_a_few_dwarf_the_others() -> None:
    scale = number_scale(np.array([np.nan, 3.0, 7.0, np.inf]), wide=False)
    assert type(scale.norm) is Normalize
    assert (scale.norm.vmin, scale.norm.vmax) == (0.0, 7.0)
    scale = number_scale(np.array([1.0, 2.0, 3.0, 1e7]), wide=False)
    assert isinstance(scale.norm, LogNorm)
    assert (scale.norm.vmin, scale.norm.vmax) == (10.0, 1e7)
    assert scale.extend == "min"


def test_wide_numbers_are_logarithmic() -> None:
    scale = number_scale(np.array([0.0, 1e-3, 1.0]), wide=True)
    assert isinstance(scale.norm, LogNorm)
    assert (scale.norm.vmin, scale.norm.vmax, scale.extend) == (1e-3, 1.0, "neither")


def test_nothing_to_show_has_a_scale_too() -> None:
    scale = number_scale(np.array([np.nan, 0.0, np.inf]), wide=True)
    assert (scale.norm.vmin, scale.norm.vmax) == (0.0, 1.0)
