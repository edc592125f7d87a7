"""What one iteration with any radius costs: the exact Q-values of a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import overload

import numpy as np

from kflip._typing import FloatArray
from kflip.analysis.request import known_policy
from kflip.errors import InputError
from kflip.evaluation import evaluate
from kflip.exact.advantages import action_values_of_level
from kflip.exact.lo_only import improvement_probability
from kflip.exact.sweeps import Progress, acceptance
from kflip.memory import require
from kflip.policy import AnyPolicy, PolicyLike, state_index
from kflip.rules import Rule
from kflip.setting import Setting


@dataclass(frozen=True, eq=False)
class ActionValues:
    """Expected runtime if this iteration uses radius k and the policy is followed afterwards; computed when asked for.

    Attributes
    ----------
    setting, policy
        What is followed.
    values
        Expected remaining runtime of every state under the policy, in the shape of its table.
    """

    setting: Setting
    policy: AnyPolicy
    values: FloatArray

    @property
    def radii(self) -> tuple[int, ...]:
        """The radii, in the order of the last axis of every result."""
        return self.setting.radii

    def level(self, lo: int) -> FloatArray:
        """All states with this LO, row ``om - lo``, shape ``(n - lo, m)``.

        Only one row at the optimum or if LO is all one sees.
        """
        n = self.setting.n
        (lo,) = state_index(n, "lo", lo, None, None)
        if lo == n:
            return np.zeros((1, len(self.radii)))
        if self.setting.state == "lo":
            return self._level_lo(lo)[None, :]
        mode = acceptance(self.setting.objective, self.setting.selection)
        return action_values_of_level(n, mode, np.array(self.radii, dtype=np.int64), self.values, lo)

    def at(self, lo: int, om: int | None = None) -> FloatArray:
        """One state, shape ``(m,)``: ``at(lo, om)``, or ``at(lo)`` if LO is all one sees."""
        if self.setting.state == "lo":
            if om is not None:
                raise InputError("this policy sees LO alone: name a state by its lo")
            return self.level(lo)[0]
        lo, om = state_index(self.setting.n, "lo-om", lo, om, None)
        return self.level(lo)[om - lo]

    def array(self) -> FloatArray:
        """All states at once, shape ``(*policy.table.shape, m)``; NaN where no state exists."""
        shape = (*self.setting.shape, len(self.radii))
        require(8 * int(np.prod(shape)), f"all action values of {self.setting}")
        result = np.full(shape, np.nan)
        for lo in range(self.setting.n + 1):
            rows = self.level(lo)
            if self.setting.state == "lo":
                result[lo] = rows[0]
            else:
                result[lo, lo : lo + len(rows)] = rows
        return result

    def _level_lo(self, lo: int) -> FloatArray:
        behind = 0.0
        for i in range(self.setting.n - 1, lo, -1):
            behind = 0.5 * self.values[i] + 0.5 * behind
        p = np.array([improvement_probability(self.setting.n, lo, k) for k in self.radii])
        here = self.values[lo]
        result = np.ones(p.size)
        result[p > 0.0] += p[p > 0.0] * behind
        result[p < 1.0] += (1.0 - p[p < 1.0]) * here
        return result

    def __repr__(self) -> str:
        return f"ActionValues({self.policy.name} on {self.setting})"


@overload
def action_values(
    setting: Setting, policy: PolicyLike | Rule, state: None = None, *, progress: Progress | None = None
) -> ActionValues: ...


@overload
def action_values(
    setting: Setting, policy: PolicyLike | Rule, state: tuple[int, int] | int, *, progress: Progress | None = None
) -> FloatArray: ...


def action_values(
    setting: Setting,
    policy: PolicyLike | Rule,
    state: tuple[int, int] | int | None = None,
    *,
    progress: Progress | None = None,
) -> ActionValues | FloatArray:
    """Expected runtime of one iteration with each radius of the portfolio, followed by the policy.

    Parameters
    ----------
    setting
        The benchmark, seeing ``"lo-om"``, or ``"lo"`` on objective ``"lo"``.
    policy
        Whatever :func:`kflip.evaluate` takes.
    state
        ``(lo, om)`` or ``lo`` for the array of one state, shape ``(m,)``; None for all states, as they are asked for.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> from kflip.setting import Setting
    >>> action_values(Setting(3), "one-bit", state=(0, 1))
    array([4.5, 4. , 4. ])
    """
    chosen = known_policy(setting, policy)
    if setting.state == "lo" and setting.objective == "loom":
        raise InputError(
            "LO alone is not a Markov state of objective 'loom', so it has no action values: use state 'lo-om'"
        )
    everything = ActionValues(setting, chosen, evaluate(setting, chosen, progress=progress).values)
    if state is None:
        return everything
    return everything.at(*state) if isinstance(state, tuple) else everything.at(state)
