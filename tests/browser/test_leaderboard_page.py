"""The leaderboard in a browser: no errors, no requests; buttons, sorting, curves, wide and narrow, light and dark."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest

from kflip.report.leaderboard import write
from kflip.sweep.standings import standings_of
from tests.browser.conftest import watched
from tests.sweep.synthetic import record, rule, submission, sweep

pytest.importorskip("playwright.sync_api", reason="playwright is not installed: make browser")

LOOM, TWO, STRICT = "kflip-v1/loom-16-full", "kflip-v1/loom-16-powers-of-two", "kflip-v1/lo-strict-16-full"
NASTY = "</script><script>document.title='owned'</script><b>bold</b>"

VIEWS = pytest.mark.parametrize("opened", [(1400, "light"), (390, "dark")], indirect=True)


@pytest.fixture(scope="module")
def leaderboard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    records = sweep([LOOM, TWO, STRICT])
    records += [record("hand-made", LOOM, s, guarded=0.5, raw=inf, hits=0.1 * s) for s in range(5)]
    records += [rule("other", STRICT, regret=0.05), submission(NASTY, LOOM, regret=0.002)]
    return write(standings_of(records), tmp_path_factory.mktemp("leaderboard"))[1]


@pytest.fixture
def opened(request: pytest.FixtureRequest, browser: Any, leaderboard: Path) -> Iterator[Any]:
    """The page at some width and darkness."""
    width, scheme = request.param
    size = {"width": width, "height": 900}
    ready = "#curve-plot .scatterlayer .trace"
    with watched(browser, leaderboard, ready, viewport=size, color_scheme=scheme) as page:
        yield page


def column(page: Any, table: int, number: int) -> list[str]:
    """Texts that can be seen in one column of a table of cells."""
    rows = page.locator("table.cells").nth(table).locator("tbody tr")
    return [text.replace("\N{NO-BREAK SPACE}", " ") for text in rows.locator(f":nth-child({number + 1})").evaluate_all(
        "cells => cells.filter((cell) => cell.parentElement.tagName === 'TR').map((cell) => cell.innerText)"
    )]  # fmt: skip


def names(page: Any, table: int) -> list[str]:
    return [text.split("\n")[0] for text in column(page, table, 0)]


@VIEWS
def test_it_starts_with_the_result_and_fits_the_width(opened: Any) -> None:
    assert "is best on" in opened.locator("h1").text_content()
    assert opened.locator("h1").bounding_box()["y"] < 120
    assert opened.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    plot = opened.locator("#curve-plot .main-svg").first.bounding_box()
    assert plot["x"] + plot["width"] <= opened.viewport_size["width"]


@VIEWS
def test_it_follows_the_systems_colours(opened: Any) -> None:
    dark = opened.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    paper = "rgb(20, 24, 31)" if dark else "rgb(255, 255, 255)"
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    drawn = "getComputedStyle(document.querySelector('#curve-plot .main-svg')).backgroundColor"
    assert opened.evaluate(drawn) == paper
    opened.emulate_media(color_scheme="light" if dark else "dark")
    opened.wait_for_function(f"{drawn} !== '{paper}'")
    opened.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    opened.wait_for_function(f"{drawn} === 'rgb(255, 255, 255)'")


@VIEWS
def test_a_strangers_name_is_shown_as_it_is(opened: Any) -> None:
    assert opened.title() != "owned"
    assert NASTY in names(opened, 0)
    legend = opened.locator("#curve-plot .legendtext").all_text_contents()
    assert any(text.startswith(NASTY[:27]) for text in legend)
    assert opened.locator("#curve-plot .legendtext [style*='bold']").count() == 0


@VIEWS
def test_the_buttons_choose_the_measure(opened: Any) -> None:
    row = names(opened, 0).index("hand-made")
    seen = {}
    for measure in ("guarded", "raw", "hits", "time", "area"):
        opened.click(f"#measure button[data-what={measure}]")
        assert opened.get_attribute(f"#measure button[data-what={measure}]", "aria-pressed") == "true"
        assert opened.locator("#measure [aria-pressed=true]").count() == 1
        assert opened.locator("#measured p.m:visible").count() == 1
        seen[measure] = " ".join(column(opened, 0, 1)[row].split())
    assert seen == {
        "guarded": "50 % worst 50 %",
        "raw": "never finishes worst never",
        "hits": "20.0 % worst 0.0 %",
        "time": "75.0 % worst 75.0 %",
        "area": "0.250 worst 0.250",
    }


@VIEWS
def test_headings_sort_by_keyboard_and_pointer(opened: Any) -> None:
    values = "(t, c, m) => [...t.tBodies[0].rows].map((row) => row.cells[c].dataset[m])"
    table = opened.locator("table.cells").first

    def order(measure: str) -> list[float]:
        shown = table.evaluate(f"t => ({values})(t, 1, {measure!r})")
        return [inf if value in (None, "none") else float(value) for value in shown]

    heading = table.locator("thead th").nth(1)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert order("guarded") == sorted(order("guarded"))
    heading.locator("button").focus()
    opened.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert order("guarded") == sorted(order("guarded"), reverse=True)
    # of hits more is better; the sorted column stays sorted when the measure changes
    opened.click("#measure button[data-what=hits]")
    assert heading.get_attribute("aria-sort") == "descending"
    assert order("hits") == sorted(order("hits"), reverse=True)
    table.locator("thead th").first.locator("button").click()
    assert names(opened, 0) == sorted(names(opened, 0), key=str.casefold)
    assert heading.get_attribute("aria-sort") is None


@VIEWS
def test_what_has_no_number_stays_below(opened: Any) -> None:
    """The method that stands in no record of the second benchmark."""
    heading = opened.locator("table.cells").first.locator("thead th").nth(2).locator("button")
    for _ in range(2):
        heading.click()
        assert set(names(opened, 0)[-2:]) == {NASTY, "hand-made"}


@VIEWS
def test_curves(opened: Any) -> None:
    opened.select_option("#curve-choice", label=next(
        text for text in opened.locator("#curve-choice option").all_text_contents() if text.startswith(LOOM)
    ))  # fmt: skip
    line = "document.getElementById('curve-plot').data.find((one) => one.name === 'hand-made')"
    assert opened.evaluate(f"{line}.x") == [500_000, 1_000_000]
    assert opened.evaluate(f"{line}.y") == pytest.approx([0.2, 0.1])
    opened.click("#curve-what button[data-what=raw]")
    top, last = opened.evaluate(f"{line}.y")
    assert last == 0.5
    # what never finishes is on the line that says so
    axis = "document.getElementById('curve-plot').layout.yaxis"
    assert opened.evaluate(f"{axis}.ticktext.at(-1)") == "never"
    assert opened.evaluate(f"{axis}.tickvals.at(-1)") == top
    assert opened.evaluate(f"{line}.customdata[0]").endswith("never finishes (never finishes to never finishes)")


@VIEWS
def test_a_method_can_be_hidden_and_keeps_its_colour(opened: Any) -> None:
    find = "document.getElementById('curve-plot')._fullData.find((one) => one.name === 'ppo')"
    colour = opened.evaluate(f"{find}.line.color")
    opened.locator("#curve-plot .legend .traces", has_text="ppo").locator(".legendtoggle").click()
    opened.wait_for_function(f"{find}.visible === 'legendonly'")
    opened.select_option("#curve-choice", index=2)
    assert opened.evaluate(f"{find}.line.color") == colour
    assert opened.evaluate(f"{find}.visible") == "legendonly"
