"""One environment: what it shows, when it ends, what it refuses."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, Error, ResetNeeded

import kflip
from kflip.envs import ENV_ID, Instance, RLSEnv
from kflip.errors import InputError
from kflip.setting import Setting


def _play(env: RLSEnv, actions: list[int]) -> list[Any]:
    shown: list[Any] = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        shown.append((observation.tolist(), reward, terminated, truncated, info["lo"], info["om"], info["iterations"]))
        if terminated or truncated:
            shown.append(env.reset()[0].tolist())
    return shown


def test_the_spaces() -> None:
    pair = RLSEnv(Setting(9))
    assert pair.observation_space == gymnasium.spaces.Box(0, 9, (2,), np.int64)
    assert pair.action_space == gymnasium.spaces.Discrete(9)
    assert RLSEnv(Setting(9, "lo", state="lo")).observation_space == gymnasium.spaces.Box(0, 9, (1,), np.int64)
    bits = RLSEnv(Setting(6, state="bits", portfolio=[1, 3]), observe_n=True)
    assert bits.observation_space == gymnasium.spaces.Box(
        np.zeros(7, np.int64), np.array([1] * 6 + [6]), dtype=np.int64
    )
    assert bits.action_space == gymnasium.spaces.Discrete(2)
    normalised = RLSEnv(Setting(9), observation="normalised", observe_n=True)
    assert normalised.observation_space == gymnasium.spaces.Box(0, 1, (3,), np.float32)


@pytest.mark.parametrize("observe_n", [False, True])
def test_observations_show_the_state(observe_n: bool) -> None:
    for state in ("lo-om", "bits", "lo"):
        setting = Setting(8, "lo", state=state)
        whole = RLSEnv(setting, observe_n=observe_n)
        parts = RLSEnv(setting, observe_n=observe_n, observation="normalised")
        first, info = whole.reset(seed=7)
        second, _ = parts.reset(seed=7)
        for _ in range(20):
            seen = {"lo": [info["lo"]], "lo-om": [info["lo"], info["om"]], "bits": first[:8].tolist()}[state]
            assert first.tolist() == seen + ([8] if observe_n else [])
            scaled = seen if state == "bits" else [value / 8 for value in seen]
            np.testing.assert_allclose(second, scaled + ([1.0] if observe_n else []), rtol=1e-7)
            if state == "bits":
                assert (kflip.leading_ones(first[:8]), kflip.one_max(first[:8])) == (info["lo"], info["om"])
            first, _, terminated, _, info = whole.step(1)
            second = parts.step(1)[0]
            if terminated:
                break


@pytest.mark.parametrize("clock", ["iterations", "events"])
def test_terminated_at_the_optimum_and_only_there(clock: str) -> None:
    env = RLSEnv(Setting(6), clock=clock, max_iterations=10_000)
    for seed in range(30):
        env.reset(seed=seed)
        terminated = truncated = False
        while not terminated:
            _, _, terminated, truncated, info = env.step(0)
            assert not truncated
            assert terminated == (info["lo"] == 6)
        assert info["om"] == 6


@pytest.mark.parametrize("clock", ["iterations", "events"])
def test_truncated_at_the_budget_and_only_there(clock: str) -> None:
    env = RLSEnv(Setting(40), clock=clock, max_iterations=25)
    for seed in range(30):
        env.reset(seed=seed)
        total = 0.0
        while True:
            _, reward, terminated, truncated, info = env.step(0)
            total += reward
            assert not terminated
            assert truncated == (info["iterations"] == 25)
            assert info["iterations"] <= 25
            if truncated:
                break
        assert total == -25.0


def test_the_optimum_in_the_last_iteration_terminates() -> None:
    env = RLSEnv(Setting(1, portfolio=[1]), max_iterations=1, instances=[Instance(start=(0, 0))])
    env.reset(seed=0)
    assert env.step(0)[1:4] == (-1.0, True, False)


def test_a_start_at_the_optimum_ends_without_an_iteration() -> None:
    env = RLSEnv(Setting(4), instances=[Instance(start=(4, 4))], ground_truth=True)
    _, info = env.reset(seed=0)
    assert (info["optimal_radius"], info["value"], info["action_mask"].tolist()) == (0, 0.0, [0, 0, 0, 0])
    _, reward, terminated, truncated, info = env.step(0)
    assert (reward, terminated, truncated, info["iterations"]) == (0.0, True, False, 0)


@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
def test_a_radius_that_never_leaves_its_state(state: str) -> None:
    setting, start = Setting(6, "lo", state=state), Instance(start=3)
    env = RLSEnv(setting, clock="events", max_iterations=50, instances=[start])
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [1, 1, 1, 0, 0, 0]
    assert env.action_masks().tolist() == [True] * 3 + [False] * 3
    _, reward, terminated, truncated, info = env.step(4)
    assert (reward, terminated, truncated, info["iterations"], info["lo"]) == (-50.0, False, True, 50, 3)
    endless = RLSEnv(setting, clock="events", instances=[start])
    endless.reset(seed=1)
    with pytest.raises(InputError, match="radius 4 never leaves a state with LO = 3"):
        endless.step(3)
    assert endless.step(2)[4]["k"] == 3
    single = RLSEnv(setting, instances=[start])
    single.reset(seed=1)
    for spent in range(1, 20):
        _, reward, terminated, truncated, info = single.step(5)
        assert (reward, terminated, truncated, info["lo"], info["iterations"]) == (-1.0, False, False, 3, spent)


def test_ground_truth() -> None:
    setting = Setting(10)
    best = kflip.solve(setting)
    env = RLSEnv(setting, ground_truth=True)
    _, info = env.reset(seed=2)
    assert info["k"] == 0
    while True:
        lo, om = info["lo"], info["om"]
        assert info["optimal_radius"] == best.policy.table[lo, om]
        assert info["value"] == best.values[lo, om]
        _, _, terminated, _, info = env.step(info["optimal_radius"] - 1)
        assert info["k"] == best.policy.table[lo, om]
        if terminated:
            break
    assert info["value"] == 0.0
    np.testing.assert_array_equal(env.optimal_policy.table, best.policy.table)
    assert env.evaluate(env.optimal_policy).expected_runtime == pytest.approx(best.expected_runtime, rel=1e-13)
    assert env.evaluate("one-bit").regret > 0.0


def test_the_made_environment_gives_access() -> None:
    env = gymnasium.make(ENV_ID, setting=Setting(5, "lo", "strict"))
    assert isinstance(env.unwrapped, RLSEnv)
    assert env.unwrapped.optimal_policy.at(4, 4) == 1
    assert env.unwrapped.setting == Setting(5, "lo", "strict")


@pytest.mark.parametrize("state", ["lo", "lo-om", "bits"])
@pytest.mark.parametrize("clock", ["iterations", "events"])
def test_a_seed_repeats_everything(state: str, clock: str) -> None:
    options: dict[str, Any] = {"clock": clock, "max_iterations": 40}
    options |= {"instances": [Instance(8), Instance(8, start=2)], "instance_order": "sample"}
    actions = np.random.default_rng(0).integers(0, 4, 200).tolist()
    first, second = (RLSEnv(Setting(8, "lo", state=state), **options) for _ in range(2))
    start = first.reset(seed=3)[0].tolist()
    shown = _play(first, actions)
    assert second.reset(seed=3)[0].tolist() == start
    assert _play(second, actions) == shown
    assert first.reset(seed=3)[0].tolist() == start
    assert _play(first, actions) == shown
    first.reset(seed=4)
    assert _play(first, actions) != shown


def test_without_a_seed_episodes_differ_and_go_on_from_the_seed() -> None:
    env, other = RLSEnv(Setting(30)), RLSEnv(Setting(30))
    env.reset(seed=1), other.reset(seed=1)
    later = [env.reset()[0].tolist() for _ in range(20)]
    assert [other.reset()[0].tolist() for _ in range(20)] == later
    assert len({tuple(o) for o in later}) > 5
    fresh = [RLSEnv(Setting(30)).reset()[0].tolist() for _ in range(20)]
    assert len({tuple(o) for o in fresh}) > 5


def test_copies_go_on_alike() -> None:
    env = RLSEnv(Setting(12))
    env.reset(seed=5)
    env.step(0)
    copies = [deepcopy(env), pickle.loads(pickle.dumps(env))]
    shown = _play(env, [0, 1, 2] * 30)
    for copy in copies:
        assert _play(copy, [0, 1, 2] * 30) == shown


def test_a_reset_in_mid_episode_begins_anew() -> None:
    env = RLSEnv(Setting(30))
    env.reset(seed=1)
    for _ in range(5):
        env.step(0)
    _, info = env.reset()
    assert (info["iterations"], info["k"]) == (0, 0)
    assert env.step(0)[4]["iterations"] == 1


@pytest.mark.parametrize("action", [-1, 8, 10**30, 1.0, "1", None, np.array([1]), np.float64(2.0)])
def test_bad_actions(action: Any) -> None:
    env = RLSEnv(Setting(8))
    env.reset(seed=1)
    with pytest.raises(InputError, match="an action is a whole number"):
        env.step(action)


@pytest.mark.parametrize("action", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_good_actions(action: Any) -> None:
    env = RLSEnv(Setting(8))
    env.reset(seed=1)
    assert env.step(action)[4]["k"] == 4


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_bad_seeds(seed: Any) -> None:
    with pytest.raises(Error):
        RLSEnv(Setting(8)).reset(seed=seed)


def test_order_of_calls() -> None:
    env = RLSEnv(Setting(1, portfolio=[1]), instances=[Instance(start=(0, 0))])
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=1)
    assert env.step(0)[2]
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset()
    env.close()
    env.close()
    for call in (lambda: env.step(0), env.reset):
        with pytest.raises(ClosedEnvironmentError):
            call()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"observation": "floats"}, "unknown observation"),
        ({"reward": "minus-iteration"}, "Did you mean 'minus-iterations'"),
        ({"clock": "seconds"}, "unknown clock"),
        ({"instance_order": "random"}, "unknown instance_order"),
        ({"stochasticity": 1.5}, "stochasticity lies in 0..1"),
        ({"stochasticity": float("nan")}, "stochasticity must be a finite number"),
        ({"reward_scale": "2"}, "reward_scale must be a finite number"),
        ({"max_iterations": 0}, "max_iterations must be None or a whole number"),
        ({"max_iterations": 2.5}, "max_iterations must be None or a whole number"),
        ({"render_mode": "human"}, "nothing is rendered"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RLSEnv(Setting(8), **options)


def test_bad_setting_and_reset_options() -> None:
    with pytest.raises(InputError, match="needs setting="):
        RLSEnv(8)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="takes no options"):
        RLSEnv(Setting(8)).reset(options={"start": 3})


def test_the_mask_can_be_left_out() -> None:
    env = RLSEnv(Setting(8), action_mask=False)
    assert set(env.reset(seed=1)[1]) == {"k", "lo", "om", "iterations"}
    assert set(env.step(1)[4]) == {"k", "lo", "om", "iterations"}
