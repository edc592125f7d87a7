"""Maps: the right number in every cell, nothing where no state is, and what stands around it."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.colors import BoundaryNorm, to_hex, to_rgba
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

import kflip
from kflip.analysis import regret_by_state, visits
from kflip.errors import InputError
from kflip.figures import heatmap, style
from kflip.figures.heatmap import short
from kflip.policy import exists

KINDS = [("loom", "standard"), ("lo", "standard"), ("lo", "strict")]


def meshes(ax: Axes) -> list[QuadMesh]:
    return [item for item in ax.collections if isinstance(item, QuadMesh)]


def cells(ax: Axes, number: int = 0) -> np.ma.MaskedArray[tuple[int, ...], np.dtype[np.float64]]:
    """Numbers of a mesh, indexed ``[lo, om]``: its rows go up, its columns to the right."""
    mesh = meshes(ax)[number]
    corners = np.asarray(mesh.get_coordinates())
    side = len(corners) - 1
    assert corners[0, 0].tolist() == [-0.5, -0.5]
    assert corners[0, -1].tolist() == [side - 0.5, -0.5]
    array = mesh.get_array()
    assert array is not None
    return np.ma.asarray(array).reshape(side, side)


def markers(ax: Axes, colour: str) -> list[tuple[float, float]]:
    """Places (lo, om) of the markers of a colour."""
    found = [
        c
        for c in ax.collections
        if isinstance(c, PathCollection) and to_hex(np.asarray(c.get_edgecolor())[0]) == colour
    ]
    return [(float(y), float(x)) for c in found for x, y in np.asarray(c.get_offsets())]


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_radii(objective: str, selection: str) -> None:
    best = kflip.solve(kflip.Setting(8, objective, selection))
    figure = heatmap(best)
    ax, bar = figure.axes
    shown = cells(ax)
    assert (np.ma.getmaskarray(shown) == ~exists(8, "lo-om")).all()
    assert (shown.filled(0) == best.policy.table).all()
    assert ax.get_xlim() == ax.get_ylim() == (-0.5, 8.5)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("OM", "LO")
    assert ax.get_aspect() == 1.0
    assert ax.get_title().startswith({"lo": "LeadingOnes", "loom": "(LeadingOnes, OneMax)"}[objective])
    for words in (f"{selection} selection", "n = 8", "optimal policy", "seeing (LO, OM)"):
        assert words in ax.get_title()
    assert bar.get_ylabel() == "search radius k"
    assert [label.get_text() for label in bar.get_yticklabels()] == ["1", "2", "3", "4", "5", "6–8"]
    assert markers(ax, "#000000") == [(8.0, 8.0)]


def test_colours_of_radii() -> None:
    best = kflip.solve(kflip.Setting(8))
    mesh = meshes(heatmap(best).axes[0])[0]
    mesh.update_scalarmappable()
    faces = np.asarray(mesh.get_facecolor()).reshape(9, 9, 4)
    bins = np.digitize(best.policy.table, [1.5, 2.5, 3.5, 4.5, 5.5])
    assert isinstance(mesh.norm, BoundaryNorm)
    for index in np.argwhere(exists(8, "lo-om")):
        assert tuple(faces[tuple(index)]) == pytest.approx(mesh.cmap(int(bins[tuple(index)])))
    assert (faces[~exists(8, "lo-om")][:, 3] == 0.0).all()
    assert len({tuple(face) for face in faces[exists(8, "lo-om")]}) == len(set(bins[exists(8, "lo-om")]))


def test_scale_does_not_depend_on_the_policy() -> None:
    setting = kflip.Setting(32)
    norms = [
        meshes(heatmap(result).axes[0])[0].norm for result in (kflip.solve(setting), kflip.evaluate(setting, "one-bit"))
    ]
    assert [list(norm.boundaries) for norm in norms if isinstance(norm, BoundaryNorm)] == [
        [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 8.5, 16.5, 32.5]
    ] * 2


def test_values_and_the_optimum() -> None:
    best = kflip.solve(kflip.Setting(8))
    ax, bar = heatmap(best, "value").axes
    shown = cells(ax)
    np.testing.assert_array_equal(shown.filled(np.nan), best.values)
    assert shown[8, 8] == 0.0
    assert markers(ax, "#000000") == []
    assert "expected remaining runtime" in bar.get_ylabel()


def test_deviations_of_solution_and_evaluation_agree() -> None:
    setting = kflip.Setting(8, "lo", "strict")
    best = kflip.solve(setting)
    result = kflip.evaluate(setting, best.policy)
    first, second = (cells(heatmap(it, "std").axes[0]) for it in (best, result))
    np.testing.assert_array_equal(first.filled(np.nan), second.filled(np.nan))
    np.testing.assert_allclose(first.filled(np.nan), result.stds, atol=1e-6)
    assert first[0, 0] == 0.0


def test_visits_leave_states_out_that_are_never_seen() -> None:
    setting = kflip.Setting(6, "loom", portfolio=[2, 6])
    result = kflip.evaluate(setting, "constant-6")
    expected = visits(setting, result.policy).expected
    ax = heatmap(result, "visits").axes[0]
    finite = (expected > 0) & np.isfinite(expected)
    assert (np.ma.getmaskarray(cells(ax)) == ~finite).all()
    assert (np.ma.getmaskarray(cells(ax, 1)) == ~np.isinf(expected)).all()
    assert np.isinf(expected).any()
    assert "grey: infinite" in ax.figure.axes[1].get_ylabel()


def test_regret_is_grey_where_nothing_is_lost() -> None:
    setting = kflip.Setting(8)
    ax, bar = heatmap(kflip.evaluate(setting, "one-bit"), "regret").axes
    lost = regret_by_state(setting, "one-bit")
    some = exists(8, "lo-om") & (lost > 1e-9)
    assert (np.ma.getmaskarray(cells(ax)) == ~some).all()
    np.testing.assert_array_equal(cells(ax).compressed(), lost[some])
    assert (np.ma.getmaskarray(cells(ax, 1)) == (some | ~exists(8, "lo-om"))).all()
    assert "light grey: none" in bar.get_ylabel()
    assert float(cells(ax).sum()) == pytest.approx(
        kflip.evaluate(setting, "one-bit").expected_runtime - kflip.solve(setting).expected_runtime
    )


def test_an_optimal_policy_loses_nothing() -> None:
    ax = heatmap(kflip.solve(kflip.Setting(8)), "regret").axes[0]
    assert cells(ax).count() == 0
    assert cells(ax, 1).count() == 36


def test_infinite_values_are_grey() -> None:
    result = kflip.solve(kflip.Setting(6, portfolio=[2, 4]))
    ax, bar = heatmap(result, "value").axes
    infinite = np.isinf(result.values)
    assert infinite.any()
    assert (np.ma.getmaskarray(cells(ax, 1)) == ~infinite).all()
    assert cells(ax)[~np.ma.getmaskarray(cells(ax))].max() == result.values[np.isfinite(result.values)].max()
    assert "grey: infinite" in bar.get_ylabel()


def test_rows_of_a_policy_that_sees_lo() -> None:
    best = kflip.solve(kflip.Setting(8, "lo", state="lo"))
    for what, numbers in (("radius", best.policy.table), ("value", best.values)):
        ax = heatmap(best, what).axes[0]
        shown = cells(ax)
        assert "seeing LO" in ax.get_title()
        for lo in range(8):
            assert shown[lo].compressed().tolist() == [numbers[lo]] * (8 - lo)


def test_visits_of_a_policy_that_sees_lo_are_those_of_its_runs() -> None:
    best = kflip.solve(kflip.Setting(8, "lo", state="lo"))
    shown = cells(heatmap(best, "visits").axes[0])
    assert float(shown.sum()) == pytest.approx(best.expected_runtime)
    np.testing.assert_allclose(shown.sum(axis=1)[:8], visits(best.setting, best.policy).expected[:8])
    on_loom = kflip.evaluate(kflip.Setting(8, state="lo"), "lo-optimal")
    lost = float(cells(heatmap(on_loom, "regret").axes[0]).sum())
    assert lost == pytest.approx(on_loom.expected_runtime - kflip.solve(kflip.Setting(8)).expected_runtime)


def test_numbers_in_the_cells() -> None:
    best = kflip.solve(kflip.Setting(8))
    ax = heatmap(best).axes[0]
    written = {text.get_position(): text.get_text() for text in ax.texts}
    assert written == {(om, lo): str(best.policy.table[lo, om]) for lo, om in np.argwhere(exists(8, "lo-om")).tolist()}
    values = {text.get_position(): text.get_text() for text in heatmap(best, "value").axes[0].texts}
    assert values[(3, 3)] == f"{best.values[3, 3]:.1f}"
    assert values[(8, 8)] == "0"


def test_numbers_stay_inside_their_cells_and_contrast() -> None:
    best = kflip.solve(kflip.Setting(16, "lo", "strict"))
    figure = heatmap(best, "value")
    figure.draw_without_rendering()
    ax = figure.axes[0]
    mesh = meshes(ax)[0]
    for text in ax.texts:
        om, lo = text.get_position()
        (left, bottom), (right, top) = ax.transData.transform([(om - 0.5, lo - 0.5), (om + 0.5, lo + 0.5)])
        box = text.get_window_extent()
        assert left < box.x0
        assert box.x1 < right
        assert bottom < box.y0
        assert box.y1 < top
        behind = np.asarray(mesh.to_rgba(best.values[int(lo), int(om)]))[:3].mean()
        assert abs(np.mean(to_rgba(text.get_color())[:3]) - behind) > 0.3


@pytest.mark.parametrize(("n", "annotate", "count"), [(16, None, 136), (17, None, 0), (17, True, 153), (8, False, 0)])
def test_when_numbers_are_written(n: int, annotate: bool | None, count: int) -> None:
    assert len(heatmap(kflip.evaluate(kflip.Setting(n), "one-bit"), annotate=annotate).axes[0].texts) == count


def test_crosses() -> None:
    states = [(3, 5), (0, 7), (2, 2)]
    ax = heatmap(kflip.solve(kflip.Setting(8)), crosses=states).axes[0]
    assert markers(ax, "#ff0000") == states
    assert markers(heatmap(kflip.solve(kflip.Setting(8)), crosses=[]).axes[0], "#ff0000") == []
    with pytest.raises(InputError, match="lo = 5 and om = 3"):
        heatmap(kflip.solve(kflip.Setting(8)), crosses=[(5, 3)])


def test_large_maps_are_one_picture() -> None:
    small, large = (meshes(heatmap(kflip.evaluate(kflip.Setting(n), "one-bit")).axes[0])[0] for n in (32, 33))
    assert not small.get_rasterized()
    assert large.get_rasterized()


@pytest.mark.parametrize("what", ["radius", "value", "visits", "regret", "std"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_smallest_lengths(n: int, what: str) -> None:
    figure = heatmap(kflip.evaluate(kflip.Setting(n), "one-bit"), what)
    figure.draw_without_rendering()
    assert figure.axes[0].get_xlim() == (-0.5, n + 0.5)


def test_given_axes() -> None:
    figure = Figure(figsize=(8, 4))
    left, right = figure.subplots(1, 2)
    assert heatmap(kflip.solve(kflip.Setting(8)), ax=left) is figure
    assert heatmap(kflip.solve(kflip.Setting(8)), "value", ax=right) is figure
    assert [cells(ax).count() for ax in (left, right)] == [36, 37]
    part = Figure().add_subfigure(GridSpec(1, 2)[0])
    ax = part.add_subplot()
    assert heatmap(kflip.solve(kflip.Setting(8)), ax=ax) is style.root_figure(ax)
    assert isinstance(style.root_figure(ax), Figure)


@pytest.mark.parametrize("n", [12, 20, 64, 100, 128])
def test_ticks_are_whole_and_few(n: int) -> None:
    ax = heatmap(kflip.evaluate(kflip.Setting(n), "one-bit"), annotate=False).axes[0]
    ticks = [tick for tick in ax.get_xticks() if 0 <= tick <= n]
    assert all(tick == int(tick) for tick in ticks)
    assert 4 <= len(ticks) <= 17


def test_title_of_a_portfolio_is_as_it_stands() -> None:
    setting = kflip.Setting(40, portfolio=list(range(1, 41)))
    policy = kflip.Policy(40, "lo-om", np.where(exists(40, "lo-om"), 1, 0), r"$\odd")
    title = heatmap(kflip.evaluate(setting, policy)).axes[0].title
    assert r"$\odd policy" in title.get_text()
    assert not title.get_parse_math()
    assert max(map(len, title.get_text().split("\n"))) <= style.LINE


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.004, "<.01"),
        (0.25, "0.25"),
        (9.994, "9.99"),
        (9.996, "10.0"),
        (99.96, "100"),
        (6362.7, "6363"),
        (123456.0, "1e5"),
    ],
)
def test_short_numbers(number: float, text: str) -> None:
    assert short(number) == text


def test_what_has_no_map() -> None:
    with pytest.raises(InputError, match=r"unknown quantity 'radii'.*Did you mean 'radius'"):
        heatmap(kflip.solve(kflip.Setting(4)), "radii")
    with pytest.raises(InputError, match="state 'bits' is not supported"):
        heatmap(kflip.solve(kflip.Setting(4, state="bits")))
    with pytest.raises(InputError, match="a stochastic policy has no single radius"):
        heatmap(kflip.evaluate(kflip.Setting(4), "random-radius"))
    with pytest.raises(InputError, match="not Policy"):
        heatmap(kflip.solve(kflip.Setting(4)).policy)  # type: ignore[arg-type]


def test_stochastic_policies_have_values() -> None:
    result = kflip.evaluate(kflip.Setting(4), "random-radius")
    np.testing.assert_array_equal(cells(heatmap(result, "value").axes[0]).filled(np.nan), result.values)
