"""The committed results of kflip-v1: complete, repeatable, and as good as they are said to be."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from kflip import rules
from kflip.learn import LEARNERS
from kflip.report.leaderboard import render_markdown
from kflip.sweep import Store
from kflip.sweep.standings import Standings, standings_of
from kflip.sweep.suite import suite_named
from kflip.sweep.tasks import Task, run, tasks_of

RESULTS = Path(__file__).parents[2] / "results"
BENCHMARKS = suite_named("kflip-v1", ("small", "medium"))
METHODS = [*rules.REGISTRY, *LEARNERS]


@pytest.fixture(scope="module")
def standings() -> Standings:
    return standings_of(Store(RESULTS / "kflip-v1"))


def tasks() -> list[Task]:
    pytest.importorskip("stable_baselines3", reason="the options of deep agents need pip install 'kflip[learn]'")
    return tasks_of(BENCHMARKS, METHODS, range(1, 6))


def test_every_task_has_a_record_of_the_present_methods() -> None:
    assert len(METHODS) >= 8
    assert {record["key"] for record in Store(RESULTS / "kflip-v1")} == {task.key for task in tasks()}


@pytest.mark.parametrize(
    ("kind", "limit"), [("loom", 0.01), ("loom-bits", 0.01), ("lo-strict", 0.02), ("lo-standard", 0.03)]
)
def test_the_best_learner_with_powers_of_two(kind: str, limit: float, standings: Standings) -> None:
    chosen = [item for item in BENCHMARKS if item.kind == kind and str(item.setting.portfolio) == "powers-of-two"]
    assert len(chosen) == 2
    for benchmark in chosen:
        medians = [standings.cells[benchmark.id, name].measures["guarded"].median for name in LEARNERS]
        raw = [standings.cells[benchmark.id, name].measures["raw"].median for name in LEARNERS]
        assert min(medians) <= limit
        assert min(raw) <= limit


def test_naive_methods_fail_and_the_guard_makes_them_finite(standings: Standings) -> None:
    for benchmark in BENCHMARKS:
        if benchmark.size == "medium" and benchmark.kind != "loom-bits":
            naive = standings.cells[benchmark.id, "q-learning"]
            assert naive.measures["raw"].median == inf
            assert 1.0 < naive.measures["guarded"].median < inf


def test_every_learner_has_five_seeds(standings: Standings) -> None:
    assert {standings.cells[item.id, name].seeds for item in BENCHMARKS for name in LEARNERS} == {5}


def test_the_committed_page_is_that_of_the_records(standings: Standings) -> None:
    assert (RESULTS / "leaderboard.md").read_text(encoding="utf-8") == render_markdown(standings)


@pytest.mark.parametrize("method", ["certainty-equivalence", "q-learning-shaped", "max-drift", "self-adjusting"])
def test_a_task_done_again_finds_the_same(method: str) -> None:
    benchmark = next(item for item in BENCHMARKS if item.name == "lo-strict-16-powers-of-two")
    [task] = tasks_of([benchmark], [method], [3])
    record = Store(RESULTS / "kflip-v1").find(task)
    assert record is not None
    again = run(task)
    assert again["policy_sha256"] == record["result"]["policy_sha256"]
    assert again["score"]["expected_runtime"] == pytest.approx(record["result"]["score"]["expected_runtime"], rel=1e-9)
