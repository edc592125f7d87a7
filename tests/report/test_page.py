"""The page: the result first, everything inside, nothing from elsewhere."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import kflip
from kflip.paper import pipeline
from kflip.report import words
from tests.paper.small import few_numbers, no_pictures

pytest.importorskip("plotly", reason="the page needs the extra kflip[report]")

ONLY = ("example", "strings", "lo-selection")


class Reader(HTMLParser):
    """Addresses a browser would fetch, elements left open, and the text of headings."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.texts: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "link", "input"):
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as monkeypatch:
        few_numbers(monkeypatch)
        no_pictures(monkeypatch)
        pipeline.reproduce(folder, quick=True, only=ONLY)
    return (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def reader(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    return reader


def test_nothing_is_fetched_and_nothing_left_open(reader: Reader) -> None:
    assert reader.addresses == ["data:,"]
    assert reader.open == []


def test_it_starts_with_the_result(page: str, reader: Reader) -> None:
    assert reader.texts["h1"] == ["4 of 4 published runtimes agree"]
    assert page.index("<h1>") < page.index("<h2>")
    assert [text for text in reader.texts["h2"] if text.strip()] == [
        "State by state",
        "Runtime over n",
        "Claim by claim",
        "Number by number",
    ]


def test_the_tables_are_there_without_a_script(page: str) -> None:
    body = page[: page.index('<script type="application/json"')]
    assert body.count("agrees without OM = LO starts</td>") == 4
    assert body.count(">checked</td>") == 2
    assert "0.3399544324444" in body


def test_the_data_are_exact(page: str) -> None:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    example, strings = data["maps"]
    best = kflip.solve(kflip.Setting(8))
    states = [(lo, om) for lo in range(8) for om in range(lo, 8)]
    assert len(example["radius"]) == len(example["value"]) == len(states)
    for number, (lo, om) in enumerate(states):
        assert example["radius"][number] == best.policy.at(lo, om)
        assert example["value"][number] == pytest.approx(best.values[lo, om], rel=1e-7)
        ties = example["optimal"].get(str(number), str(example["radius"][number]))
        assert ties == " ".join(map(str, best.optimal_radii(lo, om)))
    assert strings["crosses"] == [[0, 7], [0, 8], [3, 5], [3, 7]]
    (curves,) = data["curves"]
    assert [line["n"] for line in curves["lines"]] == [[4, 8, 16], [4, 8, 16]]


def content(**changes: Any) -> dict[str, Any]:
    number = {"series": "a", "n": 8, "difference": 1e-14, "difference_as_published": 1e-14, "verdict": "agrees"}
    claim = {"text": "a < b", "found": "b < a", "holds": True, "known_erratum": False, "verdict": "checked"}
    plain = {"agree": 1, "of": 1, "claims_checked": 1, "claims_of": 1, "largest_n": {"a": 8}}
    return {**plain, "numbers": [number], "claims": [claim], **changes}


def test_a_difference_shows_in_the_first_lines() -> None:
    good = content()
    assert words.everything_agrees(good)
    differing = content(agree=0, numbers=[{**good["numbers"][0], "difference": 0.1, "verdict": "differs"}])
    assert not words.everything_agrees(differing)
    assert words.headline(differing) == "0 of 1 published runtimes agree"
    assert any("1 differ" in sentence and "a at n = 8" in sentence for sentence in words.findings(differing))


def test_a_refuted_claim_is_named_and_escaped() -> None:
    claim = {**content()["claims"][0], "holds": False}
    refuted = content(claims=[claim], claims_checked=0)
    assert not words.everything_agrees(refuted)
    assert any("a &lt; b" in sentence for sentence in words.findings(refuted))
    assert words.everything_agrees(content(claims=[{**claim, "known_erratum": True}], claims_checked=0))
