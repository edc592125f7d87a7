"""The page in a real browser: no errors, no requests, the right numbers under the pointer, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kflip
from kflip.analysis import regret_by_state, visits
from kflip.paper import pipeline
from tests.browser.conftest import watched
from tests.paper.small import few_numbers, no_pictures

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")

ONLY = ("example", "loom-lo-optimal", "strings", "lo-selection")

WIDTHS = pytest.mark.parametrize("opened", [1400, 390], indirect=True)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("browser")
    with pytest.MonkeyPatch.context() as monkeypatch:
        few_numbers(monkeypatch)
        no_pictures(monkeypatch)
        pipeline.reproduce(folder, quick=True, only=ONLY)
    return folder / "report.html"


@pytest.fixture
def opened(request: pytest.FixtureRequest, browser: Any, report: Path) -> Iterator[Any]:
    """The page at some width."""
    size = {"width": request.param, "height": 900}
    with watched(browser, report, "#map-plot .heatmaplayer image", viewport=size) as page:
        yield page


def choose(page: Any, beginning: str) -> None:
    titles = page.locator("#map-choice option").all_text_contents()
    page.select_option("#map-choice", label=next(title for title in titles if beginning in title))


def hover(page: Any, lo: int, om: int) -> str:
    """What the page says about a state when the pointer is over it."""
    page.locator("#map-plot").scroll_into_view_if_needed()
    page.mouse.move(1, 1)
    place = page.evaluate(
        """([lo, om]) => {
            const plot = document.getElementById("map-plot"), {xaxis, yaxis} = plot._fullLayout;
            const box = plot.getBoundingClientRect();
            return [box.left + xaxis._offset + xaxis.l2p(om), box.top + yaxis._offset + yaxis.l2p(lo)];
        }""",
        [lo, om],
    )
    page.mouse.move(*place, steps=3)
    label = page.locator("#map-plot .hoverlayer .hovertext")
    sync_api.expect(label).to_contain_text(f"LO {lo}, OM {om}")
    return "\n".join(label.first.locator("tspan.line").all_text_contents())


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)]


@WIDTHS
def test_it_starts_with_the_result_and_fits_the_width(opened: Any) -> None:
    assert opened.locator("h1").text_content() == "4 of 4 published runtimes agree"
    assert opened.locator("h1").bounding_box()["y"] < 120
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    plot = opened.locator("#map-plot .main-svg").first.bounding_box()
    assert plot["x"] + plot["width"] <= opened.viewport_size["width"]


@WIDTHS
@pytest.mark.parametrize("state", [(0, 0), (3, 4), (5, 7)])
def test_hover_shows_the_numbers_of_a_state(opened: Any, state: tuple[int, int]) -> None:
    choose(opened, "the example")
    best = kflip.solve(kflip.Setting(8))
    seen = visits(kflip.Setting(8), best.policy)
    ties = ", ".join(map(str, best.optimal_radii(*state)))
    text = hover(opened, *state)
    assert f"k = {best.policy.at(*state)}\noptimal k: {ties}\n" in text
    assert numbers(text.split("value")[1]) == pytest.approx(
        [best.values[state], seen.probability[state], seen.expected[state], 0.0], rel=1e-5
    )


@WIDTHS
def test_hover_shows_what_a_policy_loses(opened: Any) -> None:
    choose(opened, "radii optimal for LeadingOnes")
    setting, state = kflip.Setting(128), (10, 70)
    lost = regret_by_state(setting, "lo-optimal")[state]
    text = hover(opened, *state)
    best = kflip.solve(setting).optimal_radii(*state)
    assert f"k = {128 // 11}\noptimal k: {', '.join(map(str, best))}\n" in text
    assert numbers(text)[-1] == pytest.approx(lost, rel=1e-5)


@WIDTHS
def test_the_switch_changes_the_map(opened: Any) -> None:
    choose(opened, "radii optimal for LeadingOnes")
    maps = {}
    for what in ("radius", "value", "visits", "regret"):
        opened.click(f"button[data-what={what}]")
        assert opened.get_attribute(f"button[data-what={what}]", "aria-pressed") == "true"
        maps[what] = opened.evaluate("JSON.stringify(document.getElementById('map-plot').data[1].z)")
    assert len(set(maps.values())) == 4


@WIDTHS
def test_trajectories_and_crosses(opened: Any) -> None:
    lines = "document.getElementById('map-plot').data.filter((trace) => trace.name === 'run').length"
    choose(opened, "radii optimal for LeadingOnes")
    assert opened.evaluate(lines) == 0
    opened.check("#map-runs")
    assert opened.evaluate(lines) == 10
    choose(opened, "single strings")
    assert opened.is_disabled("#map-runs")
    crosses = "document.getElementById('map-plot').data.find((trace) => trace.name === 'differs')"
    assert opened.evaluate(f"[{crosses}.y, {crosses}.x]") == [[0, 0, 3, 3], [7, 8, 5, 7]]
    assert opened.evaluate("document.getElementById('map-plot').layout.xaxis.range") == [-0.5, 16.5]
