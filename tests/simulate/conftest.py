"""What several of these tests need: a chi-square verdict, and the chain on bit strings by brute force."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from kflip.policy import Policy, StochasticPolicy, lift
from kflip.setting import Setting

Verdict = Callable[[NDArray[np.int64], NDArray[np.float64]], bool]


def _agrees(counts: NDArray[np.int64], law: NDArray[np.float64]) -> bool:
    if counts[law <= 1e-15].any():
        return False
    expected = law * counts.sum()
    rare = expected < 5
    pooled = [*counts[~rare], counts[rare].sum()], [*expected[~rare], expected[rare].sum()]
    statistic = sum((c - e) ** 2 / e for c, e in zip(*pooled, strict=True) if e > 0)
    cells = sum(e > 0 for e in pooled[1])
    return cells < 2 or bool(stats.chi2.sf(statistic, cells - 1) > 1e-4)


@pytest.fixture
def agrees() -> Verdict:
    """Whether counts are plausible under a law, at level 1e-4; what the law excludes must not have occurred."""
    return _agrees


class StringChain:
    """Transition matrix on all strings of a setting under a policy, from the definition: every set of k flips.

    Row and column ``x`` stand for the string of that integer, position 1 being the most significant bit.
    """

    def __init__(self, setting: Setting, policy: Policy | StochasticPolicy) -> None:
        self.n = n = setting.n
        full = lift(policy, "bits")
        self.matrix = np.zeros((2**n, 2**n))
        for x in range(2**n):
            if x == 2**n - 1:
                choices = {0: 1.0}
            elif isinstance(full, Policy):
                choices = {int(full.table[x]): 1.0}
            else:
                choices = dict(zip(full.radii.tolist(), full.probabilities[x].tolist(), strict=True))
            for k, weight in choices.items():
                flips = [sum(1 << j for j in chosen) for chosen in combinations(range(n), k)]
                for flip in flips:
                    y = x ^ flip if self._accepted(setting, x, x ^ flip) else x
                    self.matrix[x, y] += weight / len(flips)

    def lo_om(self, x: int) -> tuple[int, int]:
        text = f"{x:0{self.n}b}"
        return len(text) - len(text.lstrip("1")), text.count("1")

    def _accepted(self, setting: Setting, parent: int, child: int) -> bool:
        old, new = self.lo_om(parent), self.lo_om(child)
        if setting.objective == "lo":
            old, new = old[:1], new[:1]  # type: ignore[assignment]
        return new > old or (new == old and setting.selection == "standard")

    def runtime_law(self, start: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
        """P[T = t] for t = 0..longest-1, and P[T >= longest] last."""
        mass, finished = start, []
        for _ in range(longest):
            finished.append(mass[-1])
            mass = mass @ self.matrix
        return np.append(np.diff(finished, prepend=0.0), 1 - finished[-1])

    def state_law(self, start: NDArray[np.float64], t: int) -> NDArray[np.float64]:
        """P[(LO, OM) = (i, j) after t iterations], shape (n+1, n+1)."""
        mass = start @ np.linalg.matrix_power(self.matrix, t)
        law = np.zeros((self.n + 1, self.n + 1))
        for x in range(2**self.n):
            law[self.lo_om(x)] += mass[x]
        return law


@pytest.fixture
def string_chain() -> Callable[[Setting, Policy | StochasticPolicy], StringChain]:
    return StringChain
