"""A checked request for an environment, in the form that the compiled steps read: shared by one and by many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from numbers import Integral, Real

import numpy as np
from gymnasium.spaces import Box, Discrete

from kflip._typing import FloatArray, IntArray
from kflip.envs.episodes import CYCLE, SAMPLE
from kflip.envs.instances import Beginning, InstanceLike, beginnings
from kflip.envs.observations import observation_space
from kflip.envs.records import INSTANCE, NOWHERE, Records
from kflip.envs.rewards import Reward, reward_named
from kflip.errors import InputError, unknown_word
from kflip.exact.levels import fold
from kflip.memory import require
from kflip.setting import Setting
from kflip.simulate.choices import BY_LO, BY_LO_OM, BY_STRING
from kflip.simulate.launch import NO_LIMIT, least_gain
from kflip.solution import Solution, solve

CLOCKS = ("iterations", "events")
ORDERS = {"cycle": CYCLE, "sample": SAMPLE}
SEEN = {"lo": BY_LO, "lo-om": BY_LO_OM, "bits": BY_STRING}


@dataclass(frozen=True)
class Options:
    """How an environment shows, counts and rewards; see :class:`kflip.envs.rls.RLSEnv`."""

    observation: str = "integer"
    observe_n: bool = False
    reward: str = "minus-iterations"
    reward_scale: float = 1.0
    reward_shift: float = 0.0
    clock: str = "iterations"
    stochasticity: float = 1.0
    max_iterations: int | None = None
    instances: Sequence[InstanceLike] | None = None
    instance_order: str = "cycle"
    ground_truth: bool = False
    action_mask: bool = True


class Model:
    """What an environment needs to run.

    Attributes
    ----------
    options
        The request.
    beginnings
        The checked instances.
    laws
        One record for each instance.
    radii
        Radius of every action, shape (instances, m), ascending.
    tables
        The flat array of :mod:`kflip.envs.records`.
    observation_space, action_space
        Those of one environment.
    """

    def __init__(self, setting: Setting, options: Options) -> None:
        if not isinstance(setting, Setting):
            raise InputError(f"an environment needs setting=kflip.Setting(...), not {setting!r}")
        reward = _check(options)
        self.options = options
        self.beginnings = beginnings(setting, options.instances)
        self.n_max = max(b.setting.n for b in self.beginnings)
        self.radii: IntArray = np.array([b.setting.radii for b in self.beginnings], dtype=np.int64)
        self.action_space = Discrete(self.radii.shape[1])
        self.observation_space: Box = observation_space(
            self.beginnings[0].setting, self.n_max, options.observation, options.observe_n
        )
        self._check_markov(reward)
        self.laws: Records = np.zeros(len(self.beginnings), dtype=INSTANCE)
        parts: list[FloatArray] = [np.ones(self.n_max + 1), 1.0 / np.arange(1.0, self.n_max + 2.0)]
        for law, beginning in zip(self.laws, self.beginnings, strict=True):
            self._fill(law, beginning, reward)
        if reward.needs_values:
            for law, beginning in zip(self.laws, self.beginnings, strict=True):
                self._add_tables(law, beginning.setting, parts)
        self.tables: FloatArray = np.concatenate(parts)

    @property
    def order(self) -> int:
        """Number of the order of instances."""
        return ORDERS[self.options.instance_order]

    @property
    def hopeless_is_refused(self) -> bool:
        """Whether a radius that never leaves its state cannot be waited for: no budget would end the wait."""
        return self.options.clock == "events" and self.options.max_iterations is None

    @cached_property
    def solutions(self) -> dict[Setting, Solution]:
        """Solutions of the instances' settings, as far as they were asked for."""
        return {}

    def solution(self, setting: Setting) -> Solution:
        """The solution of an instance's setting, computed once."""
        if setting not in self.solutions:
            self.solutions[setting] = solve(setting)
        return self.solutions[setting]

    def _check_markov(self, reward: Reward) -> None:
        setting = self.beginnings[0].setting
        asked = {
            "ground_truth=True": self.options.ground_truth,
            f"reward={self.options.reward!r}": reward.needs_values,
            "stochasticity below 1": self.options.stochasticity < 1.0,
        }
        if (setting.state, setting.objective) == ("lo", "loom") and any(asked.values()):
            what = next(word for word, wanted in asked.items() if wanted)
            raise InputError(
                f"{what} needs a Markov state, and LO alone is none of objective 'loom': use state 'lo-om'"
            )

    def _fill(self, law: np.void, beginning: Beginning, reward: Reward) -> None:
        setting, options = beginning.setting, self.options
        law["n"] = setting.n
        law["seen"] = SEEN[setting.state]
        law["least_gain"] = least_gain(setting)
        law["limit"] = NO_LIMIT if options.max_iterations is None else options.max_iterations
        law["start"] = beginning.kind
        law["start_lo"], law["start_om"], law["start_string"] = beginning.lo, beginning.om, beginning.string
        law["by_events"] = options.clock == "events"
        law["reward"] = reward.code
        law["normalised"] = options.observation == "normalised"
        law["width"] = self.n_max + 1
        law["values_at"] = law["behind_at"] = law["drops_at"] = NOWHERE
        law["scale"], law["shift"] = options.reward_scale, options.reward_shift
        law["stochasticity"] = options.stochasticity

    def _add_tables(self, law: np.void, setting: Setting, parts: list[FloatArray]) -> None:
        values = self.solution(setting).values
        if np.isinf(values).any():
            raise InputError(
                f"reward 'potential' needs finite values, but with the portfolio {setting.portfolio} the optimum cannot"
                " be reached for certain"
            )
        for other, beginning in zip(self.laws, self.beginnings, strict=True):
            if beginning.setting == setting and other["values_at"] != NOWHERE:
                for field in ("values_at", "behind_at", "drops_at", "top"):
                    law[field] = other[field]
                return
        law["values_at"] = sum(part.size for part in parts)
        law["top"] = np.nanmax(values)
        parts.append(np.nan_to_num(values.reshape(-1)))
        if self.options.stochasticity == 1.0:
            return
        place = sum(part.size for part in parts)
        if setting.state == "bits":
            size = values.size * len(setting.radii)
            require(8 * size, f"expected rewards of {setting}")
            law["drops_at"] = place
            parts.append(np.full(size, np.nan))
        else:
            law["behind_at"] = place
            parts.append(_behind_lo(values) if setting.state == "lo" else _behind_pairs(values))


def _behind_lo(values: FloatArray) -> FloatArray:
    """``W_i`` for every LO, shape (n,): the value behind an improvement, the suffix being uniform."""
    n = values.size - 1
    behind = np.zeros(n)
    for i in range(n - 2, -1, -1):
        behind[i] = 0.5 * values[i + 1] + 0.5 * behind[i + 1]
    return behind


def _behind_pairs(values: FloatArray) -> FloatArray:
    """``W_i(a)`` in row ``i`` of ``n`` entries, flat."""
    n = values.shape[0] - 1
    require(8 * n * n, "expected rewards")
    behind = np.zeros((n, n))
    W = np.zeros(n)
    for i in range(n - 1, -1, -1):
        fold(n - i - 1, i, values, W)
        behind[i, : n - i] = W[: n - i]
    return behind.reshape(-1)


def _check(options: Options) -> Reward:
    if options.clock not in CLOCKS:
        raise unknown_word("clock", options.clock, CLOCKS)
    if options.instance_order not in ORDERS:
        raise unknown_word("instance_order", options.instance_order, ORDERS)
    for name in ("reward_scale", "reward_shift", "stochasticity"):
        value = getattr(options, name)
        if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value):
            raise InputError(f"{name} must be a finite number, not {value!r}")
    if not 0.0 <= options.stochasticity <= 1.0:
        raise InputError(f"stochasticity lies in 0..1, not {options.stochasticity!r}")
    limit = options.max_iterations
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Integral) or not 1 <= limit <= NO_LIMIT):
        raise InputError(f"max_iterations must be None or a whole number in 1..2**62, not {limit!r}")
    return reward_named(options.reward)
