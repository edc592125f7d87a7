r"""Episodes: begin one, move it on by a step, show it.

An episode ends, terminated, at the optimum, and is truncated when its iterations reach the limit without it.  A random
start may be the optimum, once in :math:`2^n` times: the first step then ends the episode and takes no iteration, so
that returns keep their exact mean.

A radius above ``n - LO`` always flips a bit of the prefix, so the state never changes.  By the clock of iterations such
a step is one iteration lost; by the clock of events it takes all iterations that are left, and truncates.

The reward is ``scale * (s * sampled + (1 - s) * mean) + shift`` with the stochasticity ``s``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kflip._typing import BoolArray, FloatArray, IntArray
from kflip.envs.dynamics import (
    await_pair,
    await_string,
    iterate_pair,
    iterate_string,
    leading_ones_of,
    ones_in,
)
from kflip.envs.expectations import mean_reward
from kflip.envs.records import IN_LEVEL, NOWHERE, RUNNING, TERMINATED, TRUNCATED, Record, Records
from kflip.envs.rewards import reward_of
from kflip.simulate.bit_level import string_index
from kflip.simulate.choices import BY_STRING, row_of
from kflip.simulate.starts import AT_STRING, IN_STATE, draw_state, draw_string
from kflip.simulate.streams import Stream, WordArray, below, ones_of_random_string, open_stream

#: When a batch begins an ended episode anew: at the next step, at the same one, or not by itself.
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2

#: How the next instance is chosen.
CYCLE, SAMPLE = 0, 1


@njit(cache=True, nogil=True)
def stream_of(e: Record) -> Stream:
    """The episode's random stream."""
    return e.s0, e.s1, e.s2, e.s3


@njit(cache=True, nogil=True)
def keep_stream(e: Record, s: Stream) -> None:
    """Store what is left of the stream."""
    e.s0, e.s1, e.s2, e.s3 = s


@njit(cache=True, nogil=True)
def begin(e: Record, laws: Records, order: int) -> None:
    """Begin an episode: choose the instance after the episode's last one, and draw a start."""
    s = stream_of(e)
    if order == SAMPLE:
        chosen, s = below(laws.size, s)
        e.instance = chosen
    else:
        e.instance = (e.instance + 1) % laws.size
    law = laws[e.instance]
    n = law.n
    kind, lo, om = law.start, law.start_lo, law.start_om
    if kind == IN_LEVEL:
        ones, s = ones_of_random_string(max(0, n - lo - 1), s)
        kind, om = IN_STATE, lo + ones
    if law.seen == BY_STRING:
        if kind == AT_STRING:
            e.string = law.start_string
        else:
            x = np.empty(n, dtype=np.uint8)
            s = draw_string(kind, lo, om, x, x, s)
            e.string = string_index(x)
        e.lo = leading_ones_of(e.string, n)
        e.ones = ones_in(e.string) - e.lo
    else:
        e.lo, e.ones, s = draw_state(n, kind, lo, om, s)
    e.iterations = 0
    e.k = 0
    e.ending = RUNNING
    e.reward = 0.0
    keep_stream(e, s)


@njit(cache=True, nogil=True)
def value_of(law: Record, i: int, a: int, x: int, tables: FloatArray) -> float:
    """Optimal value of a state; 0 if values are not needed."""
    if law.values_at == NOWHERE:
        return 0.0
    return tables[law.values_at + row_of(law.seen, law.n, i, i + a, x)]


@njit(cache=True, nogil=True)
def advance(e: Record, laws: Records, radii: IntArray, tables: FloatArray, action: int) -> None:
    """Move a running episode on by one step."""
    law = laws[e.instance]
    n, i, a, x = law.n, e.lo, e.ones, e.string
    m = radii.shape[1]
    k = radii[e.instance, action]
    left = law.limit - e.iterations
    taken = 1
    s = stream_of(e)
    if i == n:
        taken = 0
    elif law.by_events and k > n - i:
        taken = left
    elif law.seen == BY_STRING:
        if law.by_events:
            e.string, taken, s = await_string(n, x, i, k, law.least_gain, left, tables[: law.width], s)
        else:
            e.string, s = iterate_string(n, x, i, k, law.least_gain, s)
        e.lo = leading_ones_of(e.string, n)
        e.ones = ones_in(e.string) - e.lo
    elif law.by_events:
        e.lo, e.ones, taken, s = await_pair(n, i, a, k, law.least_gain, law.seen, left, tables[: law.width], s)
    else:
        e.lo, e.ones, s = iterate_pair(n, i, a, k, law.least_gain, s)
    keep_stream(e, s)
    e.iterations += taken
    e.k = k
    if e.lo == n:
        e.ending = TERMINATED
    elif e.iterations >= law.limit:
        e.ending = TRUNCATED
    drop = value_of(law, i, a, x, tables) - value_of(law, e.lo, e.ones, e.string, tables)
    reward = reward_of(law.reward, float(taken), float(e.lo - i), drop)
    if law.stochasticity < 1.0:
        mean = mean_reward(law, i, a, x, k, action, m, left, tables)
        reward = law.stochasticity * reward + (1.0 - law.stochasticity) * mean
    e.reward = law.scale * reward + law.shift


@njit(cache=True, nogil=True)
def observe(e: Record, laws: Records, flat: NDArray[Any], first: int, size: int) -> None:
    """Write what the policy sees into the ``size`` entries from ``first`` on; one behind the state is for ``n``.

    A flat array, because taking a row of an array costs as much as drawing several random numbers.
    """
    law = laws[e.instance]
    n = law.n
    behind = first + 1 + law.seen
    if law.seen == BY_STRING:
        behind = first + n
        for position in range(n):
            flat[first + position] = (e.string >> (n - 1 - position)) & 1
    elif law.normalised:
        flat[first] = e.lo / n
        if law.seen:
            flat[first + 1] = (e.lo + e.ones) / n
    else:
        flat[first] = e.lo
        if law.seen:
            flat[first + 1] = e.lo + e.ones
    if behind < first + size:
        flat[behind] = n / (law.width - 1) if law.normalised else n


@njit(cache=True, nogil=True)
def begin_one(episodes: Records, laws: Records, order: int, key: WordArray, row: NDArray[Any]) -> tuple[int, int, int]:
    """Begin the only episode on a new stream: its instance, LO and OM."""
    e = episodes[0]
    keep_stream(e, open_stream(key, 0))
    begin(e, laws, order)
    observe(e, laws, row, 0, row.size)
    return e.instance, e.lo, e.lo + e.ones


@njit(cache=True, nogil=True)
def step_one(
    episodes: Records, laws: Records, radii: IntArray, tables: FloatArray, action: int, row: NDArray[Any]
) -> tuple[float, int, int, int, int, int]:
    """Move the only episode on: reward, ending, k, LO, OM, iterations."""
    e = episodes[0]
    advance(e, laws, radii, tables, action)
    observe(e, laws, row, 0, row.size)
    return e.reward, e.ending, e.k, e.lo, e.lo + e.ones, e.iterations


@njit(cache=True, nogil=True)
def open_streams(episodes: Records, key: WordArray, instances: int) -> None:
    """Give every episode its own stream, and neighbours different instances to begin with."""
    for j in range(episodes.size):
        keep_stream(episodes[j], open_stream(key, j))
        episodes[j].instance = (j - 1) % instances


@njit(cache=True, nogil=True)
def begin_many(chosen: BoolArray, episodes: Records, laws: Records, order: int, observations: NDArray[Any]) -> None:
    """Begin the chosen episodes, and show all; observations have shape (episodes, size)."""
    flat, size = observations.reshape(-1), observations.shape[1]
    for j in range(episodes.size):
        e = episodes[j]
        if chosen[j]:
            begin(e, laws, order)
        observe(e, laws, flat, j * size, size)


@njit(cache=True, nogil=True)
def step_many(
    first: int,
    last: int,
    episodes: Records,
    laws: Records,
    order: int,
    radii: IntArray,
    tables: FloatArray,
    actions: IntArray,
    autoreset: int,
    observations: NDArray[Any],
    rewards: FloatArray,
    terminated: BoolArray,
    truncated: BoolArray,
    final_observations: NDArray[Any],
    final_episodes: Records,
) -> None:
    """Move the episodes ``first..last-1`` on, and begin ended ones anew as ``autoreset`` says.

    Written: observations, shape (episodes, size); rewards and the two endings, shape (episodes,).  With ``SAME_STEP``
    the last two arrays take what an ended episode showed at its end, and its record.
    """
    flat, final_flat, size = observations.reshape(-1), final_observations.reshape(-1), observations.shape[1]
    for j in range(first, last):
        e = episodes[j]
        if e.ending != RUNNING:
            begin(e, laws, order)
            rewards[j] = 0.0
            terminated[j] = truncated[j] = False
        else:
            advance(e, laws, radii, tables, actions[j])
            rewards[j] = e.reward
            terminated[j] = e.ending == TERMINATED
            truncated[j] = e.ending == TRUNCATED
            if autoreset == SAME_STEP and e.ending != RUNNING:
                observe(e, laws, final_flat, j * size, size)
                final_episodes[j] = e
                begin(e, laws, order)
        observe(e, laws, flat, j * size, size)


@njit(cache=True, nogil=True)
def fill_masks(episodes: Records, laws: Records, radii: IntArray, masks: NDArray[np.int8]) -> None:
    """Write which radii can leave the states, shape (episodes, m)."""
    for j in range(episodes.size):
        instance = episodes[j].instance
        reach = laws[instance].n - episodes[j].lo
        for action in range(radii.shape[1]):
            masks[j, action] = radii[instance, action] <= reach


@njit(cache=True, nogil=True)
def first_hopeless(episodes: Records, laws: Records, radii: IntArray, actions: IntArray) -> int:
    """The first running episode whose radius can never leave its state although nothing limits it; -1 if none."""
    for j in range(episodes.size):
        e = episodes[j]
        n = laws[e.instance].n
        if e.ending == RUNNING and e.lo < n and radii[e.instance, actions[j]] > n - e.lo:
            return j
    return -1
