r"""The time a sweep still needs, from the tasks that are done.

Methods differ in cost by orders of magnitude, and the large benchmarks come last.  A task is therefore expected to take
as long as those of the same method, n and budget did on average.  If none is done yet, the method's other tasks count,
scaled by the root of the budget: between learners that use all of it and those that stop at a number of steps.  If the
method is new, all methods count.  With :math:`c_t` for the task :math:`t`,

.. math:: \text{left} = \max\Bigl(\max_t c_t, \tfrac1w \sum_t c_t\Bigr)

over the tasks not done, when :math:`w` of them run at a time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from math import sqrt

from kflip.sweep.tasks import Task

#: What tasks of similar cost share: method, n, budget.
Kind = tuple[str, int, int]


class Estimate:
    """Costs seen so far, and the tasks still to do."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._left = Counter(_kind(task) for task in tasks)
        self._of_kind: dict[Kind, _Mean] = defaultdict(_Mean)
        self._of_method: dict[str, _Mean] = defaultdict(_Mean)
        self._of_all = _Mean()

    def learn(self, task: Task, seconds: float) -> None:
        """Take the cost of a finished task into account, also one of an earlier sweep."""
        self._of_kind[_kind(task)].add(seconds, 1.0)
        self._of_method[task.method].add(seconds, sqrt(task.budget))
        self._of_all.add(seconds, sqrt(task.budget))

    def drop(self, task: Task) -> None:
        """Count a task as no longer to do."""
        self._left[_kind(task)] -= 1

    def seconds_left(self, width: int) -> float | None:
        """Seconds until all is done with ``width`` tasks at a time; None if nobody knows."""
        kinds = [(kind, count) for kind, count in self._left.items() if count > 0]
        if not kinds:
            return 0.0
        if width < 1 or not self._of_all.weight:
            return None
        costs = [(self._cost(kind), count) for kind, count in kinds]
        return max(*(cost for cost, _ in costs), sum(cost * count for cost, count in costs) / width)

    def _cost(self, kind: Kind) -> float:
        method, _, budget = kind
        if kind in self._of_kind:
            return self._of_kind[kind].mean
        known = self._of_method.get(method, self._of_all)
        return known.mean * sqrt(budget)


class _Mean:
    """Seconds per unit."""

    def __init__(self) -> None:
        self.seconds = self.weight = 0.0

    def add(self, seconds: float, weight: float) -> None:
        self.seconds += seconds
        self.weight += weight

    @property
    def mean(self) -> float:
        return self.seconds / self.weight


def _kind(task: Task) -> Kind:
    return task.method, task.setting.n, task.budget
