"""Deep learners: the optimum where it is easy, the same policy from the same seed, budgets, masks, a clean process."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.errors import TooLargeError
from kflip.learn.training import MARKS, Learner
from kflip.policy import exists
from kflip.setting import Setting

# an installation that is there but broken is to fail, not to be skipped
if find_spec("stable_baselines3") is None:
    pytest.skip("Stable-Baselines3 is not installed", allow_module_level=True)

import torch

from kflip.learn.deep import apart
from kflip.learn.dqn import DQN
from kflip.learn.dqn_plain import PlainDQN
from kflip.learn.events import Events, Facts
from kflip.learn.ppo import PPO

MASKED: list[Learner] = [
    DQN("dqn", environments=16, updates=600, iterations_per_update=50),
    PPO("ppo", environments=16, cap=30_000),
]
ALL: list[Learner] = [*MASKED, PlainDQN("dqn-plain", cap=1_500)]
SETTINGS = [
    Setting(6, "loom"),
    Setting(6, "lo", "strict", portfolio="powers-of-two"),
    Setting(6, "lo", state="lo"),
    Setting(5, "loom", "strict", "bits", [1, 2, 3]),
]


def _name(learner: Learner) -> str:
    return learner.name


def _global_state() -> tuple[Any, ...]:
    own: Any = np.random.get_state()  # noqa: NPY002
    return random.getstate(), own[1].tolist(), own[2:], torch.get_rng_state().tolist(), torch.get_num_threads()


@pytest.mark.parametrize(
    ("learner", "setting", "budget"),
    [
        (DQN("dqn"), Setting(4, "lo", "strict", portfolio=[1, 2]), 100_000),
        (DQN("dqn"), Setting(4, "loom", "strict", "bits", [1, 2, 4]), 100_000),
        (PPO("ppo"), Setting(4, "lo", "strict", portfolio=[1, 2]), 100_000),
        (PlainDQN("dqn-plain", cap=20_000), Setting(3, "lo", state="lo", portfolio=[1, 3]), 20_000),
    ],
    ids=lambda value: value.name if isinstance(value, Learner) else str(value),
)
def test_the_optimum_of_a_small_problem_is_found(learner: Learner, setting: Setting, budget: int) -> None:
    training = learner.train(setting, budget, seed=1)
    assert kflip.evaluate(setting, "one-bit").regret > 0.01
    assert training.score.regret < 1e-9
    assert training.score.guarded_regret < 1e-9


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("learner", ALL, ids=_name)
def test_budgets_and_marks_are_kept(learner: Learner, setting: Setting) -> None:
    budget = 3_000
    training = learner.train(setting, budget, seed=3)
    steps = [point.iterations for point in training.curve]
    assert len(steps) == MARKS
    assert steps == sorted(steps)
    assert 0.8 * min(budget, getattr(learner, "cap", budget)) < training.spent == steps[-1] <= budget
    assert steps[0] < budget / 4
    states = exists(setting.n, setting.state)
    assert training.left.shape == setting.shape
    assert training.left.any()
    assert not training.left[~states].any()


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("learner", MASKED, ids=_name)
def test_masked_learners_never_take_a_radius_that_cannot_leave(learner: Learner, setting: Setting) -> None:
    training = learner.train(setting, 3_000, seed=2)
    states = exists(setting.n, setting.state)
    lo = Facts(setting).lo.reshape(setting.shape)
    assert np.all(training.policy.table[states] <= setting.n - lo[states])
    assert np.isfinite(training.score.regret)


@pytest.mark.parametrize("learner", ALL, ids=_name)
def test_same_seed_same_policy_and_a_clean_process(learner: Learner) -> None:
    setting = SETTINGS[0]
    before = _global_state()
    first = learner.train(setting, 3_000, seed=5)
    assert _global_state() == before
    torch.manual_seed(77)
    second, other = learner.train(setting, 3_000, seed=5), learner.train(setting, 3_000, seed=2**40)
    np.testing.assert_array_equal(first.policy.table, second.policy.table)
    np.testing.assert_array_equal(first.left, second.left)
    assert first.curve == second.curve != other.curve


def test_trainings_in_threads_do_not_disturb_each_other() -> None:
    learner, seeds = MASKED[0], (1, 2, 3)
    alone = [learner.train(SETTINGS[0], 3_000, seed).policy.table.tolist() for seed in seeds]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(lambda seed: learner.train(SETTINGS[0], 3_000, seed).policy.table.tolist(), seeds))
    assert together == alone


def test_another_process_learns_the_same() -> None:
    text = (
        "from kflip import Setting; from kflip.learn.dqn import DQN; from kflip.learn.ppo import PPO\n"
        "for learner in (DQN('dqn'), PPO('ppo')):\n"
        "    print(learner.train(Setting(7, 'lo', 'strict'), 20_000, 1).policy.table.tolist())"
    )
    there = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout
    here = [learner.train(Setting(7, "lo", "strict"), 20_000, 1).policy.table for learner in (DQN("dqn"), PPO("ppo"))]
    assert there.splitlines() == [str(table.tolist()) for table in here]


def test_snapshots_come_while_it_learns_and_stopping_ends_it() -> None:
    shots = DQN("dqn", environments=16).snapshots(SETTINGS[0], range(10_000, 10**9, 10_000), 1)
    first = next(shots)
    assert 10_000 <= first.iterations < 30_000
    shots.close()  # joins the thread, so a training that went on would not come back
    assert not any("work" in thread.name for thread in threading.enumerate())


def test_an_error_in_the_training_reaches_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("out of luck")

    monkeypatch.setattr(Events, "step_wait", fail)
    with pytest.raises(RuntimeError, match="out of luck"):
        MASKED[0].train(SETTINGS[0], 3_000, seed=1)


def test_the_guard_knows_which_radius_left_a_state() -> None:
    facts = Facts(Setting(5, "lo", "strict"))
    events = Events(facts, 32, 10**6, shaped=False)
    events.seed(1)
    events.reset()
    for _ in range(200):
        events.step(np.where(facts.allowed[events._now, 2], 2, 0))
    assert events.left[:, 2].any()
    assert not events.left[:, [1, 3, 4]].any()
    assert not events.left[~facts.allowed].any()


def test_learning_beats_one_bit() -> None:
    setting = Setting(10, "lo", "strict", portfolio="powers-of-two")
    training = DQN("dqn").train(setting, 200_000, seed=1)
    assert training.score.regret < 0.2 * kflip.evaluate(setting, "one-bit").regret


@pytest.mark.parametrize("kind", [("loom", "standard", "lo-om"), ("lo", "standard", "lo"), ("loom", "strict", "bits")])
def test_shaped_rewards_of_one_bit_have_mean_zero(kind: tuple[str, str, str]) -> None:
    facts = Facts(Setting(6, *kind))
    with apart(0) as seed:
        events = Events(facts, 256, 10**9, shaped=True)
        events.seed(seed)
        events.reset()
        rewards = [events.step(np.zeros(256, dtype=np.int64))[1] for _ in range(300)]
    mean, error = np.mean(rewards), np.std(rewards) / np.sqrt(np.size(rewards))
    assert abs(mean) < 4.5 * error < 0.02


def test_a_step_over_the_budget_is_not_counted() -> None:
    facts = Facts(Setting(6, "lo", "strict"))
    events = Events(facts, 8, 100, shaped=False)
    events.seed(3)
    events.reset()
    total = 0
    while True:
        left = events.left.copy()
        taken = -events.step(np.zeros(8, dtype=np.int64))[1].sum()
        if events.exhausted:
            break
        total += int(taken)
        assert events.spent == total <= 100
    assert total + taken > 100
    assert events.spent == total
    np.testing.assert_array_equal(events.left, left)


@pytest.mark.parametrize("learner", ALL, ids=_name)
def test_what_cannot_be_learned_is_refused(learner: Learner) -> None:
    with pytest.raises(TooLargeError, match="at most 20 bits, not 21"):
        learner.train(Setting(21, "loom", "strict", "bits"), 1_000, seed=1)
