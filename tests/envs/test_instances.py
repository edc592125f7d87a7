"""Instance sets: their order, their starts, and what does not fit together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box

from kflip.envs import Instance, RLSEnv, RLSVectorEnv
from kflip.errors import InputError
from kflip.setting import Setting


def test_a_cycle_begins_at_the_first_after_a_seed() -> None:
    env = RLSEnv(Setting(8, portfolio=[1, 2]), instances=[8, 12, Instance(16, start=(3, 9))], observe_n=True)
    for _ in range(2):
        shown = [env.reset(seed=5 if j == 0 else None) for j in range(7)]
        assert [info["instance"] for _, info in shown] == [0, 1, 2, 0, 1, 2, 0]
        assert [int(observation[-1]) for observation, _ in shown] == [8, 12, 16, 8, 12, 16, 8]
        assert shown[2][0].tolist() == [3, 9, 16]
    env.reset(), env.reset()
    assert env.setting == Setting(16, portfolio=[1, 2])
    assert env.observation_space == Box(0, 16, (3,), np.int64)


def test_sampled_instances_all_occur_evenly() -> None:
    env = RLSEnv(Setting(8, portfolio=[1]), instances=[8, 10, 12], instance_order="sample")
    env.reset(seed=1)
    counts = np.bincount([env.reset()[1]["instance"] for _ in range(3000)], minlength=3)
    assert (abs(counts - 1000) < 4 * np.sqrt(3000 * 2 / 9)).all()


def test_normalised_lengths_are_shares_of_the_largest() -> None:
    env = RLSEnv(Setting(8, portfolio=[1]), instances=[5, 20], observation="normalised", observe_n=True)
    assert env.reset(seed=1)[0][-1] == pytest.approx(0.25)
    assert env.reset()[0][-1] == pytest.approx(1.0)


@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
def test_a_start_in_a_level_is_a_random_string_with_that_lo(state: str) -> None:
    envs = RLSVectorEnv(Setting(7, "lo", state=state), 20_000, instances=[Instance(start=2)])
    _, infos = envs.reset(seed=1)
    assert (infos["lo"] == 2).all()
    counts = np.bincount(infos["om"] - 2, minlength=5)
    law = np.array([1, 4, 6, 4, 1]) / 16
    assert (abs(counts - 20_000 * law) < 4 * np.sqrt(20_000 * law * (1 - law))).all()


def test_starts_of_strings() -> None:
    env = RLSEnv(Setting(5, state="bits"), instances=[Instance(start="11010"), Instance(start=(1, 3))])
    assert env.reset(seed=1)[0].tolist() == [1, 1, 0, 1, 0]
    observation, info = env.reset()
    assert (info["lo"], info["om"], observation[:2].tolist(), int(observation.sum())) == (1, 3, [1, 0], 3)


def test_each_instance_has_its_own_truth() -> None:
    setting = Setting(6, portfolio=[1, 2, 3])
    env = RLSEnv(setting, instances=[6, 9, 6], ground_truth=True, reward="potential", stochasticity=0.5)
    envs = RLSVectorEnv(setting, 6, instances=[6, 9, 6], ground_truth=True, reward="potential", stochasticity=0.5)
    for j in range(6):
        _, info = env.reset(seed=1 if j == 0 else None)
        values = env.solution.values
        assert (env.setting.n, info["value"]) == ([6, 9, 6][j % 3], values[info["lo"], info["om"]])
    _, infos = envs.reset(seed=2)
    assert infos["instance"].tolist() == [0, 1, 2, 0, 1, 2]
    for j in range(6):
        best = envs.model.solution(Setting([6, 9, 6][j % 3], portfolio=[1, 2, 3]))
        place = infos["lo"][j], infos["om"][j]
        assert (infos["value"][j], infos["optimal_radius"][j]) == (best.values[place], best.policy.table[place])


@pytest.mark.parametrize(
    ("setting", "instances", "message"),
    [
        (Setting(6), [], "at least one"),
        (Setting(6), "8", "a list of lengths"),
        (Setting(6), [6.5], "an instance is a length"),
        (Setting(6), [True], "an instance is a length"),
        (Setting(6), [6, 8], "6 for n = 6, 8 for n = 8"),
        (Setting(6), [0], "n must be at least 1"),
        (Setting(6, portfolio=[1, 4]), [3], "above n = 3"),
        (Setting(6, state="bits", portfolio=[1]), [6, 7], "do not share an observation space"),
        (Setting(6), [Instance(start=7)], "LO in 0..6"),
        (Setting(6), [Instance(start=(4, 2))], "no state has lo = 4 and om = 2"),
        (Setting(6), [Instance(start="110100")], "needs state 'bits'"),
        (Setting(6, "lo", state="lo"), [Instance(start=(2, 3))], "None or a whole number"),
    ],
)
def test_what_does_not_fit(setting: Setting, instances: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        RLSEnv(setting, instances=instances)
