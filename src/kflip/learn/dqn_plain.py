r"""Deep Q-network of Stable-Baselines3 as it comes, on the environment as it comes: what one gets without thinking.

One iteration is one step, the reward is -1, nothing is masked, shaped or known.  Episodes are cut off at some length,
because a radius that cannot leave its state would never end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
import stable_baselines3

from kflip._typing import BoolArray, IntArray, RadiusArray
from kflip.envs import ENV_ID
from kflip.envs.sb3 import tabulate
from kflip.learn.deep import Curve, DeepLearner, Shots
from kflip.learn.events import episode_limit
from kflip.setting import Setting


class _StockCurve(Curve):
    """Counts iterations and states that were left in an environment of one step an iteration."""

    def __init__(self, setting: Setting, marks: Sequence[int], show: Any, shots: Shots) -> None:
        super().__init__(setting, marks, show, shots)
        self.spent = 0
        self.left: BoolArray = np.zeros((*setting.shape, len(setting.radii)), dtype=np.bool_)

    def seen(self) -> tuple[int, BoolArray]:
        """What was counted here."""
        return self.spent, self.left.reshape(-1, self.left.shape[-1])

    def _on_step(self) -> bool:
        self.spent -= round(float(self.locals["rewards"][0]))  # a start at the optimum takes no iteration
        before, info = self.model._last_obs[0], self.locals["infos"][0]
        after = info.get("terminal_observation", self.locals["new_obs"][0])
        if not np.array_equal(before, after):
            self.left[(*self._place(before), int(self.locals["actions"][0]))] = True
        return self.look()

    def _place(self, shown: np.ndarray[Any, Any]) -> tuple[int, ...]:
        n = self.setting.n
        if self.setting.state == "bits":
            bits: IntArray = shown.astype(np.int64)
            return (int(bits @ (1 << np.arange(n - 1, -1, -1))),)
        return tuple(round(float(part) * n) for part in shown)


@dataclass(frozen=True)
class PlainDQN(DeepLearner):
    """Stable-Baselines3's DQN with its own defaults.

    Parameters
    ----------
    cap
        Most iterations; training ends there even if budget is left.  The marks are then spread over the cap.
    """

    name: str = "dqn-plain"
    cap: int = 15_000

    version: ClassVar[int] = 1

    def practise(self, setting: Setting, marks: Sequence[int], seed: int, shots: Shots) -> None:
        """Learn for as many iterations as the budget or the cap allows."""
        steps = min(marks[-1], self.cap)
        env = gymnasium.make(ENV_ID, setting=setting, observation="normalised", max_iterations=episode_limit(setting.n))
        agent = stable_baselines3.DQN("MlpPolicy", env, buffer_size=steps, seed=seed, device="cpu")

        def show() -> RadiusArray:
            return tabulate(agent, env.unwrapped.model, setting).table  # type: ignore[attr-defined]

        curve = _StockCurve(setting, [mark * steps // marks[-1] for mark in marks], show, shots)
        agent.learn(steps, curve, log_interval=None)
        curve.finish()
