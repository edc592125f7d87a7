r"""Proximal policy optimisation of Stable-Baselines3 by the clock of events.

Radii above :math:`n - LO`, which never leave a state, get so small a logit that their probability and gradient are 0.
Rewards are shaped by the exactly known remaining time of k = 1 (:class:`kflip.learn.events.Events`), so the critic only
has to learn what a policy gains on it.  A random policy would spend its budget waiting for large radii, therefore the
policy begins cautiously.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.policies import ActorCriticPolicy

from kflip._typing import RadiusArray
from kflip.learn.deep import Curve, DeepLearner, Shots
from kflip.learn.events import Events, Facts, Lookup
from kflip.setting import Setting

#: Logit of a radius that is never to be drawn; an infinite one would make the gradient of the entropy undefined.
_NEVER = -1e8


@dataclass(frozen=True)
class PPO(DeepLearner):
    """Masked proximal policy optimisation by events, with shaped rewards.

    Parameters
    ----------
    environments, steps
        Environments stepped together, and steps of each between two improvements of the policy.
    cap
        Most steps of all environments together; training ends there even if budget is left.
    epochs, batch_size, width, learning_rate
        Passes over the collected steps, steps in a gradient, neurons of each of two layers, and the rate at the
        beginning, which falls to 0.
    entropy, smoothing
        Weight of the entropy, and the lambda of generalised advantages.
    caution
        The policy begins near probabilities proportional to ``k ** -caution``.
    """

    name: str = "ppo"
    environments: int = 64
    steps: int = 16
    cap: int = 200_000
    epochs: int = 5
    batch_size: int = 256
    width: int = 64
    learning_rate: float = 1e-3
    entropy: float = 0.003
    smoothing: float = 0.9
    caution: float = 2.0

    version: ClassVar[int] = 1

    def practise(self, setting: Setting, marks: Sequence[int], seed: int, shots: Shots) -> None:
        """Learn until the cap is reached or a step would go over the budget."""
        facts = Facts(setting)
        agent = self._agent(facts, Events(facts, self.environments, marks[-1], shaped=True), seed)

        def radii() -> RadiusArray:
            choices, _ = agent.predict(facts.states[:, None], deterministic=True)
            return facts.table(choices)

        curve = Curve(setting, marks, radii, shots)
        agent.learn(self.cap, curve, log_interval=None)
        curve.finish()

    def _agent(self, facts: Facts, events: Events, seed: int) -> Any:
        table = np.concatenate([facts.features, facts.allowed], axis=1, dtype=np.float32)
        agent = stable_baselines3.PPO(
            MaskedPolicy,
            events,
            learning_rate=lambda remaining: self.learning_rate * min(remaining, 1.0 - events.spent / events.budget),
            n_steps=self.steps,
            batch_size=self.batch_size,
            n_epochs=self.epochs,
            gamma=1.0,
            gae_lambda=self.smoothing,
            ent_coef=self.entropy,
            policy_kwargs={
                "features_extractor_class": Lookup,
                "features_extractor_kwargs": {"table": table},
                "net_arch": [self.width] * 2,
            },
            seed=seed,
            device="cpu",
        )
        with torch.no_grad():
            agent.policy.action_net.bias.copy_(torch.from_numpy(-self.caution * np.log(facts.radii)))
        return agent


class MaskedPolicy(ActorCriticPolicy):  # type: ignore[misc]
    """Actor and critic whose last ``m`` features say which radii are allowed."""

    mlp_extractor: Any

    def _build_mlp_extractor(self) -> None:
        super()._build_mlp_extractor()
        self.mlp_extractor = MaskPassing(self.mlp_extractor, int(self.action_space.n))

    def _get_action_dist_from_latent(self, latent_pi: Any) -> Any:
        m = int(self.action_space.n)
        logits = self.action_net(latent_pi[:, :-m])
        return self.action_dist.proba_distribution(logits.masked_fill(latent_pi[:, -m:] == 0.0, _NEVER))


class MaskPassing(torch.nn.Module):  # type: ignore[misc]
    """Hands the mask on to the action layer, beside what the actor's layers make of the features."""

    def __init__(self, layers: Any, m: int) -> None:
        super().__init__()
        self.layers, self.m = layers, m
        self.latent_dim_pi, self.latent_dim_vf = layers.latent_dim_pi, layers.latent_dim_vf

    def forward(self, features: Any) -> tuple[Any, Any]:
        """What the actor's and the critic's last layer get."""
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: Any) -> Any:
        """Shape (batch, width + m)."""
        return torch.cat([self.layers.forward_actor(features), features[:, -self.m :]], dim=1)

    def forward_critic(self, features: Any) -> Any:
        """Shape (batch, width)."""
        return self.layers.forward_critic(features)
