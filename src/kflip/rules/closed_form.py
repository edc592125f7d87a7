r"""Policies known in closed form.

Two of them look one iteration ahead.  ``max-drift`` takes the radius with the largest expected gain of LO,
``max-success`` the one most likely to make the string better in the sense of the objective.  Seeing LO alone, they
average over a uniformly random suffix.  :math:`k` flips of random bits gain and lose ones symmetrically, so OM rises
with probability

.. math:: R_k = \tfrac12 \Bigl(1 - \binom{k}{k/2} 2^{-k} [k \text{ even}]\Bigr),

whatever the length of the suffix, and ``max-success`` on (LO, OM) maximises :math:`p_k + q_k R_k`.  It is a bad guide
there: with LO = 0, flipping all bits succeeds for certain and turns every one into a zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral

import numpy as np

from kflip.errors import InputError
from kflip.exact.drift import max_drift_table, max_success_radii, max_success_table
from kflip.exact.lo_only import best_radii
from kflip.policy import AnyPolicy, Policy, StochasticPolicy, exists, lift
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


def _max_success(setting: Setting) -> AnyPolicy:
    radii = np.array(setting.radii, dtype=np.int64)
    if setting.objective == "lo":
        return lift(Policy(setting.n, "lo", best_radii(setting.n, radii), "max-success"), setting.state)
    if setting.state == "lo":
        return Policy(setting.n, "lo", max_success_radii(setting.n, radii), "max-success")
    return lift(Policy(setting.n, "lo-om", max_success_table(setting.n, radii), "max-success"), setting.state)


one_bit = constant(1)
lo_optimal = Rule(
    "lo-optimal", "floor(n / (LO + 1)), or the radius of the portfolio most likely to improve LO", _lo_optimal
)
random_radius = Rule("random-radius", "a radius of the portfolio drawn anew in every iteration", _random_radius)
max_drift = Rule("max-drift", "the radius with the largest expected gain of LO, given (LO, OM)", _max_drift)
max_success = Rule("max-success", "the radius most likely to improve the objective, given (LO, OM)", _max_success)
