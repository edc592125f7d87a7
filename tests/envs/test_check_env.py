"""Gymnasium's own checker on every combination of setting, observation, reward and clock."""

from __future__ import annotations

from itertools import product

import gymnasium
import pytest
from gymnasium.utils.env_checker import check_env

import kflip.envs
from kflip.envs.observations import OBSERVATIONS
from tests.envs.oracle import KINDS, REWARDS, setting_of

CLOCKS = ("iterations", "events")


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("clock", CLOCKS)
def test_gymnasium_accepts_every_combination(kind: tuple[str, str, str], clock: str) -> None:
    for observation, reward, observe_n in product(OBSERVATIONS, REWARDS, (False, True)):
        env = gymnasium.make(
            kflip.envs.ENV_ID,
            setting=setting_of(kind, 6),
            observation=observation,
            observe_n=observe_n,
            reward=reward,
            clock=clock,
            max_iterations=10_000,
            ground_truth=True,
            disable_env_checker=True,
        )
        assert isinstance(env.unwrapped, kflip.envs.RLSEnv)
        check_env(env.unwrapped, skip_render_check=True)


def test_the_passive_checker_says_nothing() -> None:
    env = gymnasium.make(kflip.envs.ENV_ID, setting=kflip.Setting(8), max_iterations=100)
    env.reset(seed=1)
    for _ in range(30):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()
    env.close()
