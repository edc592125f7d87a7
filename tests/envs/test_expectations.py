"""Mean rewards of every state and radius against sums over the exact law."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kflip
from kflip.envs import Instance, RLSEnv
from kflip.errors import InputError
from kflip.objectives import bits_of
from kflip.setting import Setting
from tests.envs.oracle import KINDS, REWARDS, mean_reward, setting_of, states_of


def _start(setting: Setting, state: Any) -> Instance:
    return Instance(start=bits_of(state, setting.n) if setting.state == "bits" else state)


def _mean_rewards(setting: Setting, clock: str, reward: str, limit: int | None) -> dict[tuple[Any, int], float]:
    """The reward of the first step with stochasticity 0, for every state and radius that can leave it."""
    states = states_of(setting)
    env = RLSEnv(
        setting,
        clock=clock,
        reward=reward,
        max_iterations=limit,
        stochasticity=0.0,
        instances=[_start(setting, state) for state in states],
    )
    found: dict[tuple[Any, int], float] = {}
    for action in range(setting.n):
        for j, state in enumerate(states):
            _, info = env.reset(seed=action if j == 0 else None)
            assert info["instance"] == j
            if info["action_mask"][action]:
                found[state, action + 1] = env.step(action)[1]
    return found


@pytest.mark.parametrize("reward", REWARDS)
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
@pytest.mark.parametrize(("clock", "limit"), [("iterations", None), ("events", None), ("events", 7)])
def test_every_state_and_radius(kind: tuple[str, str, str], reward: str, clock: str, limit: int | None) -> None:
    setting = setting_of(kind, 5)
    values = kflip.solve(setting).values
    found = _mean_rewards(setting, clock, reward, limit)
    exact = {key: mean_reward(setting, values, *key, clock, reward, limit) for key in found}
    assert len(found) == sum(5 - (s[0] if isinstance(s, tuple) else _lo(setting, s)) for s in states_of(setting))
    np.testing.assert_allclose(list(found.values()), list(exact.values()), rtol=1e-11, atol=1e-11)


def _lo(setting: Setting, state: int) -> int:
    if setting.state == "lo":
        return state
    text = f"{state:05b}"
    return len(text) - len(text.lstrip("1"))


def test_an_optimal_step_earns_zero_potential_and_no_other_step_more() -> None:
    setting = Setting(12)
    best = kflip.solve(setting)
    env = RLSEnv(setting, reward="potential", stochasticity=0.0, ground_truth=True)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        if info["lo"] == setting.n:
            continue
        ties = best.optimal_radii(info["lo"], info["om"])
        for action in range(setting.n):
            env.reset(seed=seed)
            reward = env.step(action)[1]
            assert reward <= 1e-12
            assert (abs(reward) <= 1e-11) == (action + 1 in ties)


@pytest.mark.parametrize("n", [40, 97])
def test_potential_at_larger_sizes_is_minus_the_advantage(n: int) -> None:
    setting = Setting(n, "lo", "standard")
    best = kflip.solve(setting)
    env = RLSEnv(setting, reward="potential", stochasticity=0.0, instances=[Instance(start=(3, n // 2))])
    for k in (1, 2, 5, n // 3, n - 4):
        env.reset(seed=1)
        law = kflip.transitions(setting, (3, n // 2), k).next
        after = sum(float(p) * best.values[state] for state, p in law.items())
        assert env.step(k - 1)[1] == pytest.approx(best.values[3, n // 2] - 1 - after, abs=1e-9)


@pytest.mark.parametrize("options", [{"reward": "potential"}, {"stochasticity": 0.5}, {"ground_truth": True}])
def test_what_needs_a_markov_state_is_refused_without_one(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="Markov"):
        RLSEnv(Setting(6, "loom", state="lo"), **options)


def test_potential_needs_finite_values() -> None:
    with pytest.raises(InputError, match="finite"):
        RLSEnv(Setting(6, portfolio=[2, 3]), reward="potential")
