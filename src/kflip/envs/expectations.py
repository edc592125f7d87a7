r"""The mean reward of a step, given the state, the radius and the iterations left.

One iteration with radius :math:`k` improves LO with probability :math:`p_k` and leaves all flips in the suffix with
probability :math:`q_k` (:mod:`kflip.exact.flips`).  Let :math:`g` be the mean gain of LO in one iteration, :math:`d`
the mean drop of the value, and :math:`c` the probability that the state changes.

* (LO, OM): a suffix of :math:`N` bits with :math:`z` zeros in random places leads with :math:`(N + 1)/(z + 1) - 1`
  ones on average, so :math:`g = p_k (N + 1) E[1/(z' + 1)]` over the zeros :math:`z'` after :math:`k - 1` flips.  And
  :math:`d = p_k (V - P_{k-1} W) + q_k (V R_k - S_k)` as in the Bellman equation.
* LO alone: the suffix is uniform, :math:`g = p_k (2 - 2^{-N})` and :math:`d = p_k (V_i - W_i)`.
* Strings: suffix bit after suffix bit, the chance that all up to it are ones after :math:`k - 1` flips is a product,
  and :math:`g / p_k` is 1 plus the sum of these chances.  The drop is summed over all accepted offspring, and kept.

A step of one iteration earns the reward of :math:`(1, g, d)`.  A step that lasts until the state changes takes
:math:`E[\min(G, r)] = P[G \le r] / c` iterations on average, after each of which it gains and drops as one iteration
does: the reward of :math:`(1, g, d) E[\min(G, r)]` for every linear reward.  The time and the place of the change are
independent, so the quotient has mean :math:`(g / c)\, E[1/G; G \le r]`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray
from kflip.envs.dynamics import accepted_in_level, ones_in
from kflip.envs.records import NOWHERE, Record
from kflip.envs.rewards import IMPROVEMENT_OVER_ITERATIONS, reward_of
from kflip.envs.waiting import mean_inverse_wait, mean_wait
from kflip.exact.flips import ANY, UPWARD, accepted_after, mean_after
from kflip.simulate.choices import BY_LO, BY_STRING
from kflip.simulate.state_level import survival


@njit(cache=True, nogil=True)
def mean_reward(
    law: Record, i: int, a: int, x: int, k: int, action: int, m: int, left: int, tables: FloatArray
) -> float:
    """Mean reward of a step with radius ``k``, number ``action`` of ``m``, before scale and shift."""
    n = law.n
    if i == n:
        return reward_of(law.reward, 0.0, 0.0, 0.0)
    if k > n - i:
        return reward_of(law.reward, float(left) if law.by_events else 1.0, 0.0, 0.0)
    prefix_kept = survival(n, i, k)
    p = prefix_kept * k / (n - i)
    q = prefix_kept * (n - i - k) / (n - i)
    if law.seen == BY_LO:
        change, gain, drop = one_iteration_lo(law, i, p, tables)
    elif law.seen == BY_STRING:
        change, gain, drop = one_iteration_string(law, i, a, x, k, action, m, p, q, tables)
    else:
        change, gain, drop = one_iteration_pair(law, i, a, k, p, q, tables)
    if not law.by_events:
        return reward_of(law.reward, 1.0, gain, drop)
    if law.reward == IMPROVEMENT_OVER_ITERATIONS:
        return gain / change * mean_inverse_wait(change, float(left)) if change > 0.0 else 0.0
    wait = mean_wait(change, float(left))
    return reward_of(law.reward, wait, gain * wait, drop * wait)


@njit(cache=True, nogil=True)
def one_iteration_lo(law: Record, i: int, p: float, tables: FloatArray) -> tuple[float, float, float]:
    """Chance of a change, mean gain and mean drop, the suffix being uniform."""
    drop = 0.0
    if law.values_at != NOWHERE:
        drop = p * (tables[law.values_at + i] - tables[law.behind_at + i])
    return p, p * (2.0 - 0.5 ** (law.n - i - 1)), drop


@njit(cache=True, nogil=True)
def one_iteration_pair(
    law: Record, i: int, a: int, k: int, p: float, q: float, tables: FloatArray
) -> tuple[float, float, float]:
    """Chance of a change, mean gain and mean drop in (LO, OM)."""
    n, width = law.n, law.width
    N = n - i - 1
    gain = p * (N + 1) * mean_after(tables[width : 2 * width], 1.0, N, N - a, k - 1)
    rejects = law.least_gain > n or k > N
    moves = ANY if law.least_gain < 0 else UPWARD
    if law.values_at == NOWHERE:
        unit = tables[:width]
        R = 0.0 if rejects else accepted_after(unit, 1.0, k / (N - k + 1.0), N, a, k, moves)[1]
        return p + q * R, gain, 0.0
    first = law.values_at + i * (n + 1) + i
    T = tables[first : first + N + 1]
    W = tables[law.behind_at + i * n : law.behind_at + i * n + N + 1]
    value = T[a]
    mean = mean_after(W, law.top, N, a, k - 1)
    if rejects:
        return p, gain, p * (value - mean)
    S, R = accepted_after(T, law.top, 1.0, N, a, k, moves)
    return p + q * R, gain, p * (value - mean) + q * (value * R - S)


@njit(cache=True, nogil=True)
def one_iteration_string(
    law: Record, i: int, a: int, x: int, k: int, action: int, m: int, p: float, q: float, tables: FloatArray
) -> tuple[float, float, float]:
    """Chance of a change, mean gain and mean drop from one string."""
    N = law.n - i - 1
    change = p + q * accepted_in_level(N, a, k, law.least_gain, tables[: law.width])
    led = 1.0
    chance = 1.0
    flips = k - 1
    for bit in range(N - 1, -1, -1):
        flipped = flips / (bit + 1)
        if (x >> bit) & 1:
            chance *= 1.0 - flipped
        else:
            chance *= flipped
            flips -= 1
        if chance <= 0.0:
            break
        led += chance
    drop = 0.0
    if law.drops_at != NOWHERE:
        place = law.drops_at + x * m + action
        if np.isnan(tables[place]):
            # two threads that meet here write the same number
            tables[place] = mean_drop(law, N, x, k, p, q, tables)
        drop = tables[place]
    return change, p * led, drop


@njit(cache=True, nogil=True)
def mean_drop(law: Record, N: int, x: int, k: int, p: float, q: float, tables: FloatArray) -> float:
    """Mean of ``V(x) - V(x')`` over one iteration, by looking at every set of flips in the suffix."""
    values = tables[law.values_at : law.values_at + (1 << law.n)]
    here = values[x]
    drops = count = 0.0
    flips = first_set(k - 1)
    while flips >> N == 0:
        drops += here - values[x ^ flips ^ (1 << N)]
        count += 1.0
        if flips == 0:
            break
        flips = next_set(flips)
    total = p * drops / count
    if k > N:
        return total
    drops = count = 0.0
    ones = ones_in(x)
    flips = first_set(k)
    while flips >> N == 0:
        if ones_in(x ^ flips) - ones >= law.least_gain:
            drops += here - values[x ^ flips]
        count += 1.0
        flips = next_set(flips)
    return total + q * drops / count


@njit(cache=True, nogil=True)
def first_set(k: int) -> int:
    """The smallest integer with ``k`` ones."""
    return (1 << k) - 1


@njit(cache=True, nogil=True)
def next_set(bits: int) -> int:
    """The next larger integer with as many ones."""
    low = bits & -bits
    ripple = bits + low
    return ripple | (((bits ^ ripple) // low) >> 2)
