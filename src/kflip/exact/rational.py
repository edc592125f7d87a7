r"""The same equations in exact rational arithmetic: a proof for small n.

A policy's values are computed as fractions, then every radius in every state is compared exactly.  If none is better,
the policy is optimal, ties included, without any tolerance.  Binomial coefficients appear as they stand in the model;
nothing is shared with the floating-point code.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb

from kflip._typing import IntArray, RadiusArray
from kflip.exact.flips import ANY, REJECT

State = tuple[int, int]


@dataclass(frozen=True)
class RationalProof:
    """What exact arithmetic says of a table of radii.

    ``values`` are the policy's exact values; ``better`` lists states with a strictly better radius, ``larger`` states
    whose radius is optimal but not the smallest optimal one.
    """

    values: dict[State, Fraction]
    expected_runtime: Fraction
    better: list[State]
    larger: list[State]


def after_flips(N: int, a: int, k: int) -> dict[int, Fraction]:
    """Law of the ones in a suffix of ``N`` bits with ``a`` ones after ``k`` flips; empty if ``k > N``."""
    total = comb(N, k)
    return {
        a + k - 2 * x: Fraction(comb(a, x) * comb(N - a, k - x), total)
        for x in range(max(0, k - (N - a)), min(a, k) + 1)
    }


class _Level:
    """One level: the moves of every radius, given the values behind an improvement."""

    def __init__(self, n: int, i: int, mode: int, W: list[Fraction]) -> None:
        self.n, self.N, self.mode, self.W = n, n - i - 1, mode, W

    def row(self, a: int, k: int) -> tuple[Fraction, Fraction, dict[int, Fraction]]:
        """Exit probability, cost of one iteration plus what follows the exit, and accepted moves to other states."""
        n, N = self.n, self.N
        p = Fraction(comb(N, k - 1), comb(n, k))
        q = Fraction(comb(N, k), comb(n, k))
        cost = Fraction(1)
        if p:
            cost += p * sum((w * self.W[b] for b, w in after_flips(N, a, k - 1).items()), Fraction(0))
        moves: dict[int, Fraction] = {}
        if q and self.mode != REJECT:
            moves = {b: q * w for b, w in after_flips(N, a, k).items() if b != a and (self.mode == ANY or b > a)}
        return p, cost, moves

    def solve(self, radii: list[int]) -> list[Fraction]:
        """Values of the level for one radius per state, by eliminating states from the bottom."""
        rows = [self.row(a, k) for a, k in enumerate(radii)]
        leave = [row[0] for row in rows]
        cost = [row[1] for row in rows]
        moves = [row[2] for row in rows]
        total: list[Fraction] = []
        for s in range(self.N + 1):
            total.append(leave[s] + sum(moves[s].values(), Fraction(0)))
            for r in range(s + 1, self.N + 1):
                share = moves[r].pop(s, Fraction(0)) / total[s]
                if share:
                    leave[r] += share * leave[s]
                    cost[r] += share * cost[s]
                    for b, w in moves[s].items():
                        if b != r:
                            moves[r][b] = moves[r].get(b, Fraction(0)) + share * w
        T = [Fraction(0)] * (self.N + 1)
        for s in range(self.N, -1, -1):
            T[s] = (cost[s] + sum((w * T[b] for b, w in moves[s].items()), Fraction(0))) / total[s]
        return T

    def time(self, a: int, k: int, T: list[Fraction]) -> Fraction | None:
        """Time from ``a`` when ``k`` is used until the state changes; ``None`` if it never does."""
        p, cost, moves = self.row(a, k)
        leave = p + sum(moves.values(), Fraction(0))
        if not leave:
            return None
        return (cost + sum((w * T[b] for b, w in moves.items()), Fraction(0))) / leave


def prove(n: int, mode: int, radii: IntArray, table: RadiusArray) -> RationalProof:
    """Evaluate a table of shape (n+1, n+1) exactly and compare every radius in every state.

    Every radius in the table must be able to leave its state.
    """
    values: dict[State, Fraction] = {(n, n): Fraction(0)}
    better: list[State] = []
    larger: list[State] = []
    W: list[Fraction] = [Fraction(0)]
    for i in range(n - 1, -1, -1):
        N = n - i - 1
        if N > 0:
            W = _fold(N, [values[i + 1, i + 1 + a] for a in range(N)], W)
        level = _Level(n, i, mode, W)
        T = level.solve([int(table[i, i + a]) for a in range(N + 1)])
        for a in range(N + 1):
            values[i, i + a] = T[a]
            for k in map(int, radii):
                time = level.time(a, k, T)
                if time is not None and time < T[a]:
                    better.append((i, i + a))
                    break
                if time == T[a] and k < table[i, i + a]:
                    larger.append((i, i + a))
                    break
    start = _fold(n, [values[0, a] for a in range(n)], W)
    expected = sum((Fraction(comb(n, a), 2**n) * start[a] for a in range(n + 1)), Fraction(0))
    return RationalProof(values, expected, better, larger)


def _fold(N: int, T: list[Fraction], W: list[Fraction]) -> list[Fraction]:
    return [
        (Fraction(N - a, N) * T[a] if a < N else Fraction(0)) + (Fraction(a, N) * W[a - 1] if a > 0 else Fraction(0))
        for a in range(N + 1)
    ]
