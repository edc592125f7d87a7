"""The leaderboard's two pages: the right numbers, the result first, nothing fetched, and no stranger's markup."""

from __future__ import annotations

import json
import re
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from kflip.report.leaderboard import numbers, render_markdown, render_page, words, write
from kflip.sweep.standings import Standings, standings_of
from tests.report.test_page import Reader
from tests.sweep.synthetic import record, rule, submission, sweep

LOOM, TWO, STRICT = "kflip-v1/loom-16-full", "kflip-v1/loom-16-powers-of-two", "kflip-v1/lo-strict-16-full"
NASTY = "</SCRIPT><script>alert(1)</script><!--"
MARKDOWN = "a|b [x](javascript:y) `c` *d* <img src=x>"


def small() -> Standings:
    """A learner with five seeds, one with two, a rule, and two strangers."""
    made = [record("learner", LOOM, s, guarded=0.01 * (s + 1), raw=inf if s > 2 else 0.5) for s in range(5)]
    made += [record("hasty", STRICT, s, guarded=0.2, raw=inf) for s in range(2)]
    made += [rule("one-bit", name, regret=0.1) for name in (LOOM, TWO, STRICT)]
    return standings_of([*made, submission(NASTY, LOOM, regret=0.02), submission(MARKDOWN, STRICT, regret=0.5)])


@pytest.fixture(scope="module")
def standings() -> Standings:
    return small()


@pytest.fixture(scope="module")
def page(standings: Standings) -> str:
    pytest.importorskip("plotly", reason="the page needs the extra kflip[report]")
    return render_page(standings)


@pytest.fixture(scope="module")
def body(page: str) -> str:
    """What is read without a script."""
    return page[: page.index('<script type="application/json"')]


def cells(body: str, name: str, column: int, measure: str) -> list[str]:
    """Texts of a method in a column of the tables, one for each table that has it."""
    found = []
    for table in re.findall(r'<table class="cells">(.*?)</table>', body, re.DOTALL):
        for row in re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table, re.DOTALL):
            if f">{name}<" in row:
                shown = "".join(re.findall(r"<td.*?</td>", row, re.DOTALL)[column : column + 1])
                spans = re.findall(
                    rf'<span class="m {measure} ?\w*">(.*)</span>', shown.replace('<span class="m', '\n<span class="m')
                )
                found += [re.sub(r"<[^>]+>", " ", span).replace("\N{NO-BREAK SPACE}", " ").split() for span in spans]
    return [" ".join(words) for words in found]


def test_nothing_is_fetched_and_nothing_left_open(page: str) -> None:
    reader = Reader()
    reader.feed(page.replace("<br>", " "))
    reader.close()
    assert reader.addresses == ["data:,"]
    assert reader.open == []
    assert reader.texts["h1"] == ["one-bit is best on 2 of 3 benchmarks; its median regret is 10\N{NO-BREAK SPACE}%"]
    assert [text for text in reader.texts["h2"] if text.strip()] == [
        "Overall",
        "Learning curves",
        "Benchmark by benchmark",
    ]


def test_cells(body: str) -> None:
    assert cells(body, "learner", 0, "guarded") == ["3 % worst 5 %"]
    assert cells(body, "learner", 0, "raw") == ["50 % worst never"]
    assert cells(body, "learner", 0, "hits") == ["★ 50.0 % worst 50.0 %"]
    assert cells(body, "learner", 0, "area") == ["★ 0.250 worst 0.250"]
    assert cells(body, "hasty", 0, "raw") == ["never finishes worst never †"]
    assert cells(body, "one-bit", 0, "guarded") == ["10 %", "★ 10 %"]
    assert cells(body, "one-bit", 1, "guarded") == ["★ 10 %"]
    assert cells(body, "one-bit", 0, "area") == ["–", "–"]


def test_what_a_method_is_and_few_seeds_are_told(body: str) -> None:
    assert "one-bit<small>no training</small>" in body
    assert "learner<small>learner, 5 seeds</small>" in body
    assert 'hasty<small>learner, 2 seeds <abbr title="fewer than 5 seeds">†</abbr></small>' in body
    assert "<small>submission</small>" in body
    assert "<b>Fewer than 5 seeds</b>, so not yet by the protocol: hasty (2)." in body
    assert "<b>2 of 5</b> methods may never finish if nothing guards them: hasty on 1 of 1, learner on 1 of 1." in body


def test_a_strangers_name_stays_text(page: str, body: str) -> None:
    assert "alert(1)</script>" not in page.replace("&lt;/script&gt;", "")
    assert page.count("&lt;/SCRIPT&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!--") >= 4
    assert len(re.findall("<script", body)) == 0
    # the data, the library and the script: strangers open or close no other
    ends = page[page.index('<script type="application/json"') :]
    data = ends[: ends.index("</script>")]
    assert "<" not in data[len('<script type="application/json" id="data">') :]
    assert "<img" not in body


def test_the_data_of_the_curves(page: str) -> None:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    assert data["learners"] == ["hasty", "learner"]
    loom, strict = data["curves"]
    assert (loom["id"], strict["id"]) == (LOOM, STRICT)
    assert loom["budget"] == 1_000_000
    (line,) = loom["lines"]
    assert line["iterations"] == [500_000, 1_000_000]
    assert line["raw"]["median"] == ["inf", 0.5]
    assert line["guarded"] == {"median": [0.2, 0.1], "low": [0.2, 0.1], "high": [0.2, 0.1]}
    assert {level["method"]: level["guarded"] for level in loom["levels"]} == {NASTY: 0.02, "one-bit": 0.1}


def test_without_learners_there_are_no_curves() -> None:
    pytest.importorskip("plotly")
    assert '<section id="curves">' not in render_page(standings_of([rule("one-bit")]))


def test_markdown(standings: Standings) -> None:
    text = render_markdown(standings).replace("\N{NO-BREAK SPACE}", " ")
    assert text.startswith("# one-bit is best on 2 of 3 benchmarks; its median regret is 10 %\n")
    assert "| learner | learner, 5 seeds | 3.3 | 3 % | 50 % | on 1 | 0 | 1 | 1.5 s |" in text
    assert "| method | n = 16, full | n = 16, powers-of-two |" in text
    assert "| learner | 3 % (5 %) |  |" in text
    assert "| one-bit | 10 % | **10 %** |" in text
    assert "| hasty | never finishes (never finishes) † |" in text
    assert "† fewer than 5 seeds." in text


def test_markdown_of_a_strangers_name(standings: Standings) -> None:
    text = render_markdown(standings)
    assert "<" not in text
    assert r"a\|b \[x\](javascript:y) \`c\` \*d\* &lt;img src=x&gt;" in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    bars = [len(re.findall(r"(?<!\\)\|", line)) for line in tables]
    assert set(bars) == {10, 4, 3}  # no row has a column more than its heading


def test_another_budget_is_told() -> None:
    said = words.findings(standings_of([record(budget=500, seed=s) for s in range(5)]), words.HTML)
    assert said[-1] == f"<b>Not the budget of the suite</b>: {LOOM} (500)."


def test_order_of_the_rows() -> None:
    made = standings_of([rule("a", LOOM, regret=inf), rule("b", LOOM, regret=0.1), rule("c", TWO, regret=0.0)])
    (columns,) = made.kinds()
    assert [item.method for item in words.by_regret(made, columns)] == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (numbers.regret, 0.0, "0 %"),
        (numbers.regret, -3e-16, "0 %"),
        (numbers.regret, 0.0123456, "1.23 %"),
        (numbers.regret, 0.00005, "0.005 %"),
        (numbers.regret, 2.3e-9, "2.3e-7 %"),
        (numbers.regret, 0.9999, "100 %"),
        (numbers.regret, 12.3456, "1,235 %"),
        (numbers.regret, 1.25e18, "1.2e20 %"),
        (numbers.regret, inf, "never finishes"),
        (numbers.regret, nan, "–"),
        (numbers.share, 1.0, "100 %"),
        (numbers.share, 0.9999, ">99.9 %"),
        (numbers.share, 0.5, "50.0 %"),
        (numbers.share, nan, "–"),
        (numbers.area, 0.12345, "0.123"),
        (numbers.area, nan, "–"),
        (numbers.duration, 0.014, "0.014 s"),
        (numbers.duration, 61.2, "61 s"),
        (numbers.duration, 600.0, "10 min"),
        (numbers.duration, nan, "–"),
    ],
)
def test_numbers(write: Any, value: float, text: str) -> None:
    assert write(value).replace("\N{NO-BREAK SPACE}", " ") == text


def test_files(standings: Standings, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    written = write(standings, tmp_path / "new" / "folder")
    assert [path.name for path in written] == ["leaderboard.md", "leaderboard.html"]
    assert written[0].read_text() == render_markdown(standings)
    assert written[1].read_text() == render_page(standings)


def test_without_plotly_no_old_page_is_left(
    standings: Standings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "leaderboard.html").write_text("older")
    monkeypatch.setattr("kflip.report.leaderboard.writing.available", lambda: False)
    assert [path.name for path in write(standings, tmp_path)] == ["leaderboard.md"]
    assert [path.name for path in tmp_path.iterdir()] == ["leaderboard.md"]


def test_a_whole_sweep() -> None:
    """Thirteen methods on four benchmarks: every one in every table, in both forms."""
    pytest.importorskip("plotly")
    made = standings_of(sweep([LOOM, TWO, STRICT, "kflip-v1/loom-bits-8-full"]))
    page, text = render_page(made), render_markdown(made)
    assert len(made.methods) == 13
    for item in made.methods:
        assert page.count(f'data-value="{item.method}"') == 4
        assert text.count(f"\n| {item.method} |") == 7
