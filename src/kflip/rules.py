"""Policies known in closed form, by name."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from kflip.errors import InputError, unknown_word
from kflip.exact.drift import max_drift_table
from kflip.exact.lo_only import best_radii
from kflip.policy import AnyPolicy, Policy, PolicyLike, StochasticPolicy, as_policy, exists, lift
from kflip.setting import Setting


@dataclass(frozen=True)
class Rule:
    """A recipe that makes a policy for any setting.

    ``name`` is what the command line calls it, ``about`` one line for the user, ``build`` makes the policy.
    """

    name: str
    about: str
    build: Callable[[Setting], AnyPolicy]


def constant(k: int) -> Rule:
    """Flip ``k`` bits in every state."""
    if isinstance(k, bool) or not isinstance(k, Integral):
        raise InputError(f"a radius is a whole number, not {k!r}")
    k = int(k)

    def build(setting: Setting) -> Policy:
        if k not in setting.radii:
            raise InputError(f"radius {k} is not in the portfolio {setting.portfolio} for n = {setting.n}")
        table = np.where(exists(setting.n, setting.state), k, 0)
        return Policy(setting.n, setting.state, table, "one-bit" if k == 1 else f"constant-{k}")

    return Rule("one-bit" if k == 1 else f"constant-{k}", f"always flip {k}", build)


def _lo_optimal(setting: Setting) -> AnyPolicy:
    table = best_radii(setting.n, np.array(setting.radii, dtype=np.int64))
    return lift(Policy(setting.n, "lo", table, "lo-optimal"), setting.state)


def _random_radius(setting: Setting) -> StochasticPolicy:
    m = len(setting.radii)
    weights = np.broadcast_to(np.full(m, 1.0 / m), (*setting.shape, m))
    radii = np.array(setting.radii, dtype=np.int64)
    return StochasticPolicy(setting.n, setting.state, radii, weights, "random-radius")


def _max_drift(setting: Setting) -> AnyPolicy:
    if setting.state == "lo":  # every radius is followed by the same random suffix
        table = best_radii(setting.n, np.array(setting.radii, dtype=np.int64))
        return Policy(setting.n, "lo", table, "max-drift")
    table = max_drift_table(setting.n, np.array(setting.radii, dtype=np.int64))
    return lift(Policy(setting.n, "lo-om", table, "max-drift"), setting.state)


one_bit = constant(1)
lo_optimal = Rule(
    "lo-optimal", "floor(n / (LO + 1)), or the radius of the portfolio most likely to improve LO", _lo_optimal
)
random_radius = Rule("random-radius", "a radius of the portfolio drawn anew in every iteration", _random_radius)
max_drift = Rule("max-drift", "the radius with the largest expected gain of LO, given (LO, OM)", _max_drift)

#: Rules without parameters; ``constant-K`` is understood for any K.
REGISTRY: dict[str, Rule] = {rule.name: rule for rule in (one_bit, lo_optimal, random_radius, max_drift)}


def by_name(name: str) -> Rule:
    """Find a rule by its name: one of :data:`REGISTRY`, or ``constant-K``."""
    match = re.fullmatch(r"constant-(\d{1,18})", name)
    if match:
        return constant(int(match[1]))
    if name not in REGISTRY:
        raise unknown_word("rule", name, (*REGISTRY, "constant-K"))
    return REGISTRY[name]


def resolve(setting: Setting, policy: PolicyLike | Rule) -> AnyPolicy:
    """Turn anything that stands for a policy into a checked policy of the setting."""
    if isinstance(policy, str):
        policy = by_name(policy)
    if isinstance(policy, Rule):
        policy = policy.build(setting)
    return as_policy(setting, policy)
