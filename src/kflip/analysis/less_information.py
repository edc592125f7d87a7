"""The best policy that sees less: (LeadingOnes, OneMax) when the policy is shown LO alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kflip._typing import IntArray
from kflip.compilation import announce
from kflip.errors import InputError
from kflip.exact import lo_only
from kflip.exact.flips import UPWARD
from kflip.exact.less_information import Bounds, Search, bounds_of, bytes_of_bounds, descend, search_from
from kflip.exact.levels import binomial_weights
from kflip.exact.lo_only_proof import explore, stack_of
from kflip.exact.occupancy import random_start, visits_lo_om
from kflip.exact.sweeps import Progress
from kflip.memory import require
from kflip.policy import Policy
from kflip.setting import Setting
from kflip.solution import Solution, solve

#: Depths at which the proof stops to note a lower bound before it goes all the way.
STAGES = (1, 2, 3)

#: Partial policies followed at a time: enough to cost nothing, few enough to hear an interrupt.
SLICE = 2000

#: Random policies that the search starts from besides those known in closed form.
RANDOM_STARTS = 2


@dataclass(frozen=True, eq=False)
class BestLoOnly:
    """The best policy found that sees LO alone and picks one radius for each LO.

    Attributes
    ----------
    setting
        What was searched, with state ``"lo"``.
    table
        Radius for every LO, shape ``(n+1,)``, 0 at the optimum.  No other radius for a single LO is better.
    expected_runtime
        Its exact expected runtime from a uniformly random string.
    lower_bound
        No such policy has a smaller expected runtime.  At least what the best policy that sees (LO, OM) takes.
    proven_optimal
        Whether all such policies were ruled out, up to a relative 1e-12; ``lower_bound`` is then ``expected_runtime``.
    examined
        How many partial policies the proof looked at.
    """

    setting: Setting
    table: IntArray
    expected_runtime: float
    lower_bound: float
    proven_optimal: bool
    examined: int

    def __post_init__(self) -> None:
        self.table.flags.writeable = False

    @property
    def policy(self) -> Policy:
        """The table as a policy."""
        return Policy(self.setting.n, "lo", self.table, "best-lo-only")

    def __repr__(self) -> str:
        standing = "proven optimal" if self.proven_optimal else f"at least {self.lower_bound:.6g}"
        return f"BestLoOnly({self.setting}; expected runtime {self.expected_runtime:.6g}, {standing})"


def best_lo_only(
    setting: Setting, *, budget: int = 50_000, seed: int = 0, progress: Progress | None = None
) -> BestLoOnly:
    """Find the best radius for every LO on objective ``"loom"``, and prove it best if that is not too much work.

    Coordinate descent with exact values starts from the radius most likely to improve LO, from one bit, from the
    (LO, OM) optimum's most used radii and from random policies.  Branch and bound then looks for anything better.

    Parameters
    ----------
    setting
        Objective ``"loom"``; the policy sees LO alone whatever ``setting.state`` says.
    budget
        How many partial policies the proof may follow; with the full portfolio it takes 36,000 at n = 64 and 358,000
        at n = 96.  0 leaves it at the descent and the simplest lower bound.
    seed
        Of the random starts.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> best = best_lo_only(Setting(8))
    >>> best.table.tolist(), round(best.expected_runtime, 6), best.proven_optimal
    ([8, 1, 1, 1, 1, 1, 1, 1, 0], 15.704762, True)
    """
    if setting.objective != "loom":
        raise InputError(
            "LO is all that matters on objective 'lo': use solve(Setting(..., objective='lo', state='lo'))"
        )
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 0:
        raise InputError(f"budget is a number of partial policies, not {budget!r}")
    announce(explore)
    n = setting.n
    seen = Setting(n, "loom", setting.selection, "lo", setting.portfolio)
    radii = np.array(setting.radii, dtype=np.int64)
    optimum = solve(Setting(n, "loom", setting.selection, "lo-om", setting.portfolio))
    if np.isinf(optimum.expected_runtime):  # then LO = n - 1 is a trap for every policy
        return BestLoOnly(seen, np.append(np.full(n, radii[0]), 0), np.inf, np.inf, True, 0)
    require(bytes_of_bounds(n, radii), f"the best policy that sees LO alone, {seen}")
    bounds = bounds_of(n, radii, optimum.values.copy())
    report = progress if progress is not None else _silent
    report(0.1)
    found = []
    for count, table in enumerate(_starts(optimum, radii, seed), start=1):
        search = search_from(table)
        found.append((descend(search, bounds), count, search))
        report(0.1 + 0.4 * count / (3 + RANDOM_STARTS))
    expected, _, best = min(found, key=lambda entry: entry[:2])
    expected, low, examined = _prove(best, bounds, expected, optimum.expected_runtime, budget, report)
    proven = np.isinf(low)
    return BestLoOnly(seen, best.table, expected, expected if proven else min(low, expected), bool(proven), examined)


def _silent(share: float) -> None:
    return None


def _starts(optimum: Solution, radii: IntArray, seed: int) -> Iterator[IntArray]:
    n = optimum.setting.n
    yield lo_only.best_radii(n, radii)
    yield np.append(np.ones(n, dtype=np.int64), 0)
    yield _most_used(optimum)
    rng = np.random.default_rng(seed)
    for _ in range(RANDOM_STARTS):
        yield np.array([*(rng.choice(radii[radii <= n - lo]) for lo in range(n)), 0], dtype=np.int64)


def _most_used(optimum: Solution) -> IntArray:
    """The radius that an optimal run uses most for every LO."""
    n = optimum.setting.n
    table = optimum.policy.table.astype(np.int64)
    nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 0, 0))
    spent = visits_lo_om(n, UPWARD, table, *nothing, random_start(n))[0]
    used = [np.bincount(table[lo, lo:n], weights=spent[lo, lo:n], minlength=n + 1) for lo in range(n)]
    return np.array([*(int(np.argmax(row)) for row in used), 0], dtype=np.int64)


def _prove(
    best: Search, bounds: Bounds, expected: float, low: float, budget: int, report: Progress
) -> tuple[float, float, int]:
    """Improve ``best`` and raise the lower bound of all others by branch and bound; return both and the work done.

    The bound is ``inf`` if no other policy is better.
    """
    n = best.table.size - 1
    ones = binomial_weights(n)
    examined = 0
    for depth in [*(stage for stage in STAGES if stage < n), n]:
        record, table = np.array([expected]), best.table.copy()
        stack = stack_of(ones, depth, bounds)
        left = np.inf
        paused = True
        while paused:
            steps = min(SLICE, budget - examined)
            followed, met = explore(steps, stack, bounds, best.behind, best.table, record, table)
            examined += followed
            left = min(left, met)
            report(0.5 + 0.5 * examined / max(1, budget))
            paused = bool(stack.level[0] >= 0 and examined < budget)
        if record[0] < expected:
            best.table[:] = table
            expected = descend(best, bounds)
        if stack.level[0] >= 0:
            break
        low = max(low, left)
        if np.isinf(left):
            break
    report(1.0)
    return expected, low, examined
