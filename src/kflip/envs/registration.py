"""The environment's name in Gymnasium.  Entry points are text: they are imported by the first ``make``."""

from __future__ import annotations

import gymnasium

ENV_ID = "kflip/RLS-v0"


def register() -> None:
    """Make ``gymnasium.make(ENV_ID, setting=...)`` and ``gymnasium.make_vec(ENV_ID, ...)`` work."""
    if ENV_ID not in gymnasium.registry:
        gymnasium.register(
            ENV_ID,
            entry_point="kflip.envs.rls:RLSEnv",
            vector_entry_point="kflip.envs.vector:RLSVectorEnv",
            order_enforce=False,  # the environment itself refuses a step before a reset
        )
