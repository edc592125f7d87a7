"""Environments for Gymnasium: one, or thousands stepped by one compiled call."""

from kflip.envs.instances import Instance
from kflip.envs.registration import ENV_ID, register
from kflip.envs.rewards import REWARDS
from kflip.envs.rls import RLSEnv
from kflip.envs.vector import RLSVectorEnv

__all__ = ["ENV_ID", "REWARDS", "Instance", "RLSEnv", "RLSVectorEnv", "register"]

register()
