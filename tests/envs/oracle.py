"""Mean rewards and returns by brute force: from the exact law of one iteration, term by term."""

from __future__ import annotations

from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kflip
from kflip.policy import Policy, exists
from kflip.setting import Setting

#: Every combination of what is maximised, how it is selected and what is seen, that has a Markov state.
KINDS = [
    ("loom", "standard", "lo-om"),
    ("loom", "strict", "lo-om"),
    ("lo", "strict", "lo-om"),
    ("lo", "standard", "lo-om"),
    ("lo", "strict", "lo"),
    ("lo", "standard", "lo"),
    ("loom", "standard", "bits"),
    ("loom", "strict", "bits"),
    ("lo", "strict", "bits"),
    ("lo", "standard", "bits"),
]

REWARDS = ("minus-iterations", "improvement-minus-iterations", "improvement-over-iterations", "potential")


def setting_of(kind: tuple[str, str, str], n: int, portfolio: Any = "full") -> Setting:
    objective, selection, state = kind
    return Setting(n, objective, selection, state, portfolio)


def states_of(setting: Setting) -> list[Any]:
    """All states but the optimum, as ``kflip.transitions`` names them."""
    rows = np.argwhere(exists(setting.n, setting.state)).tolist()
    return [tuple(row) if setting.state == "lo-om" else row[0] for row in rows]


def optimum_of(setting: Setting) -> Any:
    return {"lo": setting.n, "lo-om": (setting.n, setting.n), "bits": 2**setting.n - 1}[setting.state]


def lo_of(setting: Setting, state: Any) -> int:
    if setting.state == "bits":
        text = f"{state:0{setting.n}b}"
        return len(text) - len(text.lstrip("1"))
    return int(state[0] if setting.state == "lo-om" else state)


def earned(reward: str, iterations: int, gain: int, drop: float) -> float:
    if reward == "minus-iterations":
        return -float(iterations)
    if reward == "improvement-minus-iterations":
        return float(gain - iterations)
    if reward == "improvement-over-iterations":
        return gain / iterations
    return drop - iterations


def mean_reward(
    setting: Setting, values: NDArray[np.float64], state: Any, k: int, clock: str, reward: str, left: int | None
) -> float:
    """Mean over the next states and, by the clock of events, over every possible waiting time."""
    law = {target: float(p) for target, p in kflip.transitions(setting, state, k).next.items()}
    here = lo_of(setting, state)

    def mean(iterations: int, targets: dict[Any, float]) -> float:
        return sum(
            p * earned(reward, iterations, lo_of(setting, t) - here, float(values[state] - values[t]))
            for t, p in targets.items()
        )

    if clock == "iterations":
        return mean(1, law)
    stay = law.pop(state, 0.0)
    leave = sum(law.values())
    if left is not None:
        waits = sum(stay ** (g - 1) * mean(g, law) for g in range(1, left + 1))
        return waits + stay**left * earned(reward, left, 0, 0.0)
    after = {t: p / leave for t, p in law.items()}
    if reward == "improvement-over-iterations":
        return mean(1, after) * (1.0 if stay == 0 else -leave * log(leave) / stay)
    return mean(0, after) - 1.0 / leave


def expected_return(setting: Setting, policy: Policy, clock: str, reward: str) -> float:
    """Mean return from a uniformly random string without budget, by one linear solve."""
    states = states_of(setting)
    values = kflip.solve(setting).values
    place = {state: j for j, state in enumerate(states)}
    matrix, right = np.eye(len(states)), np.zeros(len(states))
    for state, j in place.items():
        k = int(policy.table[state])
        law = {t: float(p) for t, p in kflip.transitions(setting, state, k).next.items()}
        leave = 1.0 - law.get(state, 0.0) if clock == "events" else 1.0
        for target, p in law.items():
            if target in place and not (clock == "events" and target == state):
                matrix[j, place[target]] -= p / leave
        right[j] = mean_reward(setting, values, state, k, clock, reward, None)
    returns = np.linalg.solve(matrix, right)
    total = 0.0
    for x in range(2**setting.n - 1):
        text = f"{x:0{setting.n}b}"
        lo, om = len(text) - len(text.lstrip("1")), text.count("1")
        total += returns[place[{"lo": lo, "lo-om": (lo, om), "bits": x}[setting.state]]]
    return total / 2**setting.n


def some_policy(setting: Setting, seed: int) -> Policy:
    """A radius drawn for every state among those that can leave it."""
    rng = np.random.default_rng(seed)
    table = np.zeros(setting.shape, dtype=np.int64)
    for state in states_of(setting):
        table[state] = rng.integers(1, setting.n - lo_of(setting, state) + 1)
    return Policy(setting.n, setting.state, table)


def actions_for(setting: Setting, policy: Policy, observations: NDArray[Any]) -> NDArray[np.int64]:
    """Numbers of the policy's radii in the full portfolio, from integer observations; 0 at the optimum."""
    if setting.state == "bits":
        place: tuple[Any, ...] = (observations @ (1 << np.arange(setting.n - 1, -1, -1)),)
    else:
        place = tuple(observations.T)
    return np.maximum(policy.table[place].astype(np.int64) - 1, 0)
