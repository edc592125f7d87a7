"""Policies: every way to give one, every way to get it wrong, and arrays that stay their owner's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.policy import as_policy, exists, lift

LO = kflip.Setting(4, "lo", state="lo")
LO_OM = kflip.Setting(4)
BITS = kflip.Setting(4, state="bits")
SETTINGS = (LO, LO_OM, BITS)


def states(setting: kflip.Setting) -> list[tuple[int, ...]]:
    """Indices of all states but the optimum, spelled out."""
    n = setting.n
    if setting.state == "lo":
        return [(lo,) for lo in range(n)]
    if setting.state == "lo-om":
        return [(lo, om) for lo in range(n) for om in range(lo, n)]
    return [(x,) for x in range(2**n - 1)]


def ones(setting: kflip.Setting, value: Any = 1, dtype: Any = np.int64) -> np.ndarray[Any, Any]:
    return np.full(setting.shape, value, dtype=dtype)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.state)
def test_exists(setting: kflip.Setting) -> None:
    assert [tuple(index) for index in np.argwhere(exists(setting.n, setting.state)).tolist()] == states(setting)


# tables


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.state)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.float64])
def test_table_of_any_number_type(setting: kflip.Setting, dtype: Any) -> None:
    policy = as_policy(setting, ones(setting, 2, dtype))
    assert isinstance(policy, kflip.Policy)
    assert policy.table.shape == setting.shape
    for index in np.ndindex(setting.shape):
        assert policy.table[index] == (2 if index in states(setting) else 0)


def test_nested_lists_are_tables() -> None:
    policy = as_policy(LO, [4, 2, 1, 1, 0])
    assert isinstance(policy, kflip.Policy)
    assert policy.table.tolist() == [4, 2, 1, 1, 0]


def test_whatever_stands_where_no_state_exists_does_not_matter() -> None:
    table = ones(LO_OM, dtype=np.float64)
    for filler in (np.nan, np.inf, -7.5, 99):
        table[~exists(4, "lo-om")] = filler
        policy = as_policy(LO_OM, table)
        assert isinstance(policy, kflip.Policy)
        assert policy.table.sum() == len(states(LO_OM))


@pytest.mark.parametrize("shape", [(), (4,), (5,), (6,), (4, 4), (5, 4), (5, 5, 3), (5, 5, 5), (5, 5, 4, 1), (0,)])
def test_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(kflip.InputError, match=r"expected \(5, 5\) radii or \(5, 5, 4\) probabilities"):
        as_policy(LO_OM, np.ones(shape))


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.state)
@pytest.mark.parametrize("bad", [0, -1, 5, 300, 2**40])
def test_radius_outside_1_to_n(setting: kflip.Setting, bad: int) -> None:
    for index in states(setting):
        table = ones(setting)
        table[index] = bad
        with pytest.raises(kflip.InputError, match=rf"radius {bad} in the policy is outside 1\.\.4"):
            as_policy(setting, table)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, 1e300])
def test_radii_that_are_no_integers_at_all(bad: float) -> None:
    with pytest.raises(kflip.InputError, match="outside"):
        as_policy(LO_OM, ones(LO_OM, bad, np.float64))


def test_radii_beyond_64_bits() -> None:
    with pytest.raises(kflip.InputError, match="outside"):
        as_policy(LO_OM, ones(LO_OM, 2**63 + 1, np.uint64))


def test_radius_outside_the_portfolio() -> None:
    setting = kflip.Setting(4, portfolio=[1, 3])
    table = ones(setting)
    table[2, 3] = 2
    with pytest.raises(kflip.InputError, match="radius 2 is not in the portfolio 1,3"):
        as_policy(setting, table)


def test_nan_in_a_state_that_exists() -> None:
    table = ones(LO_OM, dtype=np.float64)
    table[1, 2] = np.nan
    with pytest.raises(kflip.InputError, match="NaN in states that exist"):
        as_policy(LO_OM, table)


def test_radii_that_are_not_whole() -> None:
    table = ones(LO_OM, dtype=np.float64)
    table[1, 2] = 1.5
    with pytest.raises(kflip.InputError, match="not whole numbers"):
        as_policy(LO_OM, table)


@pytest.mark.parametrize(
    "table",
    [
        ones(LO_OM, True, bool),
        ones(LO_OM, 1, np.complex128),
        ones(LO_OM, "1", np.str_),
        ones(LO_OM, 1, object),
        ones(LO_OM, 1, "m8[s]"),
        None,
        object(),
    ],
    ids=lambda table: f"{type(table).__name__} {getattr(table, 'dtype', '')}",
)
def test_tables_hold_numbers(table: Any) -> None:
    with pytest.raises(kflip.InputError, match="a policy table holds numbers"):
        as_policy(LO_OM, table)


def test_ragged_tables() -> None:
    with pytest.raises(kflip.InputError, match="equal lengths"):
        as_policy(LO, [1, 1, [2], 1, 0])


def test_a_name_is_not_a_table() -> None:
    with pytest.raises(kflip.InputError, match=r"kflip\.rules"):
        as_policy(LO, "one-bit")


# distributions over radii


def shares(setting: kflip.Setting, row: Any) -> np.ndarray[Any, Any]:
    return np.broadcast_to(np.array(row, dtype=np.float64), (*setting.shape, len(row))).copy()


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.state)
def test_probabilities_over_the_portfolio(setting: kflip.Setting) -> None:
    policy = as_policy(setting, shares(setting, [0.5, 0.0, 0.25, 0.25]))
    assert isinstance(policy, kflip.StochasticPolicy)
    assert policy.radii.tolist() == [1, 2, 3, 4]
    for index in states(setting):
        assert policy.probabilities[index].tolist() == [0.5, 0.0, 0.25, 0.25]
    assert not policy.probabilities[~exists(setting.n, setting.state)].any()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.5, 0.5, -0.5], "not negative"),
        ([np.nan, 0.5, 0.5, 0.0], "finite"),
        ([np.inf, 0.0, 0.0, 0.0], "finite"),
        ([0.5, 0.4, 0.0, 0.0], "sum to 1"),
        ([0.5, 0.5, 1e-6, 0.0], "sum to 1"),
        ([0.0, 0.0, 0.0, 0.0], "sum to 1"),
    ],
)
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.state)
def test_rows_that_are_no_distributions(setting: kflip.Setting, row: list[float], message: str) -> None:
    for index in states(setting):
        probabilities = shares(setting, [0.25, 0.25, 0.25, 0.25])
        probabilities[index] = row
        with pytest.raises(kflip.InputError, match=message):
            as_policy(setting, probabilities)


def test_a_large_stochastic_table_is_checked_to_the_end() -> None:
    setting = kflip.Setting(180)
    probabilities = shares(setting, np.full(180, 1 / 180))
    as_policy(setting, probabilities)
    probabilities[178, 179] *= 1.001
    with pytest.raises(kflip.InputError, match="sum to 1"):
        as_policy(setting, probabilities)


def test_foreign_radii_are_refused_only_where_used() -> None:
    setting = kflip.Setting(4, "lo", state="lo", portfolio=[1, 3])
    row = shares(setting, [1.0, 0.0])
    unused = kflip.StochasticPolicy(4, "lo", np.array([1, 2]), row)
    assert as_policy(setting, unused) is unused
    row[3] = 0.5, 0.5
    with pytest.raises(kflip.InputError, match="radius 2 is not in the portfolio 1,3"):
        as_policy(setting, kflip.StochasticPolicy(4, "lo", np.array([1, 2]), row))


@pytest.mark.parametrize("radii", [[0, 1], [1, 5], [2, 1], [1, 1], [-1, 2], []])
def test_radii_of_a_stochastic_policy_ascend_within_1_to_n(radii: list[int]) -> None:
    with pytest.raises(kflip.InputError, match=r"ascend within 1\.\.4"):
        kflip.StochasticPolicy(4, "lo", np.array(radii, dtype=np.int64), np.ones((5, len(radii))))


@pytest.mark.parametrize("shape", [(5,), (4, 2), (5, 3), (2, 5)])
def test_probabilities_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(kflip.InputError, match=r"probabilities .* with shape \(5, 2\)"):
        kflip.StochasticPolicy(4, "lo", np.array([1, 2]), np.ones(shape))


# the constructor


@pytest.mark.parametrize("table", [np.ones(4, int), np.ones((5, 5), int), np.ones(5), np.ones(5, bool), "one-bit"])
def test_a_policy_is_a_table_of_whole_numbers_of_its_shape(table: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"a policy table .*expected whole numbers with shape \(5,\)"):
        kflip.Policy(4, "lo", table)


def test_a_policy_of_an_unknown_state() -> None:
    with pytest.raises(kflip.InputError, match=r"unknown state 'lo_om'.*Did you mean 'lo-om'"):
        kflip.Policy(4, "lo_om", np.ones((5, 5), dtype=np.int64))


def test_a_policy_for_another_n() -> None:
    with pytest.raises(kflip.InputError, match="the policy is for n = 3, the setting has n = 4"):
        as_policy(LO, kflip.Policy(3, "lo", np.array([1, 1, 1, 0])))


def test_a_checked_policy_is_itself() -> None:
    policy = kflip.solve(LO_OM).policy
    assert as_policy(LO_OM, policy) is policy


# callables


def test_callables_see_what_the_setting_shows() -> None:
    calls: list[tuple[Any, ...]] = []

    def of_lo(lo: int) -> int:
        calls.append((lo,))
        return 4 // (lo + 1)

    def of_lo_om(lo: int, om: int) -> int:
        calls.append((lo, om))
        return om - lo + 1

    policy = as_policy(LO, of_lo)
    assert isinstance(policy, kflip.Policy)
    assert policy.table.tolist() == [4, 2, 1, 1, 0]
    assert policy.name == "of_lo"
    assert calls == states(LO)
    calls.clear()
    policy = as_policy(LO_OM, of_lo_om)
    assert isinstance(policy, kflip.Policy)
    assert calls == states(LO_OM)
    assert all(policy.table[lo, om] == om - lo + 1 for lo, om in states(LO_OM))
    assert all(type(value) is int for call in calls for value in call)


def test_callables_on_bits_get_the_string() -> None:
    seen = []

    def of_x(x: np.ndarray[Any, Any]) -> int:
        assert x.shape == (4,)
        seen.append(tuple(x.tolist()))
        return 1 + int(x[0])

    policy = as_policy(BITS, of_x)
    assert isinstance(policy, kflip.Policy)
    assert seen == list(product([0, 1], repeat=4))[:-1]
    assert policy.table.tolist() == [1] * 8 + [2] * 7 + [0]


@pytest.mark.parametrize("value", [1.0, np.int8(1), np.uint64(1), np.float32(1), np.array(1)])
def test_whole_numbers_of_any_type_are_radii(value: Any) -> None:
    policy = as_policy(LO, lambda lo: value)
    assert isinstance(policy, kflip.Policy)
    assert policy.table.tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(
    "value",
    [None, True, np.True_, "1", 1.5, float("nan"), float("inf"), [1], np.array([1, 2]), 1j, {}],
    ids=repr,
)
def test_a_callable_that_returns_no_radius(value: Any) -> None:
    with pytest.raises(kflip.InputError, match=r"the policy returned .*, not a radius"):
        as_policy(LO, lambda lo: value)


@pytest.mark.parametrize("value", [0, -1, 5, 10**30])
def test_a_callable_that_returns_a_radius_outside_1_to_n(value: int) -> None:
    with pytest.raises(kflip.InputError, match=rf"radius {value} in the policy is outside 1\.\.4"):
        as_policy(LO, lambda lo: value)


@pytest.mark.parametrize(
    ("setting", "choose", "wanted"),
    [
        (LO, lambda lo, om: 1, r"\(lo\)"),
        (LO, lambda: 1, r"\(lo\)"),
        (LO_OM, lambda lo: 1, r"\(lo, om\)"),
        (LO_OM, lambda lo, om, x: 1, r"\(lo, om\)"),
        (BITS, lambda lo, om: 1, r"\(x\)"),
    ],
)
def test_a_callable_with_the_wrong_arguments(setting: kflip.Setting, choose: Callable[..., int], wanted: str) -> None:
    with pytest.raises(kflip.InputError, match=f"cannot be called with {wanted}"):
        as_policy(setting, choose)


def test_errors_inside_a_callable_are_the_callers() -> None:
    def broken(lo: int) -> int:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        as_policy(LO, broken)


def test_callables_with_more_optional_arguments() -> None:
    assert as_policy(LO_OM, lambda lo, om, scale=1: scale).at(2, 3) == 1
    assert as_policy(LO_OM, lambda *state: 1 + state[0]).at(2, 3) == 3
    with pytest.raises(kflip.InputError, match="radius 0"):  # a built-in without a signature: max(0, 0)
        as_policy(LO_OM, max)


# lifting


def test_seeing_less_lifts_to_seeing_more() -> None:
    table = np.array([4, 2, 1, 3, 0])
    policy = kflip.Policy(4, "lo", table, "mine")
    pair = lift(policy, "lo-om")
    bits = lift(policy, "bits")
    assert isinstance(pair, kflip.Policy)
    assert isinstance(bits, kflip.Policy)
    assert pair.name == bits.name == "mine"
    for lo, om in product(range(5), repeat=2):
        assert pair.table[lo, om] == (table[lo] if (lo, om) in states(LO_OM) else 0)
    for number, x in enumerate(product([0, 1], repeat=4)):
        assert bits.table[number] == table[int(kflip.leading_ones(x))]
    assert lift(policy, "lo") is policy


def test_lo_om_lifts_to_bits() -> None:
    policy = kflip.solve(LO_OM).policy
    bits = lift(policy, "bits")
    assert isinstance(bits, kflip.Policy)
    for number, x in enumerate(product([0, 1], repeat=4)):
        lo, om = kflip.lo_om(x)
        assert bits.table[number] == (policy.table[lo, om] if number < 15 else 0)
        assert bits.at(x=x) == policy.at(x=x)


def test_stochastic_policies_lift() -> None:
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(4), size=5)
    policy = kflip.StochasticPolicy(4, "lo", np.arange(1, 5), rows)
    for setting in (LO_OM, BITS):
        lifted = as_policy(setting, policy)
        assert isinstance(lifted, kflip.StochasticPolicy)
        for x in list(product([0, 1], repeat=4))[:-1]:
            assert lifted.at(x=x) == policy.at(x=x)


@pytest.mark.parametrize(("seen", "shown"), [("lo-om", "lo"), ("bits", "lo"), ("bits", "lo-om")])
def test_seeing_more_does_not_fit_where_less_is_shown(seen: str, shown: str) -> None:
    setting = kflip.Setting(4, "lo", state=seen)
    policy = as_policy(setting, ones(setting))
    with pytest.raises(kflip.InputError, match=f"sees '{seen}' cannot be used where only '{shown}' is seen"):
        lift(policy, shown)


def test_an_lo_policy_is_evaluated_alike_on_every_state() -> None:
    policy = kflip.Policy(4, "lo", np.array([4, 2, 1, 1, 0]))
    of_lo = kflip.evaluate(kflip.Setting(4, "lo", "strict", "lo"), policy)
    of_pair = kflip.evaluate(kflip.Setting(4, "lo", "strict"), policy)
    assert of_lo.expected_runtime == pytest.approx(of_pair.expected_runtime, rel=1e-14)


# at


def test_at_in_all_forms() -> None:
    lo = kflip.Policy(4, "lo", np.array([4, 2, 1, 3, 0]))
    assert [lo.at(i) for i in range(5)] == [4, 2, 1, 3, 0]
    assert lo.at(lo=1) == lo.at(1, 2) == lo.at(np.int64(1)) == lo.at(x=[1, 0, 1, 1]) == 2
    assert type(lo.at(1)) is int
    pair = kflip.solve(LO_OM).policy
    for i, j in states(LO_OM):
        assert pair.at(i, j) == pair.at(lo=i, om=j) == pair.at(np.int8(i), np.uint16(j)) == pair.table[i, j] >= 1
    assert pair.at(4, 4) == pair.at(x=[1, 1, 1, 1]) == 0
    assert pair.at(x=np.array([True, False, True, True])) == pair.at(1, 3)
    bits = as_policy(BITS, np.arange(16) % 4 + 1)
    assert [bits.at(x=x) for x in product([0, 1], repeat=4)][:-1] == [k % 4 + 1 for k in range(15)]


def test_at_of_a_stochastic_policy() -> None:
    policy = as_policy(LO_OM, shares(LO_OM, [0.5, 0.0, 0.5, 0.0]))
    assert policy.at(1, 2) == policy.at(x=[1, 0, 1, 0]) == {1: 0.5, 3: 0.5}
    assert policy.at(4, 4) == {}


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        (5,),
        (-1,),
        (None, 2),
        (1.0, 2),
        (True, 2),
        ("1", 2),
        (1,),
        (1, None),
        (1, 0),
        (1, 4),
        (1, 2.0),
        (4, 3),
        (1, "2"),
    ],
)
def test_at_of_no_state(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(kflip.InputError, match=r"lo must be a whole number in 0\.\.4|no state has lo"):
        kflip.solve(LO_OM).policy.at(*arguments)


@pytest.mark.parametrize("x", [[1, 0, 1], [1, 0, 1, 2], [[1, 0, 1, 1]], "1011", 11, [[1], [1, 0]], [0.5, 0, 0, 0], []])
def test_at_of_no_string(x: Any) -> None:
    with pytest.raises(kflip.InputError, match="expected"):
        kflip.solve(LO_OM).policy.at(x=x)


def test_at_of_mixed_up_arguments() -> None:
    policy = kflip.solve(LO_OM).policy
    for arguments in ((1,), (1, 2), (None, 2)):
        with pytest.raises(kflip.InputError, match="not both"):
            policy.at(*arguments, x=[1, 0, 1, 1])
    bits = as_policy(BITS, ones(BITS))
    with pytest.raises(kflip.InputError, match="pass x=bits"):
        bits.at(1, 2)


# whose array it is


def test_tables_of_policies_are_read_only() -> None:
    stochastic = as_policy(LO_OM, shares(LO_OM, [1, 0, 0, 0]))
    assert isinstance(stochastic, kflip.StochasticPolicy)
    lifted = lift(kflip.Policy(4, "lo", np.array([1, 1, 1, 1, 0])), "lo-om")
    assert isinstance(lifted, kflip.Policy)
    called = as_policy(LO_OM, lambda lo, om: 1)
    assert isinstance(called, kflip.Policy)
    arrays = [stochastic.probabilities, stochastic.radii, lifted.table, called.table, kflip.solve(LO_OM).policy.table]
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float64])
@pytest.mark.parametrize("setting", [LO, LO_OM, kflip.Setting(4, "lo"), kflip.Setting(4, state="lo")], ids=str)
def test_evaluate_leaves_the_callers_table_alone(setting: kflip.Setting, dtype: Any) -> None:
    table = ones(setting, 1, dtype)
    before = table.copy()
    first = kflip.evaluate(setting, table)
    assert table.flags.writeable
    assert (table == before).all()
    table[(0,) * table.ndim] = 2
    second = kflip.evaluate(setting, table)
    assert second.expected_runtime != first.expected_runtime
    assert kflip.evaluate(setting, first.policy).expected_runtime == first.expected_runtime


def test_evaluate_leaves_the_callers_probabilities_alone() -> None:
    probabilities = shares(LO_OM, [0.5, 0.5, 0.0, 0.0])
    before = probabilities.copy()
    first = kflip.evaluate(LO_OM, probabilities)
    assert (probabilities == before).all()
    probabilities[0, 0] = 0.0, 0.0, 0.0, 1.0
    assert kflip.evaluate(LO_OM, probabilities).expected_runtime != first.expected_runtime
    assert kflip.evaluate(LO_OM, first.policy).expected_runtime == first.expected_runtime


def test_a_policy_keeps_its_own_copy() -> None:
    table = ones(LO)
    policy = kflip.Policy(4, "lo", table)
    table[0] = 3
    assert policy.at(0) == 1
    radii, probabilities = np.array([1, 2]), np.full((5, 2), 0.5)
    stochastic = kflip.StochasticPolicy(4, "lo", radii, probabilities)
    radii[0], probabilities[0] = 2, (1.0, 0.0)
    assert stochastic.at(0) == {1: 0.5, 2: 0.5}
