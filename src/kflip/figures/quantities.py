"""The numbers a map shows, one for each (LO, OM).

A policy that sees LO alone does the same whatever OM is, so its radii, values and deviations are constant along a row.
Its runs pass through (LO, OM) all the same: visits and regret are those of the lifted policy, the regret against the
best policy that sees both.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kflip._typing import BoolArray, FloatArray
from kflip.analysis import regret_by_state, visits
from kflip.errors import InputError, unknown_word
from kflip.evaluation import Evaluation, evaluate
from kflip.policy import AnyPolicy, Policy, exists, lift
from kflip.rules import AdaptiveRule
from kflip.setting import Setting
from kflip.solution import Solution

Result = Solution | Evaluation

#: Less than this is rounding, not regret.
TRACE = 1e-9

#: Less than this is the root of rounding, not a standard deviation.
ROUNDING = 1e-6


@dataclass(frozen=True)
class Quantity:
    """What a map shows: its name on the colour bar, whether it spans orders of magnitude, and how to get it.

    ``cells`` returns shape ``(n+1, n+1)``, indexed ``[lo, om]``, NaN where nothing is drawn.
    """

    label: str
    wide: bool
    cells: Callable[[Result], FloatArray]


def quantity(what: str) -> Quantity:
    """Find a quantity by its name."""
    if not isinstance(what, str) or what not in WHAT:
        raise unknown_word("quantity", what, WHAT)
    return WHAT[what]


def check_result(result: object) -> None:
    """Refuse what has no map."""
    if not isinstance(result, (Solution, Evaluation)):
        raise InputError(f"a map shows a Solution or an Evaluation, not {type(result).__name__}")
    check_state(result.setting)


def check_state(setting: Setting) -> None:
    """Refuse states that are not in the plane of LO and OM."""
    if setting.state == "bits":
        raise InputError("a figure shows (LO, OM): state 'bits' is not supported, use 'lo' or 'lo-om'")


def seeing_both(setting: Setting) -> Setting:
    """The same benchmark for policies that see (LO, OM)."""
    return replace(setting, state="lo-om")


def all_states(n: int) -> BoolArray:
    """Mask of shape ``(n+1, n+1)`` of the states that exist, the optimum among them."""
    mask = exists(n, "lo-om").copy()
    mask[n, n] = True
    return mask


def mean_radii(policy: AnyPolicy) -> FloatArray:
    """Radius in every (LO, OM), or its mean if the policy draws it; NaN where no state exists and at the optimum."""
    lifted = lift(policy, "lo-om")
    cells = np.full((policy.n + 1, policy.n + 1), np.nan)
    mask = exists(policy.n, "lo-om")
    radii = lifted.table if isinstance(lifted, Policy) else lifted.probabilities @ lifted.radii
    cells[mask] = radii[mask]
    return cells


def lost(setting: Setting, policy: AnyPolicy) -> FloatArray:
    """Iterations lost in every (LO, OM); ``inf`` where that cannot be said, NaN where no state exists."""
    both = seeing_both(setting)
    regret = regret_by_state(both, lift(policy, "lo-om"))
    regret[np.abs(regret) < TRACE] = 0.0
    regret[np.isnan(regret)] = np.inf
    return np.where(exists(setting.n, "lo-om"), regret, np.nan)


def table_of(result: Result) -> AnyPolicy:
    """The policy, unless it has memory and hence no table."""
    if isinstance(result.policy, AdaptiveRule):
        raise result.policy.no_table()
    return result.policy


def _radii(result: Result) -> FloatArray:
    policy = table_of(result)
    if not isinstance(policy, Policy):
        raise InputError("a stochastic policy has no single radius to show: take 'value', 'visits', 'regret' or 'std'")
    return mean_radii(policy)


def _rows(numbers: FloatArray, n: int) -> FloatArray:
    table = np.broadcast_to(numbers[:, None], (n + 1, n + 1)) if numbers.ndim == 1 else numbers
    return np.where(all_states(n), table, np.nan)


def _values(result: Result) -> FloatArray:
    return _rows(result.values, result.setting.n)


def _stds(result: Result) -> FloatArray:
    known = result if isinstance(result, Evaluation) else evaluate(result.setting, result.policy)
    return _rows(np.where(known.stds < ROUNDING, 0.0, known.stds), result.setting.n)


def _visits(result: Result) -> FloatArray:
    expected = visits(seeing_both(result.setting), lift(table_of(result), "lo-om")).expected
    return np.where(expected > 0.0, expected, np.nan)


def _lost(result: Result) -> FloatArray:
    return lost(result.setting, table_of(result))


#: Everything a map can show, by name.
WHAT: dict[str, Quantity] = {
    "radius": Quantity("search radius k", False, _radii),
    "value": Quantity("expected remaining runtime (iterations)", False, _values),
    "visits": Quantity("expected iterations in the state", True, _visits),
    "regret": Quantity("expected iterations lost in the state", True, _lost),
    "std": Quantity("standard deviation of the remaining runtime", False, _stds),
}
