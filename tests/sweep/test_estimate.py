"""The time left: tasks of a kind cost what their like did."""

from __future__ import annotations

import pytest

import kflip
from kflip.sweep import Task
from kflip.sweep.estimate import Estimate


def task(method: str, n: int, budget: int, seed: int = 1) -> Task:
    return Task("a", kflip.Setting(n), budget, method, seed)


def test_nobody_knows_before_the_first_task() -> None:
    estimate = Estimate([task("q-learning", 4, 100)])
    assert estimate.seconds_left(2) is None


def test_means_of_a_kind_are_shared_by_workers() -> None:
    tasks = [task("q-learning", 4, 100, seed) for seed in range(10)]
    estimate = Estimate(tasks)
    for one, seconds in zip(tasks, (2.0, 4.0), strict=False):
        estimate.learn(one, seconds)
        estimate.drop(one)
    assert estimate.seconds_left(1) == pytest.approx(8 * 3.0)
    assert estimate.seconds_left(4) == pytest.approx(2 * 3.0)
    assert estimate.seconds_left(100) == pytest.approx(3.0)  # the last task takes its time
    assert estimate.seconds_left(0) is None


def test_other_sizes_cost_in_proportion_to_the_root_of_their_budget() -> None:
    estimate = Estimate([task("q-learning", 8, 10_000), task("certainty-equivalence", 4, 100)])
    estimate.learn(task("q-learning", 4, 100), 2.0)
    estimate.learn(task("q-learning-events", 4, 100), 6.0)
    # the method's own rate, 2 s for a budget of 100; a method never seen has the rate of all, 8 s for two of them
    assert estimate.seconds_left(1) == pytest.approx(20.0 + 4.0)


def test_nothing_is_left_in_the_end() -> None:
    one = task("q-learning", 4, 100)
    estimate = Estimate([one])
    estimate.drop(one)
    assert estimate.seconds_left(1) == 0.0
