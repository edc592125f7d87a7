r"""Certainty equivalence: count transitions, plan on the counts as if they were the truth.

A radius :math:`k` is used in a state :math:`s` until the state changes.  After :math:`N` iterations and :math:`L`
departures to the states :math:`s'_1, \dots, s'_L`, the time of using :math:`k` in :math:`s` is estimated by

.. math:: Q(s, k) = \frac{N}{L} + \frac{1}{L} \sum_j V(s'_j), \qquad
          \sigma^2(s, k) = \frac{1}{L} \Bigl[ \Bigl(\frac{N + n}{L}\Bigr)^2 + \operatorname{Var}_j V(s'_j) \Bigr],

since the spread of a geometric wait is about its mean; the :math:`n` more iterations, the wait of :math:`k = 1` on
LeadingOnes, keep a lucky first departure from looking certain.  Planning is pessimistic,

.. math:: V(s) = \min \Bigl( V_1(s), \; \min_k \bigl[ Q(s, k) + n / L + c_- \, \sigma(s, k) \bigr] \Bigr),

over the radii with some departures at least, and with the known value :math:`V_1` of flipping one bit.  So a radius
that was tried rarely has to earn its place: among thousands of radii tried once, some leave by luck that need a million
iterations on average.
Exploring is optimistic: with :math:`c = c_+ \sqrt{\log(1 + \text{tries in } s)}` the radius of the smallest
:math:`Q - c \sigma` is tried next, untried ones first and the smallest of them first.  A radius that was waited for
in vain counts as :math:`V(s) - n + N / (1 + c)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.compilation import announce
from kflip.envs.records import Records
from kflip.learn.tabular import World, attempt, backwards, known_values, require_one_bit, resume, snapshot, usable
from kflip.learn.training import Learner, Snapshot
from kflip.setting import Setting

#: Departures noted before they are sorted into the counts.
_NOTES = 1 << 18

#: Sweeps of one planning; one is enough where every change is an improvement.
_SWEEPS = 100


@dataclass(frozen=True)
class CertaintyEquivalence(Learner):
    """Plans on counted transitions.

    Parameters
    ----------
    optimism, pessimism
        The factors :math:`c_+` and :math:`c_-`.
    trust
        Departures that a radius must have had to be planned with.
    patience
        A try is given up after so many times ``n`` iterations without a change.
    plans
        Plannings between two points of the learning curve.
    """

    name: str = "certainty-equivalence"
    optimism: float = 1.0
    pessimism: float = 0.5
    trust: int = 2
    patience: int = 6
    plans: int = 10

    def check(self, setting: Setting) -> None:
        """Refuse portfolios without k = 1."""
        super().check(setting)
        require_one_bit(setting)

    def snapshots(self, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Explore and plan in turn."""
        announce(_explore)
        world = World(setting, "events", seed)
        counts = _Counts(setting)
        spent = last = 0
        for mark in marks:
            for part in range(1, self.plans + 1):
                until = last + (mark - last) * part // self.plans
                while spent < until:
                    spent = counts.explore(world, spent, until, marks[-1], self.patience * setting.n, self.optimism)
                counts.plan(self.optimism, self.pessimism, self.trust)
            last = mark
            yield snapshot(setting, spent, world.radii, counts.chosen, counts.left)


class _Counts:
    """What was seen so far, and what is made of it; arrays over (states, radii) unless said otherwise.

    ``spent`` and ``left`` are :math:`N` and :math:`L`.  ``pairs`` are the distinct transitions seen, ascending, as
    ``(state * m + radius) * states + next``, with their ``numbers``.
    """

    def __init__(self, setting: Setting) -> None:
        self.n = setting.n
        self.known = known_values(setting)
        self.order = backwards(setting)
        shape = self.known.size, len(setting.radii)
        self.spent, self.left, self.behind, self.spread = (np.zeros(shape) for _ in range(4))
        self.score: FloatArray = np.full(shape, -np.inf)
        self.tries = np.zeros(shape[0])
        self.values = self.known.copy()
        self.chosen: IntArray = np.zeros(shape[0], dtype=np.int64)
        self.pairs: IntArray = np.zeros(0, dtype=np.int64)
        self.numbers = np.zeros(0)
        self.notes: IntArray = np.zeros(_NOTES, dtype=np.int64)

    def explore(self, world: World, spent: int, until: int, budget: int, patience: int, optimism: float) -> int:
        """Try radii until ``until`` iterations are spent, or the notes are full: the iterations spent."""
        spent, noted = _explore(
            world.episodes,
            world.laws,
            world.radii,
            world.tables,
            spent,
            until,
            budget,
            patience,
            optimism,
            self.spent,
            self.left,
            self.behind,
            self.spread,
            self.score,
            self.tries,
            self.values,
            self.notes,
        )
        new, numbers = np.unique(self.notes[:noted], return_counts=True)
        place = np.searchsorted(self.pairs, new)
        known = place < self.pairs.size
        known[known] = self.pairs[place[known]] == new[known]
        self.numbers[place[known]] += numbers[known]
        self.pairs = np.insert(self.pairs, place[~known], new[~known])
        self.numbers = np.insert(self.numbers, place[~known], numbers[~known])
        return spent

    def plan(self, optimism: float, pessimism: float, trust: int) -> None:
        """Values and radii for what was seen so far."""
        states, m = self.spent.shape
        first = np.searchsorted(self.pairs, np.arange(states * m + 1) * states)
        _plan(
            self.n,
            self.order,
            first,
            self.pairs % states,
            self.numbers,
            optimism,
            pessimism,
            trust,
            self.spent,
            self.left,
            self.behind,
            self.spread,
            self.score,
            self.tries,
            self.known,
            self.values,
            self.chosen,
        )


@njit(cache=True, nogil=True)
def _optimistic(n: int, caution: float, spent: float, left: float, behind: float, spread: float, value: float) -> float:
    """How good a tried radius may be; ``behind`` is the sum of the values behind its departures."""
    if left == 0.0:
        return value - n + spent / (1.0 + caution)
    return (spent + behind) / left - caution * _noise(n, spent, left, spread)


@njit(cache=True, nogil=True)
def _noise(n: int, spent: float, left: float, spread: float) -> float:
    wait = (spent + n) / left
    return np.sqrt((wait * wait + spread * spread) / left)


@njit(cache=True, nogil=True)
def _explore(
    episodes: Records,
    laws: Records,
    radii: IntArray,
    tables: FloatArray,
    used: int,
    until: int,
    budget: int,
    patience: int,
    optimism: float,
    spent: FloatArray,
    left: FloatArray,
    behind: FloatArray,
    spread: FloatArray,
    score: FloatArray,
    tries: FloatArray,
    values: FloatArray,
    notes: IntArray,
) -> tuple[int, int]:
    """Follow the best scores, and update the score of what was tried: iterations used, departures noted."""
    e = episodes[0]
    n, m, states = laws[0].n, radii.size, values.size
    noted = 0
    while used < until and noted < notes.size:
        s = resume(e, laws)
        k = np.argmin(score[s, : usable(e, laws, radii)])
        taken, after = attempt(e, laws, radii, tables, k, min(patience, budget - used))
        used += taken
        tries[s] += 1.0
        spent[s, k] += taken
        if after != s:
            left[s, k] += 1.0
            behind[s, k] += values[after]
            notes[noted] = (s * m + k) * states + after
            noted += 1
        caution = optimism * np.sqrt(np.log(1.0 + tries[s]))
        score[s, k] = _optimistic(n, caution, spent[s, k], left[s, k], behind[s, k], spread[s, k], values[s])
    return used, noted


@njit(cache=True, nogil=True)
def _plan(
    n: int,
    order: IntArray,
    first: IntArray,
    successors: IntArray,
    numbers: FloatArray,
    optimism: float,
    pessimism: float,
    trust: int,
    spent: FloatArray,
    left: FloatArray,
    behind: FloatArray,
    spread: FloatArray,
    score: FloatArray,
    tries: FloatArray,
    known: FloatArray,
    values: FloatArray,
    chosen: IntArray,
) -> None:
    """Solve the counted chain from the optimum backwards; sweeps repeat until no value changes."""
    m = spent.shape[1]
    tolerance = 1e-9 * known.max()
    for _ in range(_SWEEPS):
        change = 0.0
        for s in order:
            caution = optimism * np.sqrt(np.log(1.0 + tries[s]))
            low = known[s]
            chosen[s] = 0
            for k in range(m):
                if spent[s, k] == 0.0:
                    continue
                L = left[s, k]
                if L > 0.0:
                    # around the known value, so that the spread is not a difference of large numbers
                    total, squares = 0.0, 0.0
                    for j in range(first[s * m + k], first[s * m + k + 1]):
                        drop = values[successors[j]] - known[s]
                        total += numbers[j] * drop
                        squares += numbers[j] * drop * drop
                    behind[s, k] = known[s] * L + total
                    spread[s, k] = np.sqrt(max(squares / L - (total / L) ** 2, 0.0))
                    noise = _noise(n, spent[s, k], L, spread[s, k])
                    cost = (spent[s, k] + behind[s, k] + n) / L + pessimism * noise
                    if trust <= L and cost < low:
                        low = cost
                        chosen[s] = k
                score[s, k] = _optimistic(n, caution, spent[s, k], L, behind[s, k], spread[s, k], values[s])
            change = max(change, abs(low - values[s]))
            values[s] = low
        if change <= tolerance:
            break
