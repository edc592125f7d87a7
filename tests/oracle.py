"""Independent answers for small n: dense matrices counted out from the exact one-step laws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kflip

Matrix = NDArray[np.float64]


@dataclass
class Dense:
    """All states of a setting and one transition matrix per radius; the optimum is the last state."""

    states: list[Any]
    matrices: dict[int, Matrix]

    @classmethod
    def of(cls, setting: kflip.Setting) -> Dense:
        n = setting.n
        if setting.state == "lo":
            states: list[Any] = list(range(n + 1))
        elif setting.state == "lo-om":
            states = [(lo, om) for lo in range(n) for om in range(lo, n)] + [(n, n)]
        else:
            states = list(range(2**n))
        index = {state: number for number, state in enumerate(states)}
        matrices = {}
        for k in setting.radii:
            matrix = np.zeros((len(states), len(states)))
            for state in states[:-1]:
                for target, chance in kflip.transitions(setting, state, k).next.items():
                    matrix[index[state], index[target]] += float(chance)
            matrix[-1, -1] = 1.0
            matrices[k] = matrix
        return cls(states, matrices)

    def chain(self, weights: list[dict[int, float]]) -> Matrix:
        """Transition matrix of a policy given as one distribution over radii per state but the last."""
        size = len(self.states)
        matrix = np.zeros((size, size))
        for s, row in enumerate(weights):
            for k, share in row.items():
                matrix[s] += share * self.matrices[k][s]
        matrix[-1, -1] = 1.0
        return matrix

    def moments(self, chain: Matrix) -> tuple[Matrix, Matrix]:
        """Mean and variance of the time to the last state; inf where it may never be reached."""
        size = len(self.states)
        reach = np.linalg.matrix_power((chain > 0) | np.eye(size, dtype=bool), size).astype(bool)
        finishes = reach[:, -1]
        certain = ~(reach & ~finishes[None, :]).any(axis=1)
        certain[-1] = False
        mean = np.where(certain, 0.0, np.inf)
        variance = mean.copy()
        mean[-1] = variance[-1] = 0.0
        inner = chain[np.ix_(certain, certain)]
        system = np.eye(inner.shape[0]) - inner
        if inner.shape[0]:
            mean[certain] = np.linalg.solve(system, np.ones(inner.shape[0]))
            second = np.linalg.solve(system, 2.0 * mean[certain] - 1.0)
            variance[certain] = second - mean[certain] ** 2
        return mean, variance

    def optimum(self) -> Matrix:
        """Optimal values by policy iteration over all radii, after removing states that cannot be safe."""
        size = len(self.states)
        safe = np.ones(size, dtype=bool)
        while True:
            # from a safe state some radius keeps to safe states, and a chain of such radii reaches the optimum
            good = np.zeros(size, dtype=bool)
            good[-1] = True
            policy = dict.fromkeys(range(size), 0)
            grown = True
            while grown:
                grown = False
                for s in np.flatnonzero(safe & ~good):
                    for k, matrix in self.matrices.items():
                        targets = matrix[s] > 0
                        if safe[targets].all() and good[targets].any():
                            good[s], policy[int(s)], grown = True, k, True
                            break
            if (good == safe).all():
                break
            safe = good
        values = np.where(safe, 0.0, np.inf)
        inner = np.flatnonzero(safe[:-1])
        while inner.size:
            rows = np.array([self.matrices[policy[int(s)]][s] for s in inner])
            values[inner] = np.linalg.solve(np.eye(inner.size) - rows[:, inner], np.ones(inner.size))
            changed = False
            for s in inner:
                for k, matrix in self.matrices.items():
                    targets = matrix[s] > 0
                    if safe[targets].all():
                        time = 1.0 + matrix[s][targets] @ values[targets]
                        if time < values[s] * (1.0 - 1e-11):
                            policy[int(s)], changed = k, True
            if not changed:
                break
        return values
