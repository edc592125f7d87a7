"""Real runs: on bit strings, or with the same law in (LO, OM)."""

from kflip.simulate.launch import simulate
from kflip.simulate.runs import Runs, Trajectories, Trajectory

__all__ = ["Runs", "Trajectories", "Trajectory", "simulate"]
