"""Answers for a few bits by enumeration: optimal values in fractions, chains by dense linear algebra."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def fitness(n: int, objective: str, x: int) -> tuple[int, ...]:
    text = format(x, f"0{n}b")
    lo = len(text) - len(text.lstrip("1"))
    return (lo,) if objective == "lo" else (lo, text.count("1"))


@dataclass
class Strings:
    """All strings of a setting: ``moves[x][k]`` lists the accepted offspring of ``x`` at distance ``k``."""

    n: int
    objective: str
    selection: str

    def __post_init__(self) -> None:
        n, size = self.n, 1 << self.n
        quality = [fitness(n, self.objective, x) for x in range(size)]
        self.moves: list[list[list[int]]] = [[[] for _ in range(n + 1)] for _ in range(size)]
        for x in range(size - 1):
            for y in range(size):
                if x != y and (quality[y] > quality[x] or (self.selection == "standard" and quality[y] == quality[x])):
                    self.moves[x][(x ^ y).bit_count()].append(y)

    def action_value(self, x: int, k: int, values: Iterable[Fraction | float]) -> Fraction | float:
        known = list(values)
        accepted = [known[y] for y in self.moves[x][k]]
        if not accepted or inf in accepted:
            return inf
        total: Fraction | float = sum(accepted, start=Fraction(comb(self.n, k)))
        return total / len(accepted)

    def optimum(self, radii: Iterable[int]) -> tuple[list[Fraction | float], list[set[int]]]:
        """Optimal values and all optimal radii, by policy iteration on the strings that can be safe."""
        size, portfolio = 1 << self.n, list(radii)
        safe = set(range(size))
        while True:
            good, policy = {size - 1}, {}
            grown = True
            while grown:
                grown = False
                for x in sorted(safe - good):
                    for k in portfolio:
                        targets = self.moves[x][k]
                        if safe.issuperset(targets) and not good.isdisjoint(targets):
                            good.add(x)
                            policy[x] = k
                            grown = True
                            break
            if good == safe:
                break
            safe = good
        values: list[Fraction | float] = [Fraction(0) if x in safe else inf for x in range(size)]
        while True:
            for x, value in self._times(policy).items():
                values[x] = value
            improved = False
            for x in policy:
                quality = {k: self.action_value(x, k, values) for k in portfolio}
                best = min(portfolio, key=lambda k, quality=quality: quality[k])  # type: ignore[misc]
                if quality[best] < values[x]:
                    policy[x], improved = best, True
            if not improved:
                break
        ties = [
            {k for k in portfolio if x in policy and self.action_value(x, k, values) == values[x]} for x in range(size)
        ]
        return values, ties

    def _times(self, policy: dict[int, int]) -> dict[int, Fraction]:
        """Exact expected times of a policy that is sure to finish, by elimination."""
        order = sorted(policy)
        place = {x: i for i, x in enumerate(order)}
        rows: list[list[Fraction]] = []
        for x in order:
            targets = self.moves[x][policy[x]]
            row = [Fraction(0)] * (len(order) + 1)
            row[place[x]] += len(targets)
            row[-1] += comb(self.n, policy[x])
            for y in targets:
                if y in place:
                    row[place[y]] -= 1
            rows.append(row)
        for i, row in enumerate(rows):
            scale = row[i]
            rows[i] = row = [entry / scale for entry in row]
            for j, other in enumerate(rows):
                if j != i and other[i]:
                    factor = other[i]
                    rows[j] = [a - factor * b for a, b in zip(other, row, strict=True)]
        return {x: rows[place[x]][-1] for x in order}

    def moments(self, mix: Array) -> tuple[Array, Array]:
        """Mean and variance of the remaining time under ``mix[x, k]``, the probability of radius ``k`` at ``x``."""
        size = 1 << self.n
        chain = np.zeros((size, size))
        for x in range(size):
            for k, targets in enumerate(self.moves[x]):
                chain[x, targets] = mix[x, k] / comb(self.n, k)
            chain[x, x] = 1.0 - chain[x].sum()
        step = np.array([[bool(chain[x, y] > 0 or x == y) for y in range(size)] for x in range(size)])
        reach = step
        for _ in range(self.n):
            reach = (reach.astype(np.int64) @ reach.astype(np.int64)) > 0
        certain = np.asarray(~(reach & ~reach[:, -1][None, :]).any(axis=1))
        mean = np.where(certain, 0.0, inf)
        variance = mean.copy()
        certain[-1] = False
        inner = np.flatnonzero(certain)
        system = np.eye(inner.size) - chain[np.ix_(inner, inner)]
        mean[inner] = np.linalg.solve(system, np.ones(inner.size))
        ends = np.append(inner, size - 1)
        spread = np.square(1.0 + mean[ends][None, :] - mean[inner][:, None])
        variance[inner] = np.linalg.solve(system, (chain[np.ix_(inner, ends)] * spread).sum(axis=1))
        return mean, variance
