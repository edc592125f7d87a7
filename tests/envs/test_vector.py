"""Many environments: the same law as one, Gymnasium's rules at the end of episodes, threads."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, Error, ResetNeeded
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from scipy import stats

import kflip
from kflip.envs import ENV_ID, Instance, RLSEnv, RLSVectorEnv
from kflip.errors import InputError
from kflip.setting import Setting
from tests.envs.oracle import KINDS, actions_for, setting_of


def _make(**options: Any) -> RLSVectorEnv:
    envs = gymnasium.make_vec(ENV_ID, vectorization_mode="vector_entry_point", **options)
    assert isinstance(envs, RLSVectorEnv)
    return envs


def _runtimes_of_one(setting: Setting, clock: str, episodes: int) -> NDArray[np.float64]:
    env, policy = RLSEnv(setting, clock=clock), kflip.solve(setting).policy
    observation, _ = env.reset(seed=1)
    runtimes: list[int] = []
    while len(runtimes) < episodes:
        observation, _, terminated, _, info = env.step(int(actions_for(setting, policy, observation[None])[0]))
        if terminated:
            runtimes.append(info["iterations"])
            observation, _ = env.reset()
    return np.array(runtimes, dtype=np.float64)


def _runtimes_of_many(setting: Setting, clock: str, episodes: int) -> NDArray[np.float64]:
    envs, policy = RLSVectorEnv(setting, episodes, clock=clock), kflip.solve(setting).policy
    observations, _ = envs.reset(seed=2)
    runtimes = np.full(episodes, -1.0)
    while (runtimes < 0).any():
        observations, _, terminated, _, infos = envs.step(actions_for(setting, policy, observations))
        first = terminated & (runtimes < 0)
        runtimes[first] = infos["iterations"][first]
    return runtimes


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_the_same_law_as_one_environment(kind: tuple[str, str, str], clock: str) -> None:
    setting = setting_of(kind, 6)
    test = stats.ks_2samp(_runtimes_of_one(setting, clock, 400), _runtimes_of_many(setting, clock, 4000))
    assert test.pvalue > 1e-3


def test_the_same_law_as_simulated_runs() -> None:
    setting = Setting(24)
    policy = kflip.solve(setting).policy
    runs = kflip.simulate(setting, policy, runs=4000, seed=3).runtimes
    for clock in ("iterations", "events"):
        assert stats.ks_2samp(runs, _runtimes_of_many(setting, clock, 4000)).pvalue > 1e-3


@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize("clock", ["iterations", "events"])
def test_threads_change_nothing(kind: tuple[str, str, str], clock: str) -> None:
    setting = setting_of(kind, 7)
    rng = np.random.default_rng(1)
    batches = rng.integers(0, 7, (60, 333))
    options: dict[str, Any] = {"clock": clock, "max_iterations": 30, "reward": "potential", "stochasticity": 0.5}
    one, two = (RLSVectorEnv(setting, 333, threads=threads, **options) for threads in (1, 2))
    np.testing.assert_array_equal(one.reset(seed=9)[0], two.reset(seed=9)[0])
    for actions in batches:
        for a, b in zip(one.step(actions)[:4], two.step(actions)[:4], strict=True):
            np.testing.assert_array_equal(a, b)
    one.close()
    two.close()


def test_environments_are_independent_of_their_number() -> None:
    few, many = RLSVectorEnv(Setting(20), 3), RLSVectorEnv(Setting(20), 50)
    np.testing.assert_array_equal(few.reset(seed=4)[0], many.reset(seed=4)[0][:3])
    for _ in range(30):
        np.testing.assert_array_equal(few.step(np.ones(3, int))[0], many.step(np.ones(50, int))[0][:3])


def test_a_seed_repeats_and_none_goes_on() -> None:
    envs = _make(setting=Setting(30), num_envs=40)
    first, _ = envs.reset(seed=6)
    later, _ = envs.reset()
    assert (first != later).any()
    np.testing.assert_array_equal(envs.reset(seed=6)[0], first)
    np.testing.assert_array_equal(envs.reset()[0], later)


def test_spaces_and_metadata() -> None:
    envs = _make(setting=Setting(9), num_envs=5, observation="normalised")
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert envs.single_observation_space == gymnasium.spaces.Box(0, 1, (2,), np.float32)
    assert envs.observation_space.shape == (5, 2)
    observations, infos = envs.reset(seed=1)
    assert observations in envs.observation_space
    observations, rewards, terminated, truncated, infos = envs.step(envs.action_space.sample())
    assert observations in envs.observation_space
    assert [array.dtype.name for array in (rewards, terminated, truncated)] == ["float64", "bool", "bool"]
    for key in ("k", "lo", "om", "iterations"):
        assert infos[key].shape == (5,)
        assert infos["_" + key].all()
    assert infos["action_mask"].shape == (5, 9)
    np.testing.assert_array_equal(infos["action_mask"], np.arange(1, 10) <= 9 - infos["lo"][:, None])
    np.testing.assert_array_equal(envs.action_masks(), infos["action_mask"])


def test_next_step_resets_with_the_step_after_the_end() -> None:
    envs = RLSVectorEnv(Setting(3), 200, max_iterations=6)
    envs.reset(seed=1)
    ended = np.zeros(200, dtype=bool)
    before = np.zeros(200, dtype=np.int64)
    endings = 0
    for _ in range(60):
        observations, rewards, terminated, truncated, infos = envs.step(np.zeros(200, int))
        assert (rewards[ended] == 0).all()
        assert (rewards[~ended] == before[~ended] - infos["iterations"][~ended]).all()
        assert not (terminated | truncated)[ended].any()
        assert (infos["iterations"][ended] == 0).all()
        assert (infos["k"][ended] == 0).all()
        assert not (terminated & truncated).any()
        np.testing.assert_array_equal(terminated[~ended], infos["lo"][~ended] == 3)
        np.testing.assert_array_equal(truncated[~ended], (infos["iterations"] == 6)[~ended] & ~terminated[~ended])
        np.testing.assert_array_equal(observations[:, 0], infos["lo"])
        assert "final_obs" not in infos
        ended, before = terminated | truncated, infos["iterations"].copy()
        endings += int(ended.sum())
    assert endings > 1000


def test_same_step_shows_the_end_and_the_next_start() -> None:
    envs = RLSVectorEnv(Setting(4), 100, autoreset_mode=AutoresetMode.SAME_STEP, max_iterations=9, ground_truth=True)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    envs.reset(seed=1)
    both = np.zeros(2, dtype=np.int64)
    for _ in range(60):
        observations, _, terminated, truncated, infos = envs.step(np.zeros(100, int))
        ended = terminated | truncated
        both += terminated.sum(), truncated.sum()
        assert ("final_obs" in infos) == bool(ended.any())
        if not ended.any():
            continue
        np.testing.assert_array_equal(infos["_final_obs"], ended)
        np.testing.assert_array_equal(infos["_final_info"], ended)
        final = infos["final_info"]
        np.testing.assert_array_equal(final["_lo"], ended)
        assert (final["lo"][terminated] == 4).all()
        assert (final["iterations"][truncated] == 9).all()
        assert (final["value"][terminated] == 0).all()
        assert (infos["iterations"][ended] == 0).all()
        assert (infos["iterations"][~ended] > 0).all()
        for j in range(100):
            if ended[j]:
                assert infos["final_obs"][j].tolist() == [final["lo"][j], final["om"][j]]
            else:
                assert infos["final_obs"][j] is None
        np.testing.assert_array_equal(observations, np.stack([infos["lo"], infos["om"]], axis=1))
    assert (both > 20).all()


def test_disabled_leaves_the_reset_to_the_caller() -> None:
    envs = RLSVectorEnv(Setting(3), 50, autoreset_mode="Disabled")
    envs.reset(seed=1)
    terminated = np.zeros(50, dtype=bool)
    while not terminated.any():
        observations, _, terminated, _, infos = envs.step(np.zeros(50, int))
    with pytest.raises(ResetNeeded, match="reset_mask"):
        envs.step(np.zeros(50, int))
    again, after = envs.reset(options={"reset_mask": terminated})
    np.testing.assert_array_equal(again[~terminated], observations[~terminated])
    np.testing.assert_array_equal(after["_lo"], terminated)
    np.testing.assert_array_equal(after["iterations"], np.where(terminated, 0, infos["iterations"]))
    envs.step(np.zeros(50, int))


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("reward", ["improvement-minus-iterations", "improvement-over-iterations", "potential"])
@pytest.mark.parametrize("start", [(0, 3), (2, 4)])
def test_without_stochasticity_a_state_and_an_action_have_one_reward(
    clock: str, reward: str, start: tuple[int, int]
) -> None:
    options: dict[str, Any] = {"clock": clock, "reward": reward, "instances": [Instance(start=start)]}
    first = {}
    for stochasticity in (0.0, 0.5, 1.0):
        envs = RLSVectorEnv(Setting(7), 20_000, stochasticity=stochasticity, **options)
        envs.reset(seed=1)
        first[stochasticity] = envs.step(np.full(20_000, 1))[1]
    assert np.ptp(first[0.0]) == 0.0
    error = first[1.0].std() / np.sqrt(20_000)
    assert error > 0.0
    assert abs(first[1.0].mean() - first[0.0][0]) < 4 * error
    np.testing.assert_allclose(first[0.5], 0.5 * first[1.0] + 0.5 * first[0.0], rtol=1e-12, atol=1e-12)


def test_a_radius_that_never_leaves_its_state() -> None:
    start = [Instance(start=(4, 5)), Instance(start=(0, 2))]
    envs = RLSVectorEnv(Setting(8), 4, clock="events", instances=start)
    observations, _ = envs.reset(seed=1)
    with pytest.raises(InputError, match="environment 2 never leaves"):
        envs.step(np.array([0, 7, 5, 0]))
    np.testing.assert_array_equal(observations, np.array([[4, 5], [0, 2]] * 2))
    limited = RLSVectorEnv(Setting(8), 4, clock="events", instances=start, max_iterations=30)
    limited.reset(seed=1)
    _, rewards, terminated, truncated, infos = limited.step(np.array([5, 0, 6, 0]))
    assert truncated[[0, 2]].all()
    assert not terminated[[0, 2]].any()
    assert (rewards[[0, 2]] == -30).all()
    assert (infos["iterations"][[0, 2]] == 30).all()


def test_ended_episodes_ignore_their_action() -> None:
    envs = RLSVectorEnv(Setting(3), 1, clock="events", instances=[Instance(start=(2, 2))])
    envs.reset(seed=1)
    assert envs.step([0])[2].all()
    assert envs.step([2])[0].tolist() == [[2, 2]]


@pytest.mark.parametrize(
    "actions", [[0, 1], [0, 1, 8], [0, 1, -1], [0.0, 1.0, 2.0], [[0], [1], [2]], "abc", [True, False, True]]
)
def test_bad_actions(actions: Any) -> None:
    envs = RLSVectorEnv(Setting(8), 3)
    envs.reset(seed=1)
    with pytest.raises(InputError, match="action"):
        envs.step(actions)


def test_order_of_calls_and_bad_arguments() -> None:
    envs = RLSVectorEnv(Setting(8), 3, threads=2)
    with pytest.raises(ResetNeeded):
        envs.step([0, 0, 0])
    with pytest.raises(Error):
        envs.reset(seed=-1)
    with pytest.raises(InputError, match="reset_mask"):
        envs.reset(options={"reset_mask": np.array([True])})
    with pytest.raises(InputError, match="reset_mask' only"):
        envs.reset(options={"start": 1})
    with pytest.raises(InputError, match="leave out reset_mask"):
        envs.reset(options={"reset_mask": np.array([True, False, True])})
    envs.reset(seed=1)
    envs.step([0, 0, 0])
    envs.close()
    envs.close()
    with pytest.raises(ClosedEnvironmentError):
        envs.step([0, 0, 0])
    with pytest.raises(ClosedEnvironmentError):
        envs.reset()
    for options in ({"num_envs": 0}, {"threads": 1.5}, {"autoreset_mode": "Later"}, {"render_mode": "human"}):
        with pytest.raises(InputError):
            RLSVectorEnv(Setting(8), **options)


def test_exact_answers_are_at_hand() -> None:
    envs = RLSVectorEnv(Setting(8), 3)
    assert envs.evaluate(envs.optimal_policy).regret == pytest.approx(0.0, abs=1e-12)


def test_synchronous_vectors_of_single_environments_work_too() -> None:
    envs = gymnasium.make_vec(ENV_ID, num_envs=3, vectorization_mode="sync", setting=Setting(6), max_iterations=50)
    envs.reset(seed=1)
    for _ in range(100):
        _, _, terminated, truncated, infos = envs.step(np.zeros(3, int))
        assert not (terminated & truncated).any()
        assert infos["lo"].shape == (3,)
    envs.close()
