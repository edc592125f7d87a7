"""Suites never change, and tasks are known by their content."""

from __future__ import annotations

import hashlib
import json

import pytest

import kflip
from kflip.errors import InputError
from kflip.learn import LEARNERS
from kflip.sweep import SUITES, Task, benchmark_named, suite_named, tasks_of
from kflip.sweep.tasks import NO_SEED, run
from tests.sweep import small

#: Whoever has to change one of these makes a new version of the suite instead.
PUBLISHED = {"kflip-v1": "2a4295bb14102dd6b6ae429e05964d2090368bed07684f142739e9c4c92afdb9"}


def test_suites_are_immutable() -> None:
    hashes = {
        name: hashlib.sha256(json.dumps([one.to_dict() for one in suite], sort_keys=True).encode()).hexdigest()
        for name, suite in SUITES.items()
    }
    assert hashes == PUBLISHED


def test_ids_are_unique_and_found() -> None:
    for name, suite in SUITES.items():
        assert len({one.id for one in suite}) == len(suite)
        assert all(benchmark_named(one.id) is one and one.id.startswith(f"{name}/") for one in suite)
        sizes = [suite_named(name, (size,)) for size in ("small", "medium", "large")]
        assert {one.id for part in sizes for one in part} == {one.id for one in suite}


def test_unknown_names() -> None:
    with pytest.raises(InputError, match=r"unknown suite 'kflip-v0'.*kflip-v1"):
        suite_named("kflip-v0")
    with pytest.raises(InputError, match="unknown size 'tiny'"):
        suite_named("kflip-v1", ("tiny",))
    with pytest.raises(InputError, match=r"unknown benchmark.*Did you mean 'kflip-v1/loom-16-full'"):
        benchmark_named("kflip-v1/loom-17-full")
    with pytest.raises(InputError, match="suite/name"):
        benchmark_named("loom-16-full")
    with pytest.raises(InputError, match=r"unknown method 'q-lerning'.*Did you mean 'q-learning'"):
        tasks_of(SUITES["kflip-v1"], ["q-lerning"], [1])


def test_tasks_of_a_suite() -> None:
    benchmarks = suite_named("kflip-v1", ("small",))
    tasks = tasks_of(benchmarks, ["one-bit", "q-learning"], [1, 2, 3])
    assert len(tasks) == len(benchmarks) * (1 + 3)
    assert {task.seed for task in tasks if task.method == "one-bit"} == {NO_SEED}
    assert len({task.key for task in tasks}) == len(tasks)


def test_keys_tell_contents_apart() -> None:
    task = Task("a", kflip.Setting(4), 1000, "q-learning", 1)
    same = Task("a", kflip.Setting(4, objective="loom", portfolio="full"), 1000, "q-learning", 1)
    others = [
        Task("b", kflip.Setting(4), 1000, "q-learning", 1),
        Task("a", kflip.Setting(5), 1000, "q-learning", 1),
        Task("a", kflip.Setting(4, portfolio=[1, 2, 3, 4]), 1000, "q-learning", 1),
        Task("a", kflip.Setting(4), 1001, "q-learning", 1),
        Task("a", kflip.Setting(4), 1000, "certainty-equivalence", 1),
        Task("a", kflip.Setting(4), 1000, "q-learning", 2),
    ]
    assert same.key == task.key
    assert len({task.key, *(other.key for other in others)}) == 1 + len(others)


def test_a_task_comes_back_from_plain_values() -> None:
    for task in (*small.rules(), *small.learning(6, 1000)):
        content = json.loads(json.dumps(task.to_dict()))
        assert Task.from_dict(content) == task
    content["options"] = {"version": -1}
    with pytest.raises(InputError, match=f"other options for {task.method}"):
        Task.from_dict(content)


@pytest.mark.parametrize("method", ["one-bit", "random-radius", "self-adjusting"])
def test_rules_are_scored_exactly(method: str) -> None:
    setting = kflip.Setting(6, objective="lo", selection="strict")
    found = run(Task("a", setting, 1000, method, 0))
    truth = kflip.evaluate(setting, method)
    assert found["optimal_runtime"] == truth.optimal_runtime
    assert found["score"]["expected_runtime"] == found["score"]["guarded_runtime"] == truth.expected_runtime
    assert found["score"]["regret"] == truth.regret
    assert (found["spent"], found["curve"], found["area"]) == (0, [], None)
    memory = method == "self-adjusting"
    assert (found["policy_sha256"] is None) == memory
    hits = None if memory else kflip.hit_ratio(setting, method).time
    assert found["score"]["hit_ratio_time"] == hits


def test_names_of_tasks() -> None:
    assert str(small.rules()[0]) == "one-bit on small"
    assert str(Task("a/b", kflip.Setting(4), 1000, "q-learning", 3)) == "q-learning on a/b, seed 3"
    assert not set(LEARNERS) & set(kflip.rules.REGISTRY)
