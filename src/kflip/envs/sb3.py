"""Stable-Baselines3: the exact performance of a policy while it is being trained.

A policy that has learned to act on what the environment shows is a table: one prediction for all states at once gives
its radii, and :func:`kflip.evaluate` their expected runtime, without a single evaluation episode and without noise.

This module needs Stable-Baselines3; the rest of kflip does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from kflip.envs.model import Model
from kflip.envs.observations import observations_of_states
from kflip.errors import InputError
from kflip.evaluation import evaluate
from kflip.policy import Policy, exists
from kflip.setting import Setting


def tabulate(agent: Any, world: Model, setting: Setting) -> Policy:
    """The deterministic policy of an agent as a table, by one batch of predictions.

    Parameters
    ----------
    agent
        Anything with Stable-Baselines3's ``predict``.
    world
        The ``model`` of the environment it acts in, which knows how states are shown.
    setting
        Which of the environment's settings to tabulate.
    """
    shown = observations_of_states(setting, world.n_max, world.options.observation, world.options.observe_n)
    normalise = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalise is not None:
        shown = normalise.normalize_obs(shown)
    actions, _ = agent.predict(shown, deterministic=True)
    table = np.zeros(setting.shape, dtype=np.int64)
    table[exists(setting.n, setting.state)] = np.array(setting.radii)[np.asarray(actions, dtype=np.int64)]
    return Policy(setting.n, setting.state, table, type(agent).__name__)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A policy at one time of the training; with several settings, the mean over them and the first one's policy.

    ``expected_runtime`` and ``regret`` are exact, and infinite if the policy may never reach the optimum.
    """

    timesteps: int
    expected_runtime: float
    regret: float
    policy: Policy


class ExactEvaluationCallback(BaseCallback):  # type: ignore[misc]
    """Evaluate the current policy exactly, every so many calls and at the end of the training.

    Records ``kflip/expected_runtime``, ``kflip/regret`` and ``kflip/best_regret``.

    Parameters
    ----------
    every
        Calls of the environment's ``step`` between two evaluations, at least 1.
    verbose
        As in Stable-Baselines3: 1 prints a line for each evaluation.

    Attributes
    ----------
    history
        All snapshots, oldest first.
    best, last
        The snapshot with the smallest regret so far (the earlier of equals), and the latest; None before the first.
    """

    def __init__(self, every: int = 1000, verbose: int = 0) -> None:
        super().__init__(verbose)
        if every < 1:
            raise InputError(f"every must be at least 1, not {every}")
        self.every = every
        self.history: list[Snapshot] = []
        self.best: Snapshot | None = None

    @property
    def last(self) -> Snapshot | None:
        """The latest snapshot."""
        return self.history[-1] if self.history else None

    def evaluate_now(self) -> Snapshot:
        """Evaluate the current policy and record it."""
        found = [(policy, evaluate(setting, policy)) for setting, policy in self._policies()]
        snapshot = Snapshot(
            self.num_timesteps,
            float(np.mean([evaluation.expected_runtime for _, evaluation in found])),
            float(np.mean([evaluation.regret for _, evaluation in found])),
            found[0][0],
        )
        self.history.append(snapshot)
        if self.best is None or snapshot.regret < self.best.regret:
            self.best = snapshot
        self.logger.record("kflip/expected_runtime", snapshot.expected_runtime)
        self.logger.record("kflip/regret", snapshot.regret)
        self.logger.record("kflip/best_regret", self.best.regret)
        if self.verbose:
            print(f"{snapshot.timesteps} steps: expected runtime {snapshot.expected_runtime:.6g},", end=" ")
            print(f"regret {snapshot.regret:.4%}, best {self.best.regret:.4%}")
        return snapshot

    def _policies(self) -> list[tuple[Setting, Policy]]:
        settings = dict.fromkeys(beginning.setting for beginning in self._world.beginnings)
        return [(setting, tabulate(self.model, self._world, setting)) for setting in settings]

    def _init_callback(self) -> None:
        world = self.training_env.get_attr("model")[0]
        if not isinstance(world, Model):
            raise InputError("exact evaluation needs an environment made by gymnasium.make('kflip/RLS-v0', ...)")
        self._world = world

    def _on_step(self) -> bool:
        if self.n_calls % self.every == 0:
            self.evaluate_now()
        return True

    def _on_training_end(self) -> None:
        if self.last is None or self.last.timesteps != self.num_timesteps:
            self.evaluate_now()
