"""Policies: a radius, or a distribution over radii, for every state."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import BoolArray, FloatArray, RadiusArray
from kflip.errors import InputError, unknown_word
from kflip.objectives import as_bits, bits_of, index_of, leading_ones, lo_om_of_all, one_max
from kflip.setting import STATES, Setting, shape_of

#: How far a state's probabilities may miss the sum 1.
SUM_TOLERANCE = 1e-9

#: Entries of a stochastic policy looked at together; keeps copies small when the table is large.
_BLOCK = 1 << 22


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
        table = np.asarray(self.table)
        _check_shape("a policy table", table, "iu", _shape(self.n, self.state))
        object.__setattr__(self, "table", _frozen(table))

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
        radii, probabilities = np.asarray(self.radii), np.asarray(self.probabilities)
        _check_shape("radii", radii, "iu", (radii.size,))
        if not radii.size or (radii < 1).any() or (radii > self.n).any() or (radii[1:] <= radii[:-1]).any():
            raise InputError(f"the radii of a stochastic policy must ascend within 1..{self.n}, not {radii.tolist()}")
        _check_shape("probabilities", probabilities, "iuf", (*_shape(self.n, self.state), radii.size))
        object.__setattr__(self, "radii", _frozen(radii))
        object.__setattr__(self, "probabilities", _frozen(probabilities.astype(np.float64, copy=False)))

    def at(self, lo: int | None = None, om: int | None = None, *, x: ArrayLike | None = None) -> dict[int, float]:
        """Radii with positive probability in one state, as in :meth:`Policy.at`."""
        row = self.probabilities[state_index(self.n, self.state, lo, om, x)]
        return {int(k): float(p) for k, p in zip(self.radii, row, strict=True) if p > 0}


AnyPolicy: TypeAlias = Policy | StochasticPolicy
PolicyLike: TypeAlias = AnyPolicy | ArrayLike | Callable[..., int] | str


def _shape(n: int, state: str) -> tuple[int, ...]:
    if state not in STATES:
        raise unknown_word("state", state, STATES)
    return shape_of(n, state)


def _check_shape(what: str, array: np.ndarray[Any, Any], kinds: str, shape: tuple[int, ...]) -> None:
    if array.dtype.kind not in kinds or array.shape != shape:
        numbers = "whole numbers" if kinds == "iu" else "numbers"
        raise InputError(f"{what} of {array.dtype} with shape {array.shape}: expected {numbers} with shape {shape}")


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array if it is read-only already, else a copy: the caller's own array stays writable and apart."""
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A read-only view; a policy takes it without a copy."""
    view = array.view()
    view.flags.writeable = False
    return view


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
        bits = as_bits(x)
        if bits.shape != (n,):
            raise InputError(f"expected a string of {n} bits, not an array of shape {bits.shape}")
        if state == "bits":
            return (int(index_of(bits)),)
        lo, om = int(leading_ones(bits)), int(one_max(bits))
    elif state == "bits":
        raise InputError("this policy sees the whole string: pass x=bits")
    if not _is_whole(lo) or not 0 <= lo <= n:
        raise InputError(f"lo must be a whole number in 0..{n}, not {lo!r}")
    if state == "lo":
        return (int(lo),)
    if not _is_whole(om) or not (lo <= om < n or lo == om == n):
        raise InputError(f"no state has lo = {lo} and om = {om!r} for n = {n}")
    return (int(lo), int(om))


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool)


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
        try:
            array = np.asarray(policy)
        except ValueError:
            raise InputError("a policy table needs rows of equal lengths") from None
        lifted = _from_table(setting, array)
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
        return Policy(n, state, read_only(table), policy.name)
    probabilities = policy.probabilities[where]
    probabilities[gone] = 0.0
    return StochasticPolicy(n, state, policy.radii, read_only(probabilities), policy.name)


def _tabulate(setting: Setting, choose: Callable[..., int]) -> Policy:
    n = setting.n
    table = np.zeros(setting.shape, dtype=np.int64)
    where = np.argwhere(exists(n, setting.state))
    seen: list[Any] = [(x,) for x in bits_of(where[:, 0], n)] if setting.state == "bits" else where.tolist()
    _check_arguments(choose, seen[0], setting.state)
    for index, arguments in zip(where, seen, strict=True):
        table[tuple(index)] = _radius(choose(*arguments), n)
    return Policy(n, setting.state, read_only(table), getattr(choose, "__name__", "callable"))


def _check_arguments(choose: Callable[..., int], arguments: tuple[Any, ...], state: str) -> None:
    try:
        inspect.signature(choose).bind(*arguments)
    except TypeError:
        wanted = {"lo": "(lo)", "lo-om": "(lo, om)", "bits": "(x)"}[state]
        raise InputError(f"the policy cannot be called with {wanted}, which is what state {state!r} shows") from None
    except ValueError:  # some built-in functions do not tell their signature
        pass


def _radius(value: Any, n: int) -> int:
    try:
        whole = int(value)
        valid = not isinstance(value, (bool, np.bool_)) and bool(whole == value)
    except (TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        raise InputError(f"the policy returned {value!r}, not a radius")
    if not 1 <= whole <= n:
        raise InputError(f"radius {whole} in the policy is outside 1..{n}")
    return whole


def _from_table(setting: Setting, array: np.ndarray[Any, Any]) -> AnyPolicy:
    if array.dtype.kind not in "iuf":
        raise InputError(f"a policy table holds numbers, not {array.dtype}")
    m = len(setting.radii)
    if array.shape == setting.shape:
        radii = np.where(exists(setting.n, setting.state), array, 0)
        if np.isnan(radii).any():
            raise InputError("the policy table holds NaN in states that exist")
        if (radii != np.floor(radii)).any():
            raise InputError("the policy table holds radii that are not whole numbers")
        outside = radii[(radii < 0) | (radii > setting.n)]
        if outside.size:
            raise InputError(f"radius {outside[0]:.20g} in the policy is outside 1..{setting.n}")
        return Policy(setting.n, setting.state, read_only(radii.astype(np.int64)))
    if array.shape == (*setting.shape, m):
        probabilities = array.astype(np.float64, order="C")
        probabilities[~exists(setting.n, setting.state)] = 0.0
        return StochasticPolicy(
            setting.n, setting.state, np.array(setting.radii, dtype=np.int64), read_only(probabilities)
        )
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
        positive = np.zeros(len(policy.radii), dtype=bool)
        step = max(1, _BLOCK * len(mask) // policy.probabilities.size)
        for first in range(0, len(mask), step):
            rows = policy.probabilities[first : first + step][mask[first : first + step]]
            if not np.isfinite(rows).all() or (rows < 0).any():
                raise InputError("probabilities must be finite and not negative")
            if (np.abs(rows.sum(axis=-1) - 1.0) > SUM_TOLERANCE).any():
                raise InputError("the probabilities of every state must sum to 1")
            positive |= rows.any(axis=0)
        foreign = np.setdiff1d(policy.radii[positive], setting.radii)
    if foreign.size:
        raise InputError(f"radius {foreign[0]} is not in the portfolio {setting.portfolio}")
