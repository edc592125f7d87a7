"""What every analysis is asked: a policy on a chain that can be followed, and where the run starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kflip._typing import FloatArray, IntArray
from kflip.errors import InputError
from kflip.exact import lo_only
from kflip.exact.levels import binomial_weights
from kflip.exact.occupancy import random_start
from kflip.exact.sweeps import acceptance
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy, PolicyLike, lift, state_index
from kflip.rules import Rule, resolve
from kflip.setting import Setting

#: None for a uniformly random string, ``(lo, om)`` for a random one of that state, ``lo`` if the policy sees LO alone.
StartLike: TypeAlias = tuple[int, int] | int | None


@dataclass(frozen=True)
class LoOmChain:
    """A policy on the ``(LO, OM)`` chain, as the kernels take it, and the law of the first state.

    Either ``table`` has shape (n+1, n+1), or ``probabilities`` over ``radii`` shape (n+1, n+1, m); the rest is empty.
    """

    n: int
    mode: int
    table: IntArray
    radii: IntArray
    probabilities: FloatArray
    start: FloatArray


@dataclass(frozen=True)
class LoChain:
    """A policy that sees LO alone on LeadingOnes: the chance of improving each LO, and the law of the first one."""

    p: FloatArray
    first: int | None
    start: FloatArray


def known_policy(setting: Setting, policy: PolicyLike | Rule) -> AnyPolicy:
    """Resolve a policy of a setting whose states can be listed level by level."""
    if setting.state == "bits":
        raise InputError("this analysis follows LO or (LO, OM): state 'bits' is not supported, use 'lo' or 'lo-om'")
    return resolve(setting, policy)


def chain_of(setting: Setting, policy: AnyPolicy, start: StartLike = None) -> LoOmChain | LoChain:
    """The smallest chain that describes the runs: LO alone where the suffix stays random, else ``(LO, OM)``."""
    checked = check_start(setting, start)
    if setting.state == "lo" and setting.objective == "lo" and not isinstance(checked, tuple):
        return LoChain(level_probabilities(setting.n, policy), checked, _start_lo(setting.n, checked))
    return lo_om_chain(setting, policy, start)


def lo_om_chain(setting: Setting, policy: AnyPolicy, start: StartLike = None) -> LoOmChain:
    """A policy lifted to ``(LO, OM)``."""
    n = setting.n
    choices = 0 if isinstance(policy, Policy) else len(policy.radii)
    require((n + 1) ** 2 * 8 * (8 + choices), f"analysing a policy on {setting}")
    lifted = lift(policy, "lo-om")
    table, radii = np.zeros((0, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
    probabilities = np.zeros((0, 0, 0))
    if isinstance(lifted, Policy):
        table = lifted.table.astype(np.int64)
    else:
        radii, probabilities = lifted.radii.astype(np.int64), np.array(lifted.probabilities)
    mode = acceptance(setting.objective, setting.selection)
    return LoOmChain(n, mode, table, radii, probabilities, _start_lo_om(n, check_start(setting, start)))


def level_probabilities(n: int, policy: AnyPolicy) -> FloatArray:
    """Chance of improving each LO, shape (n,), of a policy that sees LO alone."""
    if isinstance(policy, Policy):
        return lo_only.level_probabilities(n, policy.table.astype(np.int64))
    return lo_only.mixed_probabilities(n, policy.radii.astype(np.int64), np.array(policy.probabilities))


def check_start(setting: Setting, start: StartLike) -> StartLike:
    """A start that exists, as plain integers."""
    if start is None:
        return None
    if isinstance(start, tuple):
        if len(start) == 2:
            lo, om = state_index(setting.n, "lo-om", *start, None)
            return lo, om
    elif setting.state == "lo":
        return state_index(setting.n, "lo", start, None, None)[0]
    allowed = "lo or (lo, om)" if setting.state == "lo" else "a pair (lo, om)"
    raise InputError(f"a start is None for a random string or {allowed}, not {start!r}")


def _start_lo(n: int, lo: int | None) -> FloatArray:
    start = np.zeros(n + 1)
    if lo is None:
        start[:n] = np.ldexp(1.0, -np.arange(1, n + 1))
        start[n] = np.ldexp(1.0, -n)
    else:
        start[lo] = 1.0
    return start


def _start_lo_om(n: int, start: StartLike) -> FloatArray:
    if start is None:
        return random_start(n)
    law = np.zeros((n + 1, n + 1))
    if isinstance(start, tuple):
        law[start] = 1.0
    elif start == n:
        law[n, n] = 1.0
    else:
        law[start, start:n] = binomial_weights(n - start - 1)
    return law
