"""Rules: policies by name.

Those of :mod:`~kflip.rules.closed_form` make a table of radii for any setting.  Those of
:mod:`~kflip.rules.adaptive` learn from success and failure while the algorithm runs: they have memory, so they can be
evaluated and simulated, but are not tables.
"""

from __future__ import annotations

import re

from kflip.errors import unknown_word
from kflip.policy import AnyPolicy, PolicyLike, as_policy
from kflip.rules.adaptive import AdaptiveRule, Memory, SelfAdjusting, parse_self_adjusting, self_adjusting
from kflip.rules.closed_form import (
    Rule,
    constant,
    lo_optimal,
    max_drift,
    max_success,
    one_bit,
    random_radius,
)
from kflip.setting import Setting

__all__ = [
    "REGISTRY",
    "AdaptiveRule",
    "Memory",
    "Rule",
    "SelfAdjusting",
    "as_adaptive",
    "by_name",
    "constant",
    "lo_optimal",
    "max_drift",
    "max_success",
    "one_bit",
    "random_radius",
    "resolve",
    "self_adjusting",
]

#: Rules without parameters; ``constant-K`` and ``self-adjusting-F-S`` are understood for any numbers.
REGISTRY: dict[str, Rule | AdaptiveRule] = {
    rule.name: rule for rule in (one_bit, lo_optimal, random_radius, max_drift, max_success, self_adjusting())
}


def by_name(name: str) -> Rule | AdaptiveRule:
    """Find a rule by its name: one of :data:`REGISTRY`, ``constant-K``, or ``self-adjusting-F-S``."""
    match = re.fullmatch(r"constant-(\d{1,18})", name)
    if match:
        return constant(int(match[1]))
    if name in REGISTRY:
        return REGISTRY[name]
    found = parse_self_adjusting(name)
    if found is None:
        raise unknown_word("rule", name, (*REGISTRY, "constant-K", "self-adjusting-F-S"))
    return found


def as_adaptive(policy: object) -> AdaptiveRule | None:
    """The rule with memory that ``policy`` is or names; None if it is or names something else."""
    if isinstance(policy, str):
        policy = by_name(policy)
    return policy if isinstance(policy, AdaptiveRule) else None


def resolve(setting: Setting, policy: PolicyLike | Rule | AdaptiveRule) -> AnyPolicy:
    """Turn anything that stands for a table of radii or probabilities into a checked policy of the setting."""
    if isinstance(policy, str):
        policy = by_name(policy)
    if isinstance(policy, AdaptiveRule):
        raise policy.no_table()
    if isinstance(policy, Rule):
        policy = policy.build(setting)
    return as_policy(setting, policy)
