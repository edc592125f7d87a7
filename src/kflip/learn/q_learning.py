r"""Tabular Q-learning, as it comes and with what helps here.

In the form of costs, after :math:`t` iterations with radius :math:`k` from :math:`s` to :math:`s'`,

.. math:: C(s, k) \leftarrow C(s, k) + \alpha \bigl( t + \min_{k'} C(s', k') - C(s, k) \bigr),
          \qquad \alpha = \text{tries}(s, k)^{-\omega} .

By the clock of iterations :math:`t = 1` and mostly :math:`s' = s`; by the clock of events the radius is repeated
until the state changes.  The tables begin with 0, or, *shaped*, with the known value :math:`V_1(s)` of flipping one
bit: by Wiewiora ("Potential-based shaping and Q-value initialization are equivalent", JAIR 2003) this is the same as
shaping the rewards by the potential :math:`-V_1`.  A shaped learner also knows which radii can leave a state, and
chooses among those that it has seen leave it.

The plain learner fails on purpose: an entry of a state that is hardly visited stays near 0, so its radius looks best,
and one that succeeds once in :math:`10^{18}` tries ruins the expected runtime.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.compilation import announce
from kflip.envs.records import Records
from kflip.learn.tabular import World, attempt, known_values, require_one_bit, resume, snapshot, usable
from kflip.learn.training import Learner, Snapshot
from kflip.setting import Setting
from kflip.simulate.streams import Stream, WordArray, below, hash_seed, open_stream, uniform

#: The stream that explores; the environment's own is number 0.
_CHOICES = 1


@dataclass(frozen=True)
class QLearning(Learner):
    r"""Tabular Q-learning.

    Parameters
    ----------
    clock
        ``"iterations"`` or ``"events"``.
    shaped
        Whether the tables begin with the value of k = 1 and hopeless radii are known.
    epsilon
        Probability of a random radius.
    decay
        The exponent :math:`\omega` of the learning rate.
    patience
        A step by events is given up after so many times ``n`` iterations without a change.
    """

    name: str = "q-learning"
    clock: str = "iterations"
    shaped: bool = False
    epsilon: float = 0.1
    decay: float = 0.6
    patience: int = 20

    def check(self, setting: Setting) -> None:
        """Refuse portfolios without k = 1 if it begins from there."""
        super().check(setting)
        if self.shaped:
            require_one_bit(setting)

    def snapshots(self, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Walk on from mark to mark."""
        announce(_walk)
        world = World(setting, self.clock, seed)
        m = len(setting.radii)
        size = int(np.prod(setting.shape))
        costs = np.repeat(known_values(setting)[:, None], m, axis=1) if self.shaped else np.zeros((size, m))
        tries, left = np.zeros((size, m)), np.zeros((size, m), dtype=np.int64)
        words: WordArray = np.array(open_stream(hash_seed(seed), _CHOICES), dtype=np.uint64)
        spent = 0
        for mark in marks:
            spent = _walk(
                world.episodes,
                world.laws,
                world.radii,
                world.tables,
                spent,
                mark,
                marks[-1],
                self.patience * setting.n,
                self.epsilon,
                self.decay,
                self.shaped,
                costs,
                tries,
                left,
                words,
            )
            judged = np.where(left > 0, costs, np.inf) if self.shaped else costs
            yield snapshot(setting, spent, world.radii, judged.argmin(axis=1), left)


@njit(cache=True, nogil=True)
def _walk(
    episodes: Records,
    laws: Records,
    radii: IntArray,
    tables: FloatArray,
    spent: int,
    until: int,
    budget: int,
    patience: int,
    epsilon: float,
    decay: float,
    masked: bool,
    costs: FloatArray,
    tries: FloatArray,
    left: IntArray,
    words: WordArray,
) -> int:
    """Learn until ``until`` iterations are spent; arrays over (states, radii) are updated in place."""
    e = episodes[0]
    n, m = laws[0].n, radii.size
    s: Stream = (words[0], words[1], words[2], words[3])
    while spent < until:
        state = resume(e, laws)
        count = usable(e, laws, radii) if masked else m
        u, s = uniform(s)
        if u < epsilon:
            k, s = below(count, s)
        else:
            k = np.argmin(costs[state, :count])
        taken, after = attempt(e, laws, radii, tables, k, min(patience, budget - spent))
        spent += taken
        tries[state, k] += 1.0
        ahead = 0.0
        if e.lo < n:
            ahead = costs[after, : usable(e, laws, radii) if masked else m].min()
        costs[state, k] += tries[state, k] ** -decay * (taken + ahead - costs[state, k])
        if after != state:
            left[state, k] += 1
    words[0], words[1], words[2], words[3] = s
    return spent
