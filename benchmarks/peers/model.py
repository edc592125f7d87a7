r"""The optimal-radius problems as explicit Markov decision processes, in the form that suits a general solver best.

On level ``i`` the string is ``1^i 0`` followed by :math:`N = n - i - 1` bits with ``a`` ones, all placements equally
likely.  The process has two kinds of states on every level:

* ``T_i(a)`` chooses a radius ``k``.  With probability :math:`p_k = \binom{N}{k-1} / \binom{n}{k}` LO improves and
  ``k - 1`` suffix bits flip: on to ``w_i(b)``.  With probability :math:`q_k = \binom{N}{k} / \binom{n}{k}` only
  ``k`` suffix bits flip: on to ``T_i(b)`` if the offspring is accepted.  Everything else stays in the state.
* ``w_i(a)``, "positions ``1..i+1`` are ones, and ``a`` of the :math:`N` bits behind them", has one choice of cost 0: to
  ``T_{i+1}(a)`` with probability :math:`(N - a) / N` and to ``w_{i+1}(a - 1)`` with probability :math:`a / N`.
  ``w_{n-1}(0)`` is the optimum.

Four things make the process easy without changing any optimal value:

* the ``w`` states replace the distribution over all later ``(LO, OM)`` by two transitions;
* staying is conditioned away: a choice that leaves with probability ``x`` costs :math:`1/x` and its transitions are
  divided by ``x``.  Nothing loops on itself, and all but LeadingOnes with standard selection are acyclic;
* a radius whose cost :math:`1/x` alone exceeds the time that ``k = 1`` guarantees is never optimal and gets no choice;
* the first choice of a state is the radius that improves LO most often, a good start for policy iteration.

From ``z`` zeros ``k = 1`` needs exactly :math:`n H_z` iterations on (LeadingOnes, OneMax) and :math:`n z` on
LeadingOnes with strict selection; under standard selection each of the levels left takes at most ``n``.  States are
numbered ``T_0, w_0, T_1, w_1, ...``, ``a`` ascending: successors come later, except inside a level under standard
selection, and the optimum is last.

None of kflip's code is used here: agreement with kflip is a check of both.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]

#: Which moves inside a level are accepted: none, to more ones, all.
REJECT, UPWARD, ANY = 0, 1, 2
SETTINGS = {"loom": UPWARD, "lo-strict": REJECT, "lo-standard": ANY}

#: Numbers of lost ones less likely than this fraction of the most likely one are left out.
CUT = 1e-18

#: Relative slack, far above rounding, of the bound that rules radii out.
SLACK = 1e-9


class Process(NamedTuple):
    """A Markov decision process in compressed rows, one row per choice.

    ``first_choice`` has shape (states + 1,), ``first_entry`` (choices + 1,); ``columns`` and ``probabilities`` hold the
    transitions; ``costs`` (choices,) is the expected number of iterations a choice takes; ``bounds`` (states,) is an
    upper bound of every state's value.
    """

    first_choice: IndexArray
    first_entry: IndexArray
    columns: IndexArray
    probabilities: FloatArray
    costs: FloatArray
    bounds: FloatArray


class Size(NamedTuple):
    """How large a process is."""

    states: int
    choices: int
    transitions: int


def size_of(process: Process) -> Size:
    """Count states, choices and transitions."""
    return Size(process.bounds.size, process.costs.size, process.columns.size)


def build(setting: str, n: int, index: type[np.signedinteger[Any]], every_radius: bool) -> Process:
    """Write down the process of a setting.

    Parameters
    ----------
    setting
        ``"loom"``, ``"lo-strict"`` or ``"lo-standard"``.
    n
        Length of the string.
    index
        Integer type of the index arrays.
    every_radius
        Keep the radii that cannot be optimal.
    """
    mode = SETTINGS[setting]
    states = n * (n + 1)
    choices = n * (n + 1) * (2 * n + 1) // 6 + states // 2
    entries = _most_entries(n, mode)
    # an upper bound is enough: pages that stay unwritten take no memory
    process = Process(
        first_choice=np.empty(states + 1, dtype=index),
        first_entry=np.empty(choices + 1, dtype=index),
        columns=np.empty(entries, dtype=index),
        probabilities=np.empty(entries),
        costs=np.empty(choices),
        bounds=np.empty(states),
    )
    choices, entries = _fill(n, mode, every_radius, *process)
    return process._replace(
        first_entry=process.first_entry[: choices + 1],
        columns=process.columns[:entries],
        probabilities=process.probabilities[:entries],
        costs=process.costs[:choices],
    )


def values_table(n: int, values: FloatArray) -> FloatArray:
    """Values of the ``T`` states in an array of shape (n+1, n+1) indexed ``[lo, om]``, NaN where no state exists."""
    table = np.full((n + 1, n + 1), np.nan)
    start = 0
    for i in range(n):
        table[i, i:n] = values[start : start + n - i]
        start += 2 * (n - i)
    table[n, n] = 0.0
    return table


def expected_runtime(n: int, values: FloatArray) -> float:
    """Mean over uniformly random strings; their first bit decides between ``T_0`` and ``w_0``."""
    ones = np.arange(n + 1)
    weights = np.array([math.comb(n, a) / 2**n for a in range(n + 1)])
    zero_first = weights[:-1] * (n - ones[:-1]) / n
    one_first = weights[1:] * ones[1:] / n
    return float(zero_first @ values[:n] + one_first @ values[n : 2 * n])


@njit(cache=True, nogil=True)
def _most_entries(n: int, mode: int) -> int:
    """Upper bound of the number of transitions: the supports of all flips."""
    entries = 0
    for N in range(n):
        for a in range(N + 1):
            for k in range(N + 1):
                support = min(a, k) - max(0, k - (N - a)) + 1
                entries += support if mode == REJECT else 2 * support
        entries += 2 * (N + 1)
    return entries


@njit(cache=True, nogil=True)
def _law(N: int, a: int, k: int, law: FloatArray) -> tuple[int, int]:
    """Write the probability that ``x`` of ``k`` flipped bits are ones into ``law[x]``; return the range of ``x``."""
    low, high = max(0, k - (N - a)), min(a, k)
    mode = min(max((k + 1) * (a + 1) // (N + 2), low), high)
    law[mode] = total = w = 1.0
    last = mode
    while last < high:
        w *= ((a - last) * (k - last)) / ((last + 1.0) * (N - a - k + last + 1.0))
        if w < CUT:
            break
        last += 1
        law[last] = w
        total += w
    w = 1.0
    first = mode
    while first > low:
        w *= (first * (N - a - k + first)) / ((a - first + 1.0) * (k - first + 1.0))
        if w < CUT:
            break
        first -= 1
        law[first] = w
        total += w
    for x in range(first, last + 1):
        law[x] /= total
    return first, last


@njit(cache=True, nogil=True)
def _one_bit_time(n: int, mode: int, levels: int, zeros: int, harmonic: FloatArray) -> float:
    """Time that always flipping one bit takes, or an upper bound of it, with ``levels`` left to climb."""
    if zeros == 0:
        return 0.0
    if mode == UPWARD:
        return float(n * harmonic[zeros])
    return float(n * (zeros if mode == REJECT else levels))


@njit(cache=True, nogil=True)
def _fill(
    n: int,
    mode: int,
    every_radius: bool,
    first_choice: IndexArray,
    first_entry: IndexArray,
    columns: IndexArray,
    probabilities: FloatArray,
    costs: FloatArray,
    bounds: FloatArray,
) -> tuple[int, int]:
    """Fill the arrays of :class:`Process` level by level; return the numbers of choices and transitions."""
    fewer, law = np.zeros(n + 1), np.zeros(n + 1)
    p, q, harmonic = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 1)
    for z in range(1, n + 1):
        harmonic[z] = harmonic[z - 1] + 1.0 / z
    state = choice = entry = 0
    for i in range(n):
        N = n - i - 1
        p[1], q[1] = 1.0 / n, N / n
        for k in range(1, N + 1):
            p[k + 1] = p[k] * ((N - k + 1.0) / k * (k + 1.0) / (n - k))
            q[k + 1] = q[k] * (N - k) / (n - k)
        favourite = n // (i + 1)  # maximises p_k
        here = state  # T_i(0)
        after = here + N + 1  # w_i(0)
        for a in range(N + 1):
            first_choice[state] = choice
            bounds[state] = _one_bit_time(n, mode, N + 1, N + 1 - a, harmonic)
            bound = bounds[state] * (1.0 + SLACK)
            state += 1
            known, first, last = -1, 0, -1
            for turn in range(N + 1):
                k = favourite if turn == 0 else turn + (turn >= favourite)
                inside = 0.0 if mode == REJECT else q[k]
                if not every_radius and (p[k] + inside) * bound < 1.0:
                    continue
                if known == k - 1:
                    fewer, law = law, fewer
                    fewer_first, fewer_last = first, last
                else:
                    fewer_first, fewer_last = _law(N, a, k - 1, fewer)
                first, last = _law(N, a, k, law) if k <= N else (0, -1)
                known = k
                start = entry
                leave = 0.0
                # columns must ascend, and b = a + k - 2x ascends while x descends
                for x in range(last, first - 1, -1):
                    b = a + k - 2 * x
                    if (mode == UPWARD and b > a) or (mode == ANY and b != a):
                        columns[entry] = here + b
                        probabilities[entry] = q[k] * law[x]
                        leave += probabilities[entry]
                        entry += 1
                for x in range(fewer_last, fewer_first - 1, -1):
                    columns[entry] = after + a + k - 1 - 2 * x
                    probabilities[entry] = p[k] * fewer[x]
                    leave += probabilities[entry]
                    entry += 1
                if not every_radius and leave * bound < 1.0:
                    entry = start
                    continue
                for e in range(start, entry):
                    probabilities[e] /= leave
                first_entry[choice] = start
                costs[choice] = 1.0 / leave
                choice += 1
        for a in range(N + 1):
            first_choice[state] = choice
            bounds[state] = _one_bit_time(n, mode, N, N - a, harmonic)
            state += 1
            first_entry[choice] = entry
            costs[choice] = 0.0
            choice += 1
            if N == 0:  # the optimum
                columns[entry] = after
                probabilities[entry] = 1.0
                entry += 1
            if a < N:  # level i+1 has N states of each kind
                columns[entry] = after + N + 1 + a
                probabilities[entry] = (N - a) / N
                entry += 1
            if a > 0:
                columns[entry] = after + N + 1 + N + a - 1
                probabilities[entry] = a / N
                entry += 1
    first_choice[state] = choice
    first_entry[choice] = entry
    return choice, entry
