r"""What tabular learners share: the compiled environment, and what is known before learning.

A learner knows the setting, that radii above ``n - LO`` never leave a state, and the exact value :math:`V_1` of
always flipping one bit, an upper bound of the optimal value.  States are numbered by their place in the flattened
policy table, radii by their place in the portfolio.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kflip._typing import FloatArray, IntArray
from kflip.envs.episodes import advance, begin, open_streams
from kflip.envs.model import Model, Options
from kflip.envs.records import EPISODE, RUNNING, TERMINATED, Record, Records
from kflip.errors import InputError
from kflip.evaluation import evaluate
from kflip.learn.training import Snapshot
from kflip.objectives import lo_om_of_all
from kflip.policy import exists
from kflip.rules import constant
from kflip.setting import Setting
from kflip.simulate.choices import row_of
from kflip.simulate.streams import hash_seed


class World:
    """The environment of one setting in the form that kernels take, and where its only episode stands.

    Parameters
    ----------
    clock
        ``"iterations"`` or ``"events"``, as for :class:`kflip.envs.RLSEnv`.
    """

    def __init__(self, setting: Setting, clock: str, seed: int) -> None:
        model = Model(setting, Options(clock=clock))
        self.laws: Records = model.laws
        self.radii: IntArray = model.radii[0].copy()
        self.tables: FloatArray = model.tables
        self.episodes: Records = np.zeros(1, dtype=EPISODE)
        open_streams(self.episodes, hash_seed(seed), 1)
        self.episodes["ending"] = TERMINATED


def known_values(setting: Setting) -> FloatArray:
    """The value of flipping one bit, flattened, in the portfolio or not; 0 at the optimum and where no state exists."""
    alone = replace(setting, portfolio=[1])
    return np.nan_to_num(evaluate(alone, constant(1)).values).reshape(-1)


def require_one_bit(setting: Setting) -> None:
    """Refuse portfolios without k = 1, for learners that fall back on it."""
    if setting.radii[0] != 1:
        raise InputError(f"this learner builds on k = 1, which the portfolio {setting.portfolio} does not have")


def backwards(setting: Setting) -> IntArray:
    """Numbers of the states that have a policy, largest (LO, OM) first: no improvement leads to a later one."""
    n = setting.n
    numbers = np.flatnonzero(exists(n, setting.state))
    if setting.state != "bits":
        return numbers[::-1].copy()  # the table is in the order of LO, then of OM
    lo, om = lo_om_of_all(n)
    return numbers[np.lexsort((om[numbers], lo[numbers]))][::-1].copy()


def snapshot(setting: Setting, spent: int, radii: IntArray, chosen: IntArray, left: NDArray[Any]) -> Snapshot:
    """The policy of the chosen radii, by number, shape (states,), with the departures seen, shape (states, m)."""
    seen = left[np.arange(chosen.size), chosen] > 0
    return Snapshot(spent, radii[chosen].reshape(setting.shape), seen.reshape(setting.shape))


@njit(cache=True, nogil=True)
def state_of(e: Record, law: Record) -> int:
    """Number of the state of an episode."""
    return row_of(law.seen, law.n, e.lo, e.lo + e.ones, e.string)


@njit(cache=True, nogil=True)
def resume(e: Record, laws: Records) -> int:
    """Number of the present state, of a new episode if the last one has ended or is too long; never the optimum.

    Flipping one bit needs about :math:`n^2 / 2` iterations on LeadingOnes, an episode may take eight times as many:
    with standard selection a bad policy can move inside a level almost forever.
    """
    n = laws[0].n
    while e.ending != RUNNING or e.lo == n or e.iterations >= 4 * n * n:
        begin(e, laws, 0)
    return state_of(e, laws[0])


@njit(cache=True, nogil=True)
def usable(e: Record, laws: Records, radii: IntArray) -> int:
    """How many radii can leave the present state: the first so many of the portfolio."""
    count = np.searchsorted(radii, laws[0].n - e.lo, side="right")
    return int(count)


@njit(cache=True, nogil=True)
def attempt(
    e: Record, laws: Records, radii: IntArray, tables: FloatArray, action: int, patience: int
) -> tuple[int, int]:
    """One step of ``patience`` iterations at most: the iterations it took, and the number of the state after it.

    Running out of patience does not end the episode.
    """
    laws[0].limit = e.iterations + patience
    before = e.iterations
    advance(e, laws, radii.reshape(1, -1), tables, action)
    if e.ending != TERMINATED:
        e.ending = RUNNING
    return e.iterations - before, state_of(e, laws[0])
