r"""A deep Q-network for this problem, on top of the one of Stable-Baselines3.

It differs in four things.  It acts by the clock of events, where a radius is repeated until the state changes.  Radii
above :math:`n - LO`, which never leave a state, are masked.  Costs are learned relative to what flipping one bit would
still need, :math:`Q(s, k) = V_1(s) \, (1 + f_\theta(s, k))`; after :math:`t` iterations from :math:`s` to :math:`s'`,

.. math:: f_\theta(s, k) \to \frac{t + V_1(s') \, (1 + f_{\bar\theta}(s', k'))}{V_1(s)} - 1, \qquad
          k' = \arg\min_k f_\theta(s', k),

with :math:`\bar\theta` a running mean of :math:`\theta` (double targets: van Hasselt, Guez and Silver, "Deep
reinforcement learning with double Q-learning", AAAI 2016).  The network begins at :math:`f = 0`, which is exact for
k = 1 under k = 1, and errors are of one size in all states.  Last, there are few states, so :math:`f` of all of them is
computed at once now and then: targets and actions are read from that table.

A step whose wait was cut off by the episode's limit goes on from where it stopped: it is a sample of flipping k bits
for that long and acting greedily behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from sys import maxsize
from typing import Any, ClassVar

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.utils import polyak_update

from kflip._typing import IntArray, RadiusArray
from kflip.learn.deep import Curve, DeepLearner, Shots
from kflip.learn.events import Events, Facts, Lookup
from kflip.setting import Setting

#: Relative costs above this are cut off, against rare waits of many times V_1: no such radius is a candidate.
_HIGHEST = 6.0


@dataclass(frozen=True)
class DQN(DeepLearner):
    """Masked double deep Q-network by events, relative to the value of k = 1.

    Parameters
    ----------
    environments
        Stepped together.
    updates, iterations_per_update
        Gradients in all: one for so many iterations of the budget, at most ``updates``, evenly spread.
    batch_size, width, learning_rate
        Steps in a gradient, neurons of each of two layers, rate at the beginning, which falls to 0.
    refresh, tau
        Gradients between two looks at all states (more if there are many states), and the weight of the present
        network in the running mean that is updated then.
    soft, temperature
        Share of the steps that draw a radius with probability proportional to ``exp(-f / temperature)``.
    wild
        Share of the steps, falling to 0, that draw radius k with probability proportional to ``1 / k``.
    memory
        Steps kept for learning.
    """

    name: str = "dqn"
    environments: int = 64
    updates: int = 6000
    iterations_per_update: int = 200
    batch_size: int = 512
    width: int = 128
    learning_rate: float = 2e-3
    refresh: int = 10
    tau: float = 0.1
    soft: float = 0.5
    temperature: float = 0.05
    wild: float = 0.02
    memory: int = 1_000_000

    version: ClassVar[int] = 1

    def practise(self, setting: Setting, marks: Sequence[int], seed: int, shots: Shots) -> None:
        """Learn until a step would go over the budget."""
        facts = Facts(setting)
        agent = MaskedDoubleDQN(self, facts, Events(facts, self.environments, marks[-1], shaped=False), seed)
        curve = Curve(setting, marks, agent.radii, shots)
        agent.learn(maxsize, curve, log_interval=None)
        curve.finish()


class MaskedDoubleDQN(stable_baselines3.DQN):  # type: ignore[misc]
    """The agent: Stable-Baselines3's loop and replay buffer; acting and learning are replaced.

    Parameters
    ----------
    options
        As the user gave them.
    facts
        Of the states.
    events
        The environments.
    seed
        Of all that is random.
    """

    def __init__(self, options: DQN, facts: Facts, events: Events, seed: int) -> None:
        self.own, self.facts, self.events = options, facts, events
        self.planned = min(options.updates, events.budget // options.iterations_per_update)
        self.refresh_every = max(options.refresh, facts.states.size // options.batch_size)
        self.one_bit = torch.from_numpy(facts.one_bit)
        self.scale = torch.where(self.one_bit > 0.0, self.one_bit, 1.0)  # a random start may be the optimum
        self.closed = torch.from_numpy(~facts.allowed[facts.states])
        self.log_weights = np.where(facts.allowed, -np.log(facts.radii), -np.inf)
        self.draws = np.random.default_rng(seed)
        super().__init__(
            "MlpPolicy",
            events,
            learning_rate=lambda remaining: options.learning_rate * remaining,
            buffer_size=min(options.memory, events.budget + events.num_envs),
            learning_starts=0,
            batch_size=options.batch_size,
            tau=options.tau,
            train_freq=1,
            policy_kwargs={
                "features_extractor_class": Lookup,
                "features_extractor_kwargs": {"table": facts.features},
                "net_arch": [options.width] * 2,
                "optimizer_kwargs": {"fused": True},
            },
            seed=seed,
            device="cpu",
        )
        for net in (self.q_net, self.q_net_target):
            torch.nn.init.zeros_(net.q_net[-1].weight)
            torch.nn.init.zeros_(net.q_net[-1].bias)
        self.refresh()

    def refresh(self) -> None:
        """Compute ``f`` of all states, and what the targets need: the worth of every state under double targets."""
        states = self.facts.states
        own, mean = self._relative_costs(self.q_net), self._relative_costs(self.q_net_target)
        self.costs = np.zeros(self.facts.allowed.shape, dtype=np.float32)
        self.costs[states] = own.numpy()
        ahead = mean.gather(1, own.argmin(dim=1, keepdim=True)).squeeze(1)
        self.worth = torch.zeros(self.facts.rows, dtype=torch.float64)
        self.worth[states] = self.one_bit[states] * (1.0 + ahead)

    def radii(self) -> RadiusArray:
        """The greedy policy of the running mean."""
        return self.facts.table(self._relative_costs(self.q_net_target).argmin(dim=1).numpy())

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """As many gradients as are due for the iterations spent."""
        due = int(self.planned * self.events.spent / self.events.budget)
        self._update_learning_rate(self.policy.optimizer)
        while self._n_updates < due:
            batch = self.replay_buffer.sample(batch_size)
            before, after = batch.observations.squeeze(1), batch.next_observations.squeeze(1)
            excess = self.worth[after] - batch.rewards.squeeze(1) - self.one_bit[before]
            targets = (excess / self.scale[before]).clamp(max=_HIGHEST).float()
            found = self.q_net(batch.observations).gather(1, batch.actions).squeeze(1)
            loss = torch.nn.functional.mse_loss(found, targets)
            self.policy.optimizer.zero_grad()
            loss.backward()
            self.policy.optimizer.step()
            self._n_updates += 1
            if self._n_updates % self.refresh_every == 0:
                polyak_update(self.q_net.parameters(), self.q_net_target.parameters(), self.tau)
                self.refresh()

    def _relative_costs(self, net: Any) -> Any:
        """``f`` of all states, infinite for masked radii, shape (s, m)."""
        with torch.no_grad():
            return net(torch.from_numpy(self.facts.states)[:, None]).masked_fill_(self.closed, torch.inf)

    def _sample_action(
        self, learning_starts: int, action_noise: Any = None, n_envs: int = 1
    ) -> tuple[IntArray, IntArray]:
        rows = self._last_obs[:, 0]
        costs = self.costs[rows]
        # the largest of logarithmic weights plus Gumbel noise is a draw with these weights
        noise = self.draws.gumbel(size=costs.shape)
        coin = self.draws.random(n_envs)
        wild = coin < self.own.wild * self._current_progress_remaining
        soft = coin > 1.0 - self.own.soft
        actions = costs.argmin(axis=1)
        actions[soft] = (noise[soft] - costs[soft] / self.own.temperature).argmax(axis=1)
        actions[wild] = (noise[wild] + self.log_weights[rows[wild]]).argmax(axis=1)
        return actions, actions

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        self._current_progress_remaining = 1.0 - self.events.spent / self.events.budget

    def _on_step(self) -> None:
        """Neither a rate of exploration nor a target network changes with the steps."""
