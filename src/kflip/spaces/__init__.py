"""State spaces: what the policy sees, one module each, behind one interface.

Every module has the functions of :class:`Space`; :data:`SPACES` is the only place that maps a setting's state to them.
"""

from __future__ import annotations

from typing import Any, Protocol

from kflip._typing import FloatArray
from kflip.exact.sweeps import Progress
from kflip.policy import AnyPolicy, Policy
from kflip.setting import Setting
from kflip.spaces import bits, lo, lo_om
from kflip.spaces.results import BellmanCheck, Moments, Optimum

__all__ = ["SPACES", "BellmanCheck", "Moments", "Optimum", "Space"]


class Space(Protocol):
    """The computations that every state space offers."""

    def kernels(self, setting: Setting) -> tuple[Any, Any]:
        """The compiled functions behind ``solve`` and ``moments``, whose first compilation is worth announcing."""

    def solve(self, setting: Setting, progress: Progress | None) -> Optimum:
        """Optimal policy and values."""

    def moments(self, setting: Setting, policy: AnyPolicy, progress: Progress | None) -> Moments:
        """Mean and variance under a policy, states where a run may never finish infinite."""

    def times(self, setting: Setting, values: FloatArray, index: tuple[int, ...]) -> FloatArray:
        """Time with each radius of the portfolio in one state, used until the state changes, shape (m,)."""

    def check(self, setting: Setting, values: FloatArray, policy: Policy, progress: Progress | None) -> BellmanCheck:
        """Compare values with the Bellman equation in every state and for every radius."""


SPACES: dict[str, Space] = {"lo": lo, "lo-om": lo_om, "bits": bits}
