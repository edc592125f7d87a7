"""What seeing more is worth: the optimum for LO, (LO, OM) and the whole string, side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kflip.objectives import lo_om_of_all
from kflip.portfolio import PortfolioLike
from kflip.setting import STATES, Setting
from kflip.solution import Solution, solve


@dataclass(frozen=True)
class Row:
    """The optimum of one state space; ``gain`` is the relative saving over the next poorer one."""

    state: str
    expected_runtime: float
    proven_optimal: bool
    gain: float


@dataclass(frozen=True)
class Difference:
    """An (LO, OM) state that holds strings with another best radius than the state's own.

    ``radii`` maps each of these radii to how many of the ``strings`` in the state prefer it.
    """

    lo: int
    om: int
    radius: int
    strings: int
    radii: dict[int, int]


@dataclass(frozen=True)
class Comparison:
    """The state spaces of one benchmark side by side; ``differences`` is empty unless bits were solved."""

    rows: list[Row]
    differences: list[Difference]


def compare(
    n: int,
    objective: str = "loom",
    selection: str = "standard",
    portfolio: PortfolioLike = "full",
    states: tuple[str, ...] = STATES,
    *,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Solve one benchmark for several state spaces.

    Parameters
    ----------
    n, objective, selection, portfolio
        As in :class:`~kflip.setting.Setting`.
    states
        Which state spaces, from poor to rich.

    Examples
    --------
    >>> [row.state for row in compare(6, "lo", "strict").rows]
    ['lo', 'lo-om', 'bits']
    """
    solutions: list[Solution] = []
    rows: list[Row] = []
    for number, state in enumerate(states):
        share = None if progress is None else _part(progress, number, len(states))
        found = solve(Setting(n, objective, selection, state, portfolio), progress=share)
        gain = 1.0 - found.expected_runtime / rows[-1].expected_runtime if rows else 0.0
        rows.append(Row(state, found.expected_runtime, found.proven_optimal, gain))
        solutions.append(found)
    known = {found.setting.state: found for found in solutions}
    both = "lo-om" in known and "bits" in known
    return Comparison(rows, differences(known["lo-om"], known["bits"]) if both else [])


def differences(seen: Solution, strings: Solution) -> list[Difference]:
    """States of an (LO, OM) solution that hold strings with another best radius, in order of (LO, OM)."""
    n = seen.setting.n
    lo, om = lo_om_of_all(n)
    place = lo.astype(np.int64) * (n + 1) + om
    # one bin for every state and radius
    counts = np.bincount(place[:-1] * (n + 1) + strings.policy.table[:-1], minlength=(n + 1) ** 3)
    result: list[Difference] = []
    for state, row in enumerate(counts.reshape(-1, n + 1)):
        i, j = divmod(state, n + 1)
        own = int(seen.policy.table[i, j])
        radii = {int(k): int(row[k]) for k in np.flatnonzero(row) if k != own}
        if radii:
            result.append(Difference(i, j, own, int(row.sum()), radii))
    return result


def _part(progress: Callable[[float], None], number: int, parts: int) -> Callable[[float], None]:
    # the last and richest space takes nearly all the time
    low, high = (0.1 * number / parts, 0.1 * (number + 1) / parts) if number < parts - 1 else (0.1, 1.0)
    return lambda done: progress(low + (high - low) * done)
