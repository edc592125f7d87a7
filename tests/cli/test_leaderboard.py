"""``kflip leaderboard``: two pages from a folder of records, and one line for a file that must not enter."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path

import pytest

import kflip
from kflip.sweep.records import Store
from tests.cli.test_commands import Run, refused, run
from tests.sweep import bad_policies
from tests.sweep.bad_policies import BAD, BENCHMARK, SETTING
from tests.sweep.synthetic import record, rule, submission

__all__ = ["run"]

LOOM, STRICT = "kflip-v1/loom-16-full", "kflip-v1/lo-strict-16-full"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    store = Store(tmp_path / "results")
    for seed in range(5):
        store.add(record("learner", LOOM, seed, guarded=0.01 * (seed + 1), raw=inf))
    for one in (rule("one-bit", LOOM), rule("one-bit", STRICT), submission("[bold]theirs", STRICT, regret=0.0015)):
        store.add(one)
    return store.folder


def test_two_pages_and_a_table(run: Run, results: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly")
    out = tmp_path / "out"
    outcome = run("leaderboard", "--results", results, "--out", out)
    assert (outcome.code, outcome.err) == (0, "")
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in outcome.out.splitlines()]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert rows == [[LOOM, "learner", "3 %", "5 %"], [STRICT, "[bold]theirs", "0.15 %", "–"]]
    assert lines[-2:] == [str(out / "leaderboard.md"), str(out / "leaderboard.html")]
    assert sorted(path.name for path in out.iterdir()) == ["leaderboard.html", "leaderboard.md"]


def test_json(run: Run, results: Path, tmp_path: Path) -> None:
    content = run("leaderboard", "--results", results, "--out", tmp_path, "--json").json
    assert [item["best"] for item in content["benchmarks"]] == ["learner", "[bold]theirs"]
    first = content["standings"][0]
    assert (first["method"], first["seeds"], first["raw"]["median"]) == ("learner", 5, "inf")
    assert first["guarded"] == {"median": 0.03, "worst": 0.05}
    assert content["files"][0] == str(tmp_path / "leaderboard.md")


def test_without_plotly(run: Run, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kflip.report.available", lambda: False)
    monkeypatch.setattr("kflip.report.leaderboard.writing.available", lambda: False)
    outcome = run("leaderboard", "--results", results, "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "leaderboard.html was not written: it needs Plotly, pip install 'kflip[report]'" in outcome.out
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["leaderboard.md"]


def test_results_that_make_no_sense(run: Run, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    refused(run("leaderboard", "--results", tmp_path / "none", "--out", out), "none is not a folder")
    (tmp_path / "empty").mkdir()
    refused(run("leaderboard", "--results", tmp_path / "empty", "--out", out), "no records: run kflip sweep first")
    Store(results).add(record("learner", LOOM, 7, options={"version": 2}))
    refused(run("leaderboard", "--results", results, "--out", out), "records with different options")
    damaged = next(results.iterdir())
    damaged.write_bytes(damaged.read_bytes()[:-20])
    refused(run("leaderboard", "--results", results, "--out", out), f"{damaged.name}: not a record of kflip")
    assert not out.exists()


def test_a_folder_that_cannot_be_written(run: Run, results: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused(run("leaderboard", "--results", results, "--out", tmp_path / "file"), "cannot write .*file")


def test_add(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    path = tmp_path / "p.npz"
    kflip.save(path, kflip.evaluate(SETTING, "one-bit").policy, SETTING)
    outcome = run("leaderboard", "add", path, "--name", "[red]mine", "--results", folder)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"[red]mine on {BENCHMARK}\n")
    (entered,) = Store(folder)
    assert entered["task"]["method"] == "[red]mine"
    assert f"{kflip.evaluate(SETTING, 'one-bit').expected_runtime:.12g} iterations" in outcome.out
    content = run("leaderboard", "add", path, "--name", "[red]mine", "--results", folder, "--json").json
    assert content == {**entered, "file": str(folder / f"{entered['key']}.json")}
    built = run("leaderboard", "--results", folder, "--out", tmp_path / "out", "--json").json
    assert [item["best"] for item in built["benchmarks"]] == ["[red]mine"]


def test_add_what_may_never_finish(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    kflip.save(path, kflip.evaluate(SETTING, "constant-2").policy, SETTING)
    outcome = run("leaderboard", "add", path, "--name", "twos", "--results", tmp_path / "results")
    assert "never finishes" in outcome.out


def test_add_under_a_named_benchmark(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    kflip.save(path, kflip.evaluate(SETTING, "one-bit").policy, SETTING)
    outcome = run("leaderboard", "add", path, "--name", "x", "--benchmark", LOOM, "--results", tmp_path / "r", "--json")
    assert outcome.json["task"]["benchmark"] == LOOM


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case: str, run: Run, tmp_path: Path) -> None:
    make, message = BAD[case]
    path = make(tmp_path / "p.npz")
    refused(run("leaderboard", "add", path, "--name", "x", "--results", tmp_path / "results"), message)
    assert not (tmp_path / "results").exists()
    assert not bad_policies.marker_of(path).exists()


def test_a_policy_is_called_like_its_file_unless_it_is_named(run: Run, results: Path, tmp_path: Path) -> None:
    path = bad_policies.good(tmp_path / "our agent.npz")
    outcome = run("leaderboard", "add", path, "--results", results, "--json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["task"]["method"] == "our agent"


def test_bad_names_and_options(run: Run, results: Path, tmp_path: Path) -> None:
    path = bad_policies.good(tmp_path / "p.npz")
    before = sorted(results.iterdir())
    refused(run("leaderboard", "add", path, "--name", "dqn", "--results", results), "name of a method of kflip")
    refused(run("leaderboard", "add", path, "--name", " ", "--results", results), "1 to 60 printable characters")
    refused(run("leaderboard", "--results", results, "add", path, "--name", "x"), "--results has no effect before add")
    refused(run("leaderboard", "ad", path), "No such command 'ad'")
    assert sorted(results.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["--results", "--out", "--json", "Example: kflip leaderboard", "add"]),
        (("add",), ["--name", "--benchmark", "--results", "--json", "Example: kflip leaderboard add"]),
    ],
)
def test_help_teaches(arguments: tuple[str, ...], words: list[str], run: Run) -> None:
    outcome = run("leaderboard", *arguments, "--help")
    assert outcome.code == 0
    for word in words:
        assert word in outcome.out
