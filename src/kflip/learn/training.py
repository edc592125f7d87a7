r"""Training: a learner spends iterations, and its policy is scored exactly on the way.

A learner shows its policy at *marks*, evenly spaced over the budget.  Each is evaluated on the chain, raw and guarded
(:mod:`kflip.learn.score`), which gives the learning curve.  The final policy is the one at the end of the budget,
whatever the curve did before: picking the best point of an exact curve would use the truth to learn.

The area under the curve is the mean over the marks of :math:`\min(1, \text{guarded regret})`: 0 for a learner that is
optimal from the first mark on, 1 for one that always loses a whole optimal runtime or more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from kflip._typing import BoolArray, RadiusArray
from kflip.errors import InputError
from kflip.exact.sweeps import Progress
from kflip.learn.score import Score, guard, regret, runtimes, score
from kflip.policy import Policy, exists
from kflip.setting import Setting
from kflip.solution import Solution, solve

#: Points of a learning curve.
MARKS = 20


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A learner's policy at one time of its training.

    Attributes
    ----------
    iterations
        Spent so far; never above the budget.
    table
        Radius of every state, in the shape of the setting's policy table; entries without a state are ignored.
    left
        States seen to be left with the radius of the table so far, same shape.
    """

    iterations: int
    table: RadiusArray
    left: BoolArray


@dataclass(frozen=True)
class Point:
    """One point of a learning curve: exact regrets after so many iterations."""

    iterations: int
    regret: float
    guarded_regret: float


@dataclass(frozen=True, eq=False)
class Training:
    """What came out of one training.

    Attributes
    ----------
    setting, learner, seed, budget
        What was asked; the learner by its name.
    policy, left
        The final policy as it stands, and the states that training saw being left with its radius.
    spent
        Iterations used.
    score
        Its exact score.
    curve
        Exact regrets at the marks, the last being the final policy's.
    optimal_runtime
        Expected runtime of the optimal policy.
    """

    setting: Setting
    learner: str
    seed: int
    budget: int
    policy: Policy
    left: BoolArray
    spent: int
    score: Score
    curve: tuple[Point, ...]
    optimal_runtime: float

    @property
    def guarded(self) -> Policy:
        """The final policy with k = 1 in states never seen to be left with its radius."""
        return guard(self.setting, self.policy, self.left)

    @property
    def area(self) -> float:
        """Mean of the guarded regret over the curve, counted as 1 at most."""
        return float(np.mean([min(1.0, point.guarded_regret) for point in self.curve]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the policy."""
        return {
            "spent": self.spent,
            "optimal_runtime": self.optimal_runtime,
            "score": self.score.to_dict(),
            "area": self.area,
            "curve": [asdict(point) for point in self.curve],
        }


class Learner(ABC):
    """Something that learns a policy from iterations.

    Subclasses are frozen dataclasses: a ``name``, then their options, plain values that are kept in every record.
    ``version`` grows whenever the same options and seed would give another policy.
    """

    name: str
    version: ClassVar[int] = 1

    @abstractmethod
    def snapshots(self, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Learn, and show the policy at every mark: ascending numbers of iterations, the last being the budget.

        As many snapshots as marks, unless learning ends before; the last one holds the final policy.
        """

    def train(self, setting: Setting, budget: int, seed: int, *, progress: Progress | None = None) -> Training:
        """Learn within a budget of iterations and score the result exactly.

        Parameters
        ----------
        setting
            The benchmark.
        budget
            Iterations of the environment, at least :data:`MARKS`.
        seed
            A whole number, not negative; the same seed gives the same policy.
        progress
            Called with the finished fraction.
        """
        budget, seed = _whole("budget", budget, MARKS), _whole("seed", seed, 0)
        self.check(setting)
        best = solve(setting)
        curve: list[Point] = []
        last: Snapshot | None = None
        marks = [budget * j // MARKS for j in range(1, MARKS + 1)]
        for last in self.snapshots(setting, marks, seed):
            curve.append(_point(best, self._policy(setting, last), last))
            if progress is not None:
                progress(len(curve) / MARKS)
        if last is None:
            raise InputError(f"{self.name} showed no policy")
        policy = self._policy(setting, last)
        final = score(best, policy, last.left)
        return Training(
            setting, self.name, seed, budget, policy, last.left, last.iterations, final, tuple(curve),
            best.expected_runtime,
        )  # fmt: skip

    def check(self, setting: Setting) -> None:
        """Raise an error if this learner cannot be used on the setting."""
        if (setting.state, setting.objective) == ("lo", "loom"):
            raise InputError("LO alone is not a Markov state of objective 'loom': learn with state 'lo-om'")

    @property
    def options(self) -> dict[str, Any]:
        """The learner's parameters as plain values."""
        return {key: value for key, value in vars(self).items() if key != "name"} | {"version": self.version}

    def _policy(self, setting: Setting, snapshot: Snapshot) -> Policy:
        table = np.where(exists(setting.n, setting.state), snapshot.table, 0).astype(np.int64)
        return Policy(setting.n, setting.state, table, self.name)


def _point(best: Solution, policy: Policy, snapshot: Snapshot) -> Point:
    raw, safe = runtimes(best.setting, policy, snapshot.left)
    return Point(snapshot.iterations, regret(best, raw), regret(best, safe))


def _whole(what: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{what} must be a whole number of at least {least}, not {value!r}")
    return int(value)
