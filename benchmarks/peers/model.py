r"""The optimal-radius problems as explicit Markov decision processes, in the form that suits a general solver best.

On level ``i`` the string is ``1^i 0`` followed by :math:`N = n - i - 1` bits with ``a`` ones, all placements equally
likely.  The process has two kinds of states on every level:

* ``T_i(a)`` chooses a radius ``k``.  With probability :math:`p_k = \binom{N}{k-1} / \binom{n}{k}` LO improves and
  ``k - 1`` suffix bits flip: on to ``w_i(b)``.  With probability :math:`q_k = \binom{N}{k} / \binom{n}{k}` only
  ``k`` suffix bits flip: on to ``T_i(b)`` if the offspring is accepted.  Everything else stays in the state.
* ``w_i(a)``, "positions ``1..i+1`` are ones, ``a`` of the :math:`N` bits behind them", has one choice of cost 0: to
  ``T_{i+1}(a)`` with probability :math:`(N - a) / N` and to ``w_{i+1}(a - 1)`` with probability :math:`a / N`.
  ``w_{n-1}(0)`` is the optimum.

Three things keep the process small without changing any optimal value:

* the ``w`` states replace the distribution over all later ``(LO, OM)`` by two transitions;
* staying is conditioned away: a choice that leaves with probability ``x`` costs :math:`1/x` and its transitions are
  divided by ``x``, so that nothing loops on itself, and all but LeadingOnes with standard selection are acyclic;
* a radius with :math:`1/x` above the time that ``k = 1`` guarantees can never be optimal and gets no choice.

``k = 1`` removes one zero every ``n`` iterations if no one is ever lost, so it needs at most
:math:`n (N + 1 - a)`; under standard selection on LeadingOnes ones are lost, but each level still takes at most
``n`` iterations: :math:`n (N + 1)`.  States are numbered in the order ``T_0, w_0, T_1, w_1, ...``, ``a`` ascending, so that
successors come later (a backward Gauss-Seidel sweep solves an acyclic process at once) and the optimum is last.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.signedinteger[Any]]

#: Which moves inside a level each setting accepts.
REJECT, UPWARD, ANY = 0, 1, 2
SETTINGS = {"loom": UPWARD, "lo-strict": REJECT, "lo-standard": ANY}

#: Flip counts less likely than this fraction of the most likely one are left out.
CUT = 1e-18

#: Relative slack of the bound that rules radii out, far above rounding.
SLACK = 1e-9


class Process(NamedTuple):
    """A Markov decision process in compressed rows, one row per choice.

    ``first_choice`` has one entry per state and one more, ``first_entry`` one per choice and one more; ``columns`` and
    ``probabilities`` hold the transitions, ``costs`` the expected iterations a choice takes.
    """

    first_choice: IndexArray
    first_entry: IndexArray
    columns: IndexArray
    probabilities: FloatArray
    costs: FloatArray

    @property
    def states(self) -> int:
        """Number of states; the last is the optimum."""
        return self.first_choice.size - 1


def build(setting: str, n: int, *, index: type = np.int64, every_radius: bool = False) -> Process:
    """Write down the process of a setting.

    Parameters
    ----------
    setting
        ``"loom"``, ``"lo-strict"`` or ``"lo-standard"``.
    n
        Length of the string.
    index
        Integer type of all index arrays.
    every_radius
        Keep the radii that cannot be optimal.
    """
    mode = SETTINGS[setting]
    levels = np.arange(1, n + 1)
    states = n * (n + 1)
    choices = int((levels**2).sum()) + states // 2
    entries = _most_entries(n, mode)
    # more than needed, but pages that stay unwritten take no memory
    first_choice = np.empty(states + 1, dtype=index)
    first_entry = np.empty(choices + 1, dtype=index)
    columns = np.empty(entries, dtype=index)
    probabilities = np.empty(entries)
    costs = np.empty(choices)
    choices, entries = _fill(n, mode, every_radius, first_choice, first_entry, columns, probabilities, costs)
    return Process(
        first_choice, first_entry[: choices + 1], columns[:entries], probabilities[:entries], costs[:choices]
    )


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
    """Write into ``law[x]`` the probability that ``x`` of ``k`` flipped bits are ones; return the first and last ``x``."""
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
def _fill(
    n: int,
    mode: int,
    every_radius: bool,
    first_choice: IndexArray,
    first_entry: IndexArray,
    columns: IndexArray,
    probabilities: FloatArray,
    costs: FloatArray,
) -> tuple[int, int]:
    """Fill the arrays of :class:`Process` level by level; return the numbers of choices and transitions."""
    fewer, law = np.zeros(n + 1), np.zeros(n + 1)
    p, q = np.zeros(n + 2), np.zeros(n + 2)
    state = choice = entry = 0
    for i in range(n):
        N = n - i - 1
        p[1], q[1] = 1.0 / n, N / n
        for k in range(1, N + 1):
            p[k + 1] = p[k] * ((N - k + 1.0) / k * (k + 1.0) / (n - k))
            q[k + 1] = q[k] * (N - k) / (n - k)
        favourite = n // (i + 1)
        here = state  # T_i(0)
        after = here + N + 1  # w_i(0)
        for a in range(N + 1):
            first_choice[state] = choice
            state += 1
            bound = (n * (N + 1.0) if mode == ANY else n * (N + 1.0 - a)) * (1.0 + SLACK)
            known, first, last = -1, 0, -1
            for turn in range(N + 1):
                k = favourite if turn == 0 else turn + (turn >= favourite)
                inside = q[k] if mode != REJECT else 0.0
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
                # b = a + k - 2x ascends while x descends
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
            state += 1
            first_entry[choice] = entry
            costs[choice] = 0.0
            choice += 1
            if N == 0:
                columns[entry] = after
                probabilities[entry] = 1.0
                entry += 1
            # level i+1 has N states of each kind
            if a < N:
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
