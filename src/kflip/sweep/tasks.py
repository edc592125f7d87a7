"""Tasks: one method on one benchmark with one seed.  A task is known by the hash of its content.

A method is a learner, or a rule, which learns nothing and has no seed.  What a task finds depends on its content alone:
neither on the worker nor on other tasks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from kflip import __version__, rules
from kflip.errors import InputError, unknown_word
from kflip.evaluation import evaluate
from kflip.exact.sweeps import Progress
from kflip.export import jsonable
from kflip.files import digest
from kflip.learn import LEARNERS, Learner, Score, learner_named, score
from kflip.learn.score import regret
from kflip.policy import AnyPolicy, Policy
from kflip.setting import Setting
from kflip.solution import solve
from kflip.sweep.suite import Benchmark

#: Rules are tasks of this seed.
NO_SEED = 0


@dataclass(frozen=True)
class Task:
    """One method on one benchmark with one seed.

    Attributes
    ----------
    benchmark
        Its id, or any other name for a setting that is in no suite.
    setting, budget
        The problem, and the iterations that a learner may spend.
    method
        A learner's or a rule's name.
    seed
        Of the learner.
    """

    benchmark: str
    setting: Setting
    budget: int
    method: str
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Plain values; everything that the result depends on."""
        options = learner_named(self.method).options if self.method in LEARNERS else {}
        return {
            "benchmark": self.benchmark,
            "setting": self.setting.to_dict(),
            "budget": self.budget,
            "method": self.method,
            "options": options,
            "seed": self.seed,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Task:
        """The task that :meth:`to_dict` described; an error if this version of kflip would do another one."""
        setting = Setting(**content["setting"])
        task = cls(content["benchmark"], setting, content["budget"], content["method"], content["seed"])
        if task.key != digest(content):
            raise InputError(f"kflip {__version__} of this worker has other options for {task.method} than the driver")
        return task

    @cached_property
    def key(self) -> str:
        """Hash of the content."""
        return digest(self.to_dict())

    def __str__(self) -> str:
        seed = f", seed {self.seed}" if self.method in LEARNERS else ""
        return f"{self.method} on {self.benchmark}{seed}"


def tasks_of(benchmarks: Iterable[Benchmark], methods: Iterable[str], seeds: Iterable[int]) -> list[Task]:
    """Every method on every benchmark with every seed; rules once."""
    chosen, numbers = list(methods), list(seeds)
    for method in chosen:
        check_method(method)
    return [
        Task(benchmark.id, benchmark.setting, benchmark.budget, method, seed)
        for benchmark in benchmarks
        for method in chosen
        for seed in (numbers if method in LEARNERS else [NO_SEED])
    ]


def check_method(method: str) -> None:
    """Raise an error unless the name is that of a learner that can be used here, or of a rule."""
    if method in LEARNERS:
        learner_named(method)
        return
    try:
        rules.by_name(method)
    except InputError:
        raise unknown_word("method", method, (*LEARNERS, *rules.REGISTRY)) from None


def run(task: Task, progress: Progress | None = None) -> dict[str, Any]:
    """Do a task: what it found, as plain values that are the same wherever it runs."""
    if task.method in LEARNERS:
        return jsonable(_learn(learner_named(task.method), task, progress))
    return jsonable(untrained(task.setting, rules.by_name(task.method)) | {"spent": 0})


def _learn(learner: Learner, task: Task, progress: Progress | None) -> dict[str, Any]:
    training = learner.train(task.setting, task.budget, task.seed, progress=progress)
    return training.to_dict() | {"policy_sha256": policy_digest(training.policy)}


def untrained(
    setting: Setting, policy: AnyPolicy | rules.Rule | rules.AdaptiveRule, progress: Progress | None = None
) -> dict[str, Any]:
    """What is known of a policy that was not trained here: nothing to guard, no curve."""
    best = solve(setting, progress=progress)
    if isinstance(policy, rules.AdaptiveRule):
        runtime = evaluate(setting, policy).expected_runtime
        lost = regret(best, runtime)
        found, name = Score(runtime, lost, runtime, lost, nan, nan), None
    else:
        table = rules.resolve(setting, policy)
        found, name = score(best, table), policy_digest(table)
    return {
        "spent": None,
        "optimal_runtime": best.expected_runtime,
        "score": found.to_dict(),
        "area": None,
        "curve": [],
        "policy_sha256": name,
    }


def policy_digest(policy: AnyPolicy) -> str:
    """Hash of a policy's radii, or of its radii and probabilities."""
    parts = (
        [np.asarray(policy.table, dtype="<i8")]
        if isinstance(policy, Policy)
        else [np.asarray(policy.radii, dtype="<i8"), np.asarray(policy.probabilities, dtype="<f8")]
    )
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
