"""Policies: a radius, or a distribution over radii, for every state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import BoolArray, FloatArray, RadiusArray
from kflip.errors import InputError
from kflip.objectives import bits_of, index_of, leading_ones, lo_om_of_all, one_max
from kflip.setting import Setting


@dataclass(frozen=True, eq=False)
class Policy:
    """A radius for every state.

    Parameters
    ----------
    n, state
        As in :class:`~kflip.setting.Setting`.
    table
        Radii: shape ``(n+1,)`` for state ``"lo"``, ``(n+1, n+1)`` indexed ``[lo, om]`` for ``"lo-om"``, ``(2**n,)``
        for ``"bits"``.  Zero where no state exists and at the optimum.
    name
        What to call it in tables and figures.
    """

    n: int
    state: str
    table: RadiusArray
    name: str = "table"

    def __post_init__(self) -> None:
        self.table.flags.writeable = False

    def at(self, lo: int | None = None, om: int | None = None, *, x: ArrayLike | None = None) -> int:
        """Radius in one state: ``at(lo)``, ``at(lo, om)`` or ``at(x=bits)``; ``x`` works for every state."""
        return int(self.table[state_index(self.n, self.state, lo, om, x)])


@dataclass(frozen=True, eq=False)
class StochasticPolicy:
    """A distribution over radii for every state.

    Parameters
    ----------
    n, state
        As in :class:`~kflip.setting.Setting`.
    radii
        The radii, ascending, shape ``(m,)``.
    probabilities
        Shape ``(*states, m)``, with ``states`` as for :class:`Policy`; every row of an existing state sums to 1.
    """

    n: int
    state: str
    radii: RadiusArray
    probabilities: FloatArray
    name: str = "stochastic"

    def __post_init__(self) -> None:
        self.radii.flags.writeable = False
        self.probabilities.flags.writeable = False

    def at(self, lo: int | None = None, om: int | None = None, *, x: ArrayLike | None = None) -> dict[int, float]:
        """Radii with positive probability in one state, as in :meth:`Policy.at`."""
        row = self.probabilities[state_index(self.n, self.state, lo, om, x)]
        return {int(k): float(p) for k, p in zip(self.radii, row, strict=True) if p > 0}


AnyPolicy: TypeAlias = Policy | StochasticPolicy
PolicyLike: TypeAlias = AnyPolicy | ArrayLike | Callable[..., int] | str


def exists(n: int, state: str) -> BoolArray:
    """Mask of the states that exist and are not optimal, in the shape of a policy's table."""
    if state == "lo-om":
        lo, om = np.ogrid[: n + 1, : n + 1]
        return np.asarray((lo <= om) & (om < n))
    size = n + 1 if state == "lo" else 2**n
    mask = np.ones(size, dtype=bool)
    mask[-1] = False
    return mask


def state_index(n: int, state: str, lo: int | None, om: int | None, x: ArrayLike | None) -> tuple[int, ...]:
    """Index of one state into a table of the given kind, checked."""
    if x is not None:
        if lo is not None or om is not None:
            raise InputError("give either the string x or lo and om, not both")
        bits = np.asarray(x)
        if bits.shape != (n,):
            raise InputError(f"expected a string of {n} bits, not an array of shape {bits.shape}")
        if state == "bits":
            return (int(index_of(bits)),)
        lo, om = int(leading_ones(bits)), int(one_max(bits))
    elif state == "bits":
        raise InputError("this policy sees the whole string: pass x=bits")
    if lo is None or not 0 <= lo <= n:
        raise InputError(f"lo must be in 0..{n}, not {lo!r}")
    if state == "lo":
        return (lo,)
    if om is None or not (lo <= om < n or lo == om == n):
        raise InputError(f"no state has lo = {lo} and om = {om!r} for n = {n}")
    return (lo, om)


def as_policy(setting: Setting, policy: PolicyLike) -> AnyPolicy:
    """Turn a policy, a table or a callable into a checked policy for the setting.

    A callable gets what the policy sees: ``(lo)``, ``(lo, om)`` or the bits ``x`` as an array of shape ``(n,)``.
    Policies that see less are lifted: LO to (LO, OM) to bits.
    """
    if isinstance(policy, (Policy, StochasticPolicy)):
        if policy.n != setting.n:
            raise InputError(f"the policy is for n = {policy.n}, the setting has n = {setting.n}")
        lifted = lift(policy, setting.state)
    elif callable(policy):
        lifted = _tabulate(setting, policy)
    elif isinstance(policy, str):
        raise InputError(f"{policy!r} is not a table; see kflip.rules for policies known by name")
    else:
        lifted = _from_table(setting, np.asarray(policy))
    _check(setting, lifted)
    return lifted


def lift(policy: AnyPolicy, state: str) -> AnyPolicy:
    """The same policy as a table over richer states."""
    order = ("lo", "lo-om", "bits")
    if policy.state == state:
        return policy
    if order.index(state) < order.index(policy.state):
        raise InputError(f"a policy that sees {policy.state!r} cannot be used where only {state!r} is seen")
    n = policy.n
    where: tuple[Any, ...]
    if state == "lo-om":
        where = np.broadcast_arrays(*np.ogrid[: n + 1, : n + 1])[:1]
    else:
        where = lo_om_of_all(n)[: 1 if policy.state == "lo" else 2]
    gone = ~exists(n, state)
    if isinstance(policy, Policy):
        table = policy.table[where]
        table[gone] = 0
        return Policy(n, state, table, policy.name)
    probabilities = policy.probabilities[where]
    probabilities[gone] = 0.0
    return StochasticPolicy(n, state, policy.radii, probabilities, policy.name)


def _tabulate(setting: Setting, choose: Callable[..., int]) -> Policy:
    n = setting.n
    table = np.zeros(setting.shape, dtype=np.int64)
    where = np.argwhere(exists(n, setting.state))
    seen: list[Any] = [(x,) for x in bits_of(where[:, 0], n)] if setting.state == "bits" else where.tolist()
    for index, arguments in zip(where, seen, strict=True):
        radius = choose(*arguments)
        if isinstance(radius, bool) or int(radius) != radius:
            raise InputError(f"the policy returned {radius!r}, not a radius")
        table[tuple(index)] = int(radius)
    return Policy(n, setting.state, table, getattr(choose, "__name__", "callable"))


def _from_table(setting: Setting, array: np.ndarray[Any, Any]) -> AnyPolicy:
    if array.dtype == object or not np.issubdtype(array.dtype, np.number):
        raise InputError(f"a policy table holds numbers, not {array.dtype}")
    m = len(setting.radii)
    if array.shape == setting.shape:
        missing = np.issubdtype(array.dtype, np.floating) & np.isnan(array)
        radii = np.where(missing & ~exists(setting.n, setting.state), 0, array)
        if np.isnan(radii).any():
            raise InputError("the policy table holds NaN in states that exist")
        if (radii != np.floor(radii)).any():
            raise InputError("the policy table holds radii that are not whole numbers")
        table = radii.astype(np.int64)
        table[~exists(setting.n, setting.state)] = 0
        return Policy(setting.n, setting.state, table)
    if array.shape == (*setting.shape, m):
        probabilities = array.astype(np.float64)
        probabilities[~exists(setting.n, setting.state)] = 0.0
        return StochasticPolicy(setting.n, setting.state, np.array(setting.radii, dtype=np.int64), probabilities)
    raise InputError(
        f"a policy table of shape {array.shape}: expected {setting.shape} radii"
        f" or {(*setting.shape, m)} probabilities over the portfolio"
    )


def _check(setting: Setting, policy: AnyPolicy) -> None:
    mask = exists(setting.n, setting.state)
    if isinstance(policy, Policy):
        used = np.unique(policy.table[mask])
        bad = used[(used < 1) | (used > setting.n)]
        if bad.size:
            raise InputError(f"radius {bad[0]} in the policy is outside 1..{setting.n}")
        foreign = np.setdiff1d(used, setting.radii)
    else:
        rows = policy.probabilities[mask]
        if not np.isfinite(rows).all() or (rows < 0).any():
            raise InputError("probabilities must be finite and not negative")
        if (np.abs(rows.sum(axis=-1) - 1.0) > 1e-9).any():
            raise InputError("the probabilities of every state must sum to 1")
        foreign = np.setdiff1d(policy.radii[rows.any(axis=0)], setting.radii)
    if foreign.size:
        raise InputError(f"radius {foreign[0]} is not in the portfolio {setting.portfolio}")
