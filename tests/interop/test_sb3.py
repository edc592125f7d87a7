"""Stable-Baselines3: its checker, and training followed by exact evaluation."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest

import kflip
import kflip.envs
from kflip.envs.observations import OBSERVATIONS
from kflip.errors import InputError
from kflip.policy import exists
from kflip.setting import Setting
from tests.envs.oracle import KINDS, REWARDS, setting_of

# an installation that is there but broken is to fail, not to be skipped
if find_spec("stable_baselines3") is None:
    pytest.skip("Stable-Baselines3 is not installed", allow_module_level=True)

import torch
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from kflip.envs.sb3 import ExactEvaluationCallback, tabulate

# networks this small only lose time to threads
torch.set_num_threads(1)


def _make(setting: Setting, **options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(kflip.envs.ENV_ID, setting=setting, max_iterations=400, **options)


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_stable_baselines_accepts_every_combination(kind: tuple[str, str, str], clock: str) -> None:
    for observation, reward, observe_n in product(OBSERVATIONS, REWARDS, (False, True)):
        options: dict[str, Any] = {"observation": observation, "reward": reward, "observe_n": observe_n}
        check_env(_make(setting_of(kind, 6), clock=clock, **options), warn=True)


class Oracle:
    """Predicts from integer observations what a table says."""

    def __init__(self, policy: kflip.Policy) -> None:
        self.policy = policy

    def predict(self, observations: Any, deterministic: bool) -> tuple[Any, None]:
        """Numbers of the radii in the full portfolio."""
        assert deterministic
        if self.policy.state == "bits":
            return self.policy.table[observations @ (1 << np.arange(self.policy.n - 1, -1, -1))].astype(int) - 1, None
        return self.policy.table[tuple(observations.T)].astype(int) - 1, None


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_the_table_of_an_oracle_is_its_policy(kind: tuple[str, str, str]) -> None:
    setting = setting_of(kind, 6)
    env = kflip.envs.RLSEnv(setting)
    policy = tabulate(Oracle(env.optimal_policy), env.model, setting)
    np.testing.assert_array_equal(policy.table, env.optimal_policy.table)


@pytest.mark.parametrize("agent", [PPO, DQN, A2C])
@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
def test_training_is_followed_exactly(agent: Any, state: str) -> None:
    setting = Setting(6, "lo", state=state, portfolio=[1, 2, 3])
    exact = ExactEvaluationCallback(every=64)
    model = agent("MlpPolicy", _make(setting, observation="normalised"), seed=1, device="cpu")
    model.learn(256, callback=exact)
    assert [snapshot.timesteps for snapshot in exact.history[:4]] == [64, 128, 192, 256]
    assert exact.last is exact.history[-1]
    assert exact.best is not None
    assert exact.best.regret == min(snapshot.regret for snapshot in exact.history)
    assert exact.last.timesteps == model.num_timesteps
    again = kflip.evaluate(setting, exact.last.policy)
    assert exact.last.expected_runtime == again.expected_runtime
    assert exact.last.regret == again.regret >= -1e-12
    if state == "lo-om":
        for lo, om in np.argwhere(exists(6, "lo-om"))[::5]:
            shown = np.array([lo / 6, om / 6], dtype=np.float32)
            action, _ = model.predict(shown, deterministic=True)
            assert exact.last.policy.at(int(lo), int(om)) == [1, 2, 3][int(action)]


def test_normalised_vectors_are_normalised_for_the_table_too() -> None:
    setting = Setting(6, portfolio=[1, 2])
    venv = VecNormalize(DummyVecEnv([lambda: _make(setting)]))
    exact = ExactEvaluationCallback(every=100)
    model = PPO("MlpPolicy", venv, n_steps=64, seed=1, device="cpu")
    model.learn(300, callback=exact)
    assert exact.last is not None
    shown = venv.normalize_obs(np.array([[2, 3]]))
    assert exact.last.policy.at(2, 3) == [1, 2][int(model.predict(shown, deterministic=True)[0][0])]


def test_several_lengths_are_averaged() -> None:
    setting = Setting(6, portfolio=[1, 2])
    env = _make(setting, instances=[6, 9, 6], observe_n=True, observation="normalised")
    exact = ExactEvaluationCallback(every=1000)
    model = A2C("MlpPolicy", env, seed=1, device="cpu")
    model.learn(20, callback=exact)
    assert exact.last is not None
    world = env.unwrapped.model  # type: ignore[attr-defined]
    settings = [setting, Setting(9, portfolio=[1, 2])]
    runtimes = [kflip.evaluate(s, tabulate(model, world, s)).expected_runtime for s in settings]
    assert exact.last.expected_runtime == pytest.approx(np.mean(runtimes), rel=1e-12)


def test_learning_beats_a_random_radius() -> None:
    setting = Setting(8, "lo", state="lo", portfolio=[1, 8])
    exact = ExactEvaluationCallback(every=512)
    env = _make(setting, observation="normalised", reward="potential", stochasticity=0.0)
    PPO("MlpPolicy", env, gamma=1.0, n_steps=256, learning_rate=3e-3, seed=1, device="cpu").learn(4096, callback=exact)
    assert exact.best is not None
    assert exact.best.regret < kflip.evaluate(setting, "random-radius").regret


def test_other_environments_are_refused() -> None:
    model = PPO("MlpPolicy", "CartPole-v1", device="cpu")
    with pytest.raises((InputError, AttributeError)):
        model.learn(10, callback=ExactEvaluationCallback())
    with pytest.raises(InputError, match="at least 1"):
        ExactEvaluationCallback(every=0)
