"""Reproducing the paper: the same files every time, whatever happened in between, and no error goes unnoticed."""

from __future__ import annotations

import csv
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kflip import cli
from kflip.errors import InputError
from kflip.paper import claims, pipeline, series
from kflip.paper.experiments import EXPERIMENTS, Curves
from kflip.paper.records import Records
from kflip.paper.steps import Step, steps_of
from tests.paper.small import ONLY, contents, few_numbers


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as monkeypatch:
        few_numbers(monkeypatch)
        pipeline.reproduce(folder, quick=True, only=ONLY)
    return folder


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    few_numbers(monkeypatch)


def run_cli(*arguments: object) -> int:
    with pytest.raises(SystemExit) as exit_:
        cli.main([str(argument) for argument in arguments])
    assert isinstance(exit_.value.code, int)
    return exit_.value.code


# declarations


def test_every_figure_every_series_and_every_claim_has_its_place() -> None:
    assert Counter(item.figure for item in EXPERIMENTS) == Counter(
        [*(f"Figure {number}" for number in range(1, 13)), "Table 2"]
    )
    drawn = {name for item in EXPERIMENTS if isinstance(item, Curves) for name in item.series}
    assert drawn == {entry["id"] for entry in series.published()["series"]}
    placed = [name for item in EXPERIMENTS for name in item.claims]
    assert sorted(placed) == sorted(entry["id"] for entry in series.published()["claims"])


@pytest.mark.parametrize("effort", ["quick", "full"])
def test_steps_come_after_what_they_need_and_cover_every_published_number(effort: str) -> None:
    steps = steps_of(EXPERIMENTS, effort)
    names = [step.name for step in steps]
    assert len(set(names)) == len(names)
    for number, step in enumerate(steps):
        assert set(step.needs) <= set(names[:number])
    points = {f"point-{entry['id']}-{n}" for entry in series.published()["series"] for n in entry["published"]}
    assert len(points) == series.count()
    assert points <= set(names)
    largest = max(int(name.rsplit("-", 1)[1]) for name in names if name.startswith("point-loom-optimal"))
    assert largest == {"quick": 512, "full": 2048}[effort]


# files


def test_the_files_of_a_run(undisturbed: Path) -> None:
    shown = {name for name in contents(undisturbed) if not name.startswith(".steps")}
    pictures = {f"example/{what}.{form}" for what in ("radius", "value") for form in ("png", "pdf")}
    pictures |= {f"lo-selection/runtimes.{form}" for form in ("png", "pdf")}
    tables = {"example/states.csv", "lo-selection/runtimes.csv", "numbers.csv", "claims.csv", "report.json"}
    assert shown - {"report.html"} == pictures | tables


def test_the_table_of_the_states(undisturbed: Path) -> None:
    with (undisturbed / "example" / "states.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 8 * 9 // 2
    by_state = {(int(row["lo"]), int(row["om"])): row for row in rows}
    assert by_state[0, 0]["radius"] == "8"
    assert float(by_state[0, 0]["value"]) == pytest.approx(1.0, rel=1e-14)
    assert float(by_state[0, 0]["visit_probability"]) == pytest.approx(2.0**-8)
    # on (LeadingOnes, OneMax) with even n, one and two bits tie at OM = n / 2 with high LO
    assert by_state[3, 4]["optimal_radii"] == "1 2"
    assert all(row["optimal_radii"].split()[0] == row["radius"] for row in rows)
    assert sum(float(row["visits"]) for row in rows) == pytest.approx(14.3683, abs=5e-5)
    assert all(float(row["regret"]) == 0.0 for row in rows)


def test_the_report_lists_every_number_with_a_verdict(undisturbed: Path) -> None:
    report = json.loads((undisturbed / "report.json").read_text())
    assert [(item["series"], item["n"]) for item in report["numbers"]] == [
        ("lo-standard-optimal", 8),
        ("lo-standard-optimal", 16),
        ("lo-strict-optimal", 8),
        ("lo-strict-optimal", 16),
    ]
    assert {item["verdict"] for item in report["numbers"]} == {series.AGREES_WITHOUT}
    assert (report["agree"], report["of"], report["claims_checked"]) == (4, 4, 1)
    with (undisturbed / "numbers.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["ours"]) for row in rows] == [item["ours"] for item in report["numbers"]]


@pytest.mark.usefixtures("small")
def test_two_runs_write_the_same_bytes(undisturbed: Path, tmp_path: Path) -> None:
    pipeline.reproduce(tmp_path, quick=True, only=ONLY)
    assert contents(tmp_path) == contents(undisturbed)


# resuming


@pytest.mark.usefixtures("small")
def test_finished_steps_are_not_done_again(tmp_path: Path) -> None:
    kept: dict[str, bool] = {}

    def watch(step: Step, number: int, steps: int, was_kept: bool, done: float) -> None:
        kept[step.name] = was_kept

    pipeline.reproduce(tmp_path, quick=True, only=["lo-selection"], watch=watch)
    assert kept
    assert not any(kept.values())
    pipeline.reproduce(tmp_path, quick=True, only=["lo-selection"], watch=watch)
    assert all(kept.values())
    # larger curves build on the points that are there
    pipeline.reproduce(tmp_path, only=["lo-selection"], watch=watch)
    assert {name for name, was_kept in kept.items() if not was_kept} == {
        "point-lo-standard-optimal-32",
        "point-lo-strict-optimal-32",
        "curves-lo-selection",
    }


@pytest.mark.usefixtures("small")
def test_a_run_stopped_anywhere_or_damaged_ends_with_the_same_files(undisturbed: Path, tmp_path: Path) -> None:
    class Stopped(BaseException):
        pass

    def stop_at(last: int) -> pipeline.Watch:
        def watch(step: Step, number: int, steps: int, kept: bool, done: float) -> None:
            if number == last:
                raise Stopped

        return watch

    for last in (2, 3, 7, 10):
        with pytest.raises(Stopped):
            pipeline.reproduce(tmp_path, quick=True, only=ONLY, watch=stop_at(last))
        assert not (tmp_path / "report.json").exists()
    pipeline.reproduce(tmp_path, quick=True, only=ONLY)
    assert contents(tmp_path) == contents(undisturbed)

    table = tmp_path / "example" / "states.csv"
    table.write_bytes(table.read_bytes()[:-100])
    (tmp_path / "lo-selection" / "runtimes.png").unlink()
    (tmp_path / "example" / ".radius.png.abc.part").write_bytes(b"half")
    (tmp_path / ".report.json.abc.part").write_bytes(b"half")
    record = tmp_path / ".steps" / "point-lo-strict-optimal-8.json"
    content = json.loads(record.read_text())
    content["content"]["total"] *= 2.0
    record.write_text(json.dumps(content))
    (tmp_path / ".steps" / "claim-loom-n8-easiest.json").write_text("{")
    pipeline.reproduce(tmp_path, quick=True, only=ONLY)
    assert contents(tmp_path) == contents(undisturbed)


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """Real processes and SIGKILL; the seed keeps the moments the same, the machine does not."""
    moments = random.Random(6)
    command = [sys.executable, "-m", "kflip", "reproduce", "--quick", "--only", "strings", "--out"]
    subprocess.run([*command, tmp_path / "whole"], check=True, capture_output=True)
    killed = 0
    for _ in range(3):
        process = subprocess.Popen(
            [*command, tmp_path / "killed"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        assert process.stderr is not None
        process.stderr.readline()  # the first step begins
        time.sleep(moments.uniform(0.0, 1.2))
        process.kill()
        killed += process.wait() == -signal.SIGKILL
        process.stderr.close()
    assert killed > 0
    subprocess.run([*command, tmp_path / "killed"], check=True, capture_output=True)
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with Records(tmp_path, []).alone(), pytest.raises(InputError, match="another process is writing"):
        pipeline.reproduce(tmp_path, quick=True, only=["example"])


# errors are noticed


@pytest.mark.usefixtures("small")
def test_an_error_in_one_of_our_values_is_a_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    totals = series.totals

    def wrong(entry: dict[str, Any], n: int, progress: Any = None) -> tuple[float, float]:
        total, partial = totals(entry, n, progress)
        slip = 1.0 + 1e-9 if (entry["id"], n) == ("lo-strict-optimal", 16) else 1.0
        return total * slip, partial * slip

    monkeypatch.setattr(series, "totals", wrong)
    assert run_cli("reproduce", "--quick", "--only", "lo-selection", "--out", tmp_path) == 1
    assert "3 of 4 published numbers agree." in capsys.readouterr().out
    report = json.loads((tmp_path / "report.json").read_text())
    verdicts = {(item["series"], item["n"]): item["verdict"] for item in report["numbers"]}
    assert [point for point, verdict in verdicts.items() if verdict == "differs"] == [("lo-strict-optimal", 16)]
    assert "differs" in (tmp_path / "numbers.csv").read_text()
    assert "differs" in (tmp_path / "lo-selection" / "runtimes.csv").read_text()


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("known", "code"), [(True, 0), (False, 1)])
def test_a_claim_that_fails(known: bool, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(claims.CHECKS, "policy-iteration-5", lambda claim, effort: (False, "no"))
    if not known:
        monkeypatch.setattr(claims, "KNOWN_WRONG", frozenset())
    assert run_cli("reproduce", "--quick", "--only", "lo-runtimes", "--out", tmp_path, "--json") == code
    assert json.loads((tmp_path / "report.json").read_text())["claims"][0]["verdict"] == "refuted"


# the command


@pytest.mark.usefixtures("small")
def test_the_command_prints_numbers_claims_and_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    arguments = ("reproduce", "--quick", "--only", "lo-runtimes", "--out", tmp_path)
    assert run_cli(*arguments) == 0
    printed = capsys.readouterr()
    assert "5 of 5 published numbers agree." in printed.out
    assert "0 of 1 claims hold." in printed.out
    assert f"{series.by_id('lo-standard-optimal')['published']['8']:.13f}" in printed.out
    lines = printed.err.splitlines()
    assert lines[0] == f"[  1/{len(lines)}] claim policy-iteration-5"
    assert run_cli(*arguments, "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == json.loads((tmp_path / "report.json").read_text())
    assert all(line.endswith("(kept)") for line in printed.err.splitlines())


def test_an_unknown_experiment_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_cli("reproduce", "--only", "lom", "--out", tmp_path / "new") == 2
    assert "unknown experiment 'lom'" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


@pytest.mark.usefixtures("small")
def test_without_plotly_everything_but_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "available", lambda: False)
    (tmp_path / "report.html").write_text("an older page")
    assert run_cli("reproduce", "--quick", "--only", "lo-selection", "--out", tmp_path) == 0
    assert "kflip[report]" in capsys.readouterr().out
    assert not (tmp_path / "report.html").exists()
    assert (tmp_path / "report.json").exists()
