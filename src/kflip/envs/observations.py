"""What the policy sees: the state of the setting as whole numbers, or divided by ``n`` as floats.

``"lo"`` shows ``[LO]``, ``"lo-om"`` shows ``[LO, OM]`` and ``"bits"`` the bits, position 1 first.  With ``observe_n``
the length follows, normalised by the largest length of the environment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box

from kflip.errors import unknown_word
from kflip.objectives import bits_of
from kflip.policy import exists
from kflip.setting import Setting

OBSERVATIONS = ("integer", "normalised")


def observation_space(setting: Setting, n_max: int, observation: str, observe_n: bool) -> Box:
    """Space of one observation; ``n_max`` is the largest length among the instances."""
    if observation not in OBSERVATIONS:
        raise unknown_word("observation", observation, OBSERVATIONS)
    high = {"lo": [n_max], "lo-om": [n_max, n_max], "bits": [1] * setting.n}[setting.state]
    if observe_n:
        high = [*high, n_max]
    if observation == "normalised":
        return Box(0.0, 1.0, (len(high),), np.float32)
    top = np.array(high, dtype=np.int64)
    return Box(np.zeros_like(top), top, dtype=np.int64)


def observations_of_states(setting: Setting, n_max: int, observation: str, observe_n: bool) -> np.ndarray[Any, Any]:
    """Observations of all states with a policy, shape (states, size), in the order of ``numpy.argwhere(exists)``."""
    n = setting.n
    states = np.argwhere(exists(n, setting.state))
    seen = bits_of(states[:, 0], n) if setting.state == "bits" else states
    if observation == "integer":
        columns = [seen] + ([np.full((len(seen), 1), n)] if observe_n else [])
        return np.concatenate(columns, axis=1).astype(np.int64)
    scaled = seen if setting.state == "bits" else seen / n
    columns = [scaled] + ([np.full((len(seen), 1), n / n_max)] if observe_n else [])
    return np.concatenate(columns, axis=1).astype(np.float32)
