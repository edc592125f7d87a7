"""Returns of 20,000 episodes under fixed policies against their exact mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import kflip
from kflip.envs import RLSVectorEnv
from kflip.policy import Policy
from kflip.setting import Setting
from tests.envs.oracle import KINDS, REWARDS, actions_for, expected_return, setting_of, some_policy

ENVIRONMENTS, EPISODES = 2_000, 10


def returns_of(setting: Setting, policy: Policy, seed: int, **options: Any) -> NDArray[np.float64]:
    """Returns of the first 10 episodes of 2,000 environments, shape (2000, 10)."""
    envs = RLSVectorEnv(setting, ENVIRONMENTS, action_mask=False, **options)
    observations, _ = envs.reset(seed=seed)
    returns = np.zeros((ENVIRONMENTS, EPISODES + 1))  # the last column takes what comes after
    everyone = np.arange(ENVIRONMENTS)
    episode = np.zeros(ENVIRONMENTS, dtype=np.int64)
    while (episode < EPISODES).any():
        observations, rewards, terminated, truncated, _ = envs.step(actions_for(setting, policy, observations))
        returns[everyone, np.minimum(episode, EPISODES)] += rewards
        assert not truncated.any()
        episode += terminated
    return returns[:, :EPISODES]


def _agree(returns: NDArray[np.float64], exact: float) -> bool:
    # the absolute part is rounding: without any randomness left the error would be zero
    error = returns.std(ddof=1) / np.sqrt(returns.size)
    return bool(abs(returns.mean() - exact) <= 4.0 * error + 1e-9)


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_mean_return(kind: tuple[str, str, str], reward: str, clock: str) -> None:
    setting = setting_of(kind, 4)
    policy = some_policy(setting, 3)
    exact = expected_return(setting, policy, clock, reward)
    assert _agree(returns_of(setting, policy, 11, reward=reward, clock=clock), exact)
    assert _agree(returns_of(setting, policy, 12, reward=reward, clock=clock, stochasticity=0.0), exact)


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_minus_iterations_returns_minus_the_runtime(kind: tuple[str, str, str], clock: str) -> None:
    setting = setting_of(kind, 7)
    best = kflip.solve(setting)
    assert _agree(returns_of(setting, best.policy, 5, clock=clock), -best.expected_runtime)


def test_scale_and_shift_apply_to_every_step() -> None:
    setting = Setting(6)
    policy = kflip.solve(setting).policy
    plain = returns_of(setting, policy, 4)
    changed = returns_of(setting, policy, 4, reward_scale=0.25, reward_shift=-3.0)
    steps = np.maximum(-plain, 1.0)  # a start at the optimum takes one step of no iterations
    np.testing.assert_allclose(changed, 0.25 * plain - 3.0 * steps, rtol=1e-12)


@pytest.mark.parametrize("clock", ["iterations", "events"])
def test_runtime_of_a_policy_that_sees_less(clock: str) -> None:
    setting = Setting(6, "loom", state="lo")
    evaluation = kflip.evaluate(setting, "lo-optimal")
    assert isinstance(evaluation.policy, Policy)
    assert _agree(returns_of(setting, evaluation.policy, 8, clock=clock), -evaluation.expected_runtime)
