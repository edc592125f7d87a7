r"""The environments of the deep agents, and the facts that agents may know of their states.

A state is the number of its entry in the policy table, flattened.  All that an agent may know of the states is kept in
tables with one row for each: features, which radii can leave it (:math:`k \le n - LO`), and the exact remaining time
:math:`V_1` of always flipping one bit.  So an observation is one whole number, which a replay buffer stores cheaply,
and the network's first layer looks up a row of features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv

from kflip._typing import BoolArray, FloatArray, IntArray, RadiusArray
from kflip.envs import RLSVectorEnv
from kflip.learn.tabular import known_values
from kflip.objectives import bits_of, lo_om_of_all
from kflip.policy import exists
from kflip.setting import Setting

#: Shaped rewards below this are cut off; flipping one bit earns so little once in ``e**10`` steps.
_LOWEST = -10.0


def episode_limit(n: int) -> int:
    """Iterations after which an episode is cut off: some four times what flipping one bit needs on average."""
    return max(2 * n * n, 16)


class Facts:
    """What an agent may know of the states of a setting, before it learns.

    Attributes
    ----------
    states
        Numbers of the states that exist and are not optimal, shape (s,).
    lo, om
        Of every row, shape (rows,); for state ``"lo"``, OM is LO.
    allowed
        Whether a radius can leave the state, shape (rows, m); where none can, the smallest is allowed.
    one_bit
        Expected remaining time of k = 1, shape (rows,); 0 at the optimum and where no state exists.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        n = setting.n
        self.rows = int(np.prod(setting.shape))
        self.radii: IntArray = np.array(setting.radii, dtype=np.int64)
        self.states: IntArray = np.flatnonzero(exists(n, setting.state))
        number = np.arange(self.rows)
        if setting.state == "bits":
            self.lo, self.om = (part.astype(np.int64) for part in lo_om_of_all(n))
        else:
            self.lo, self.om = (number, number) if setting.state == "lo" else divmod(number, n + 1)
        self.allowed: BoolArray = self.radii <= (n - self.lo)[:, None]
        self.allowed[:, 0] = True
        self.one_bit: FloatArray = known_values(setting)

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Shape (rows, f): proportions and logarithms of LO, OM and of what lies behind, LO one-hot, and the bits."""
        n = self.setting.n
        behind = np.maximum(n - self.lo, 1)
        columns = [
            self.lo / n,
            self.om / n,
            (self.om - self.lo) / behind,
            np.log(behind) / np.log(n + 1),
            np.log(self.lo + 1) / np.log(n + 1),
            self.one_bit / self.one_bit.max(),
        ]
        blocks = [np.stack(columns, axis=1), np.eye(n + 1)[self.lo]]
        if self.setting.state == "bits":
            blocks.append(bits_of(np.arange(self.rows), n))
        return np.concatenate(blocks, axis=1).astype(np.float32)

    def rows_of(self, infos: dict[str, Any], observations: NDArray[Any]) -> IntArray:
        """Numbers of the states that an environment tells, shape (environments,)."""
        n = self.setting.n
        if self.setting.state == "bits":
            return np.asarray(observations.astype(np.int64) @ (1 << np.arange(n - 1, -1, -1)))
        lo = infos["lo"]
        return np.asarray(lo if self.setting.state == "lo" else lo * (n + 1) + infos["om"])

    def table(self, choices: IntArray) -> RadiusArray:
        """Policy table from the number of a radius for each of :attr:`states`."""
        table = np.zeros(self.rows, dtype=np.int64)
        table[self.states] = self.radii[choices]
        return table.reshape(self.setting.shape)


class Events(VecEnv):  # type: ignore[misc]
    r"""Many environments by the clock of events, within a common budget of iterations.

    The reward is minus the iterations of the step.  If ``shaped``, the potential :math:`-V_1` is added and the sum
    divided by ``n``: :math:`(V_1(s) - V_1(s') - t) / n`.  Such a term leaves every optimal policy optimal, and only
    uses what is known of k = 1.

    Attributes
    ----------
    spent
        Iterations so far, never above the budget.
    exhausted
        Whether the last step would have gone over the budget; it is neither counted nor to be learned from.
    left
        States seen to be left with each radius, shape (rows, m).
    """

    def __init__(self, facts: Facts, count: int, budget: int, *, shaped: bool) -> None:
        self.facts, self.budget, self.shaped = facts, budget, shaped
        self.worlds = RLSVectorEnv(
            facts.setting,
            count,
            autoreset_mode=AutoresetMode.SAME_STEP,
            clock="events",
            max_iterations=episode_limit(facts.setting.n),
            action_mask=False,
        )
        self.spent = 0
        self.exhausted = False
        self.left: BoolArray = np.zeros(facts.allowed.shape, dtype=np.bool_)
        self._now: IntArray = np.zeros(count, dtype=np.int64)
        space = Box(0, facts.rows - 1, (1,), np.int64)
        super().__init__(count, space, self.worlds.single_action_space)

    def reset(self) -> IntArray:
        """Begin all episodes."""
        observations, infos = self.worlds.reset(seed=self._seeds[0])
        self._now = self.facts.rows_of(infos, observations)
        return self._now[:, None]

    def step_async(self, actions: IntArray) -> None:
        """Keep the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[IntArray, FloatArray, BoolArray, list[dict[str, Any]]]:
        """Step all environments by one compiled call."""
        facts, before = self.facts, self._now
        observations, rewards, terminated, truncated, told = self.worlds.step(self._actions)
        self._now = after = facts.rows_of(told, observations)
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        ended = terminated | truncated
        if ended.any():
            after = after.copy()
            places = np.flatnonzero(ended)
            final = {key: told["final_info"][key][places] for key in ("lo", "om")}
            after[places] = facts.rows_of(final, np.stack(list(told["final_obs"][places])))
            for j in places:
                infos[j] = {"terminal_observation": after[j : j + 1], "TimeLimit.truncated": bool(truncated[j])}
        spent = self.spent - int(rewards.sum())
        self.exhausted = spent > self.budget
        if not self.exhausted:
            self.spent = spent
            moved = after != before
            self.left[before[moved], self._actions[moved]] = True
        if self.shaped:
            gains = rewards + facts.one_bit[before] - facts.one_bit[after]
            rewards = np.maximum(gains / facts.setting.n, _LOWEST)
        return self._now[:, None], rewards, ended, infos

    def close(self) -> None:
        """Let the environments go."""
        self.worlds.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments, which is the same for all."""
        return [getattr(self.worlds, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the environments share their attributes."""
        raise AttributeError(f"{attr_name} cannot be set for single environments")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refused: there are no single environments."""
        raise AttributeError(f"{method_name} cannot be called for single environments")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


class Lookup(BaseFeaturesExtractor):  # type: ignore[misc]
    """Features of a state by its number."""

    def __init__(self, observation_space: Box, table: NDArray[np.float32]) -> None:
        super().__init__(observation_space, table.shape[1])
        self.register_buffer("table", torch.from_numpy(table), persistent=False)

    def forward(self, observations: Any) -> Any:
        """Rows of the table, shape (batch, f)."""
        return self.table[observations.long().squeeze(1)]
