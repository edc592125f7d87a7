"""Rules by name and by definition, in exact fractions for small n."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest

import kflip
from kflip import rules
from kflip.policy import exists

TABLES = [name for name, rule in rules.REGISTRY.items() if isinstance(rule, rules.Rule)]
PORTFOLIOS: tuple[Any, ...] = ("full", "powers-of-two", "initial-segment-3", "evenly-spread-3", [2, 3], [1, 5], [5])


def settings(n: int, *portfolios: Any) -> list[kflip.Setting]:
    return [
        kflip.Setting(n, objective, selection, state, portfolio)
        for objective, selection in (("lo", "standard"), ("lo", "strict"), ("loom", "standard"))
        for state in ("lo", "lo-om", "bits")
        for portfolio in portfolios or ("full",)
    ]


@pytest.mark.parametrize("name", [*TABLES, "constant-1", "constant-4"])
def test_every_rule_makes_a_policy_of_every_setting(name: str) -> None:
    for setting in settings(6, "full", [1, 2, 4]):
        rule = rules.by_name(name)
        assert isinstance(rule, rules.Rule)
        policy = rules.resolve(setting, rule)
        assert (policy.n, policy.state) == (6, setting.state)
        assert policy.name == rule.name
        assert rule.about
        used = policy.table if isinstance(policy, kflip.Policy) else policy.radii
        assert set(np.unique(used)) - {0} <= set(setting.radii)
        by_name = rules.resolve(setting, name)
        assert type(by_name) is type(policy)


@pytest.mark.parametrize("name", rules.REGISTRY)
@pytest.mark.parametrize("state", ["lo", "lo-om"])
def test_every_rule_is_evaluated(name: str, state: str) -> None:
    for n in (1, 2, 7):
        setting = kflip.Setting(n, "lo", state=state)
        by_name = kflip.evaluate(setting, name)
        assert 0 < by_name.expected_runtime < np.inf
        assert by_name.expected_runtime == kflip.evaluate(setting, rules.REGISTRY[name]).expected_runtime
        assert by_name.regret >= -1e-12


@pytest.mark.parametrize("name", TABLES)
def test_unreachable_optimum_is_infinite(name: str) -> None:
    setting = kflip.Setting(5, "lo", portfolio=[2, 3])
    if name == "one-bit":
        with pytest.raises(kflip.InputError, match="radius 1 is not in the portfolio 2,3"):
            kflip.evaluate(setting, name)
    else:
        result = kflip.evaluate(setting, name)
        assert result.expected_runtime == np.inf
        assert np.isnan(result.regret)


def test_constant() -> None:
    for k in (1, 2, 6):
        for setting in settings(6):
            policy = rules.constant(k).build(setting)
            assert isinstance(policy, kflip.Policy)
            assert (policy.table == np.where(exists(6, setting.state), k, 0)).all()
            assert policy.table.dtype == rules.constant(np.int8(k)).build(setting).table.dtype  # type: ignore[arg-type,union-attr]
    assert rules.constant(1).name == rules.one_bit.name == "one-bit"
    assert rules.constant(3).name == "constant-3"


@pytest.mark.parametrize(
    ("k", "portfolio"), [(3, [1, 2]), (7, "full"), (0, "full"), (-1, "full"), (6, "powers-of-two")]
)
def test_constant_outside_the_portfolio(k: int, portfolio: Any) -> None:
    setting = kflip.Setting(6, portfolio=portfolio)
    with pytest.raises(kflip.InputError, match=f"radius {k} is not in the portfolio .* for n = 6"):
        kflip.evaluate(setting, rules.constant(k))


@pytest.mark.parametrize("k", [True, 1.0, "1", None, [1]])
def test_constant_of_no_whole_number(k: Any) -> None:
    with pytest.raises(kflip.InputError, match="a radius is a whole number"):
        rules.constant(k)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("one_bit", "one-bit"), ("lo-optmal", "lo-optimal"), ("maxdrift", "max-drift"), ("constant-x", "constant-K")],
)
def test_unknown_name_with_nearest_match(name: str, nearest: str) -> None:
    with pytest.raises(kflip.InputError, match=f"unknown rule '{name}'; .*Did you mean '{nearest}'"):
        kflip.evaluate(kflip.Setting(4), name)


@pytest.mark.parametrize("name", ["", "constant-", "constant--1", "constant-1.5", "constant-" + "9" * 5000])
def test_names_of_no_rule(name: str) -> None:
    with pytest.raises(kflip.InputError, match="unknown rule"):
        rules.by_name(name)


@pytest.mark.parametrize("n", [*range(1, 25), 64, 97, 1000])
def test_lo_optimal_for_the_full_portfolio(n: int) -> None:
    policy = rules.resolve(kflip.Setting(n, "lo", state="lo"), "lo-optimal")
    assert isinstance(policy, kflip.Policy)
    assert policy.table.tolist() == [n // (lo + 1) for lo in range(n)] + [0]


def success(n: int, lo: int, k: int) -> Fraction:
    return Fraction(comb(n - lo - 1, k - 1), comb(n, k))


@pytest.mark.parametrize("portfolio", PORTFOLIOS, ids=str)
def test_lo_optimal_maximises_the_chance_to_improve(portfolio: Any) -> None:
    for n in (*range(5, 21), 48):
        setting = kflip.Setting(n, "lo", state="lo", portfolio=portfolio)
        policy = rules.resolve(setting, rules.lo_optimal)
        assert isinstance(policy, kflip.Policy)
        for lo in range(n):
            chances = [success(n, lo, k) for k in setting.radii]
            assert policy.at(lo) == setting.radii[chances.index(max(chances))], (n, lo)


def gain(setting: kflip.Setting, state: Any, k: int) -> Fraction:
    """Expected growth of LO in one iteration."""
    here = state if setting.state == "lo" else state[0]
    law = kflip.transitions(setting, state, k).next
    return sum(((after if setting.state == "lo" else after[0]) - here) * chance for after, chance in law.items())


@pytest.mark.parametrize("portfolio", PORTFOLIOS, ids=str)
@pytest.mark.parametrize("state", ["lo", "lo-om"])
def test_max_drift_maximises_the_exact_gain(state: str, portfolio: Any) -> None:
    for n in range(1 if isinstance(portfolio, str) else 5, 8):
        setting = kflip.Setting(n, "lo", "strict", state, portfolio)
        policy = rules.resolve(setting, rules.max_drift)
        assert isinstance(policy, kflip.Policy)
        for index in map(tuple, np.argwhere(exists(n, state)).tolist()):
            gains = [gain(setting, index if state == "lo-om" else index[0], k) for k in setting.radii]
            assert policy.table[index] == setting.radii[gains.index(max(gains))], (n, index)


def test_max_drift_on_bits_is_the_lifted_one() -> None:
    pair = rules.resolve(kflip.Setting(5), "max-drift")
    bits = rules.resolve(kflip.Setting(5, state="bits"), "max-drift")
    for x in range(2**5 - 1):
        string = [int(c) for c in format(x, "05b")]
        assert bits.at(x=string) == pair.at(x=string)


def success_chance(setting: kflip.Setting, state: tuple[int, int], k: int) -> Fraction:
    """Chance that an offspring is strictly better."""
    seen = 2 if setting.objective == "loom" else 1
    law = kflip.transitions(setting, state, k).offspring
    return sum((p for after, p in law.items() if after[:seen] > state[:seen]), Fraction(0))


@pytest.mark.parametrize("portfolio", PORTFOLIOS, ids=str)
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_max_success_maximises_the_exact_chance(objective: str, portfolio: Any) -> None:
    for n in range(1 if isinstance(portfolio, str) else 5, 10):
        pair = kflip.Setting(n, objective, portfolio=portfolio)
        policy = rules.resolve(pair, "max-success")
        alone = rules.resolve(kflip.Setting(n, objective, state="lo", portfolio=portfolio), rules.max_success)
        assert isinstance(policy, kflip.Policy)
        assert isinstance(alone, kflip.Policy)
        for lo in range(n):
            mean = dict.fromkeys(pair.radii, Fraction(0))
            for om in range(lo, n):
                chances = {k: success_chance(pair, (lo, om), k) for k in pair.radii}
                assert policy.at(lo, om) == max(pair.radii, key=chances.__getitem__), (n, lo, om)
                for k in pair.radii:
                    mean[k] += Fraction(comb(n - lo - 1, om - lo), 2 ** (n - lo - 1)) * chances[k]
            assert alone.at(lo) == max(pair.radii, key=mean.__getitem__), (n, lo)


def test_max_success_is_a_bad_guide_on_loom_and_optimal_on_leading_ones() -> None:
    """Flipping all bits improves LO = 0 for certain and turns every other one into a zero."""
    setting = kflip.Setting(40)
    assert rules.resolve(setting, "max-success").at(0, 30) == 40
    greedy, one_bit = (kflip.evaluate(setting, name).expected_runtime for name in ("max-success", "one-bit"))
    assert greedy > 1.3 * one_bit
    for state in ("lo", "lo-om", "bits"):
        setting = kflip.Setting(9, "lo", state=state)
        ours, best = (rules.resolve(setting, name) for name in ("max-success", "lo-optimal"))
        assert isinstance(ours, kflip.Policy)
        assert isinstance(best, kflip.Policy)
        assert (ours.table == best.table).all()


def test_max_success_on_bits_is_the_lifted_one() -> None:
    pair = rules.resolve(kflip.Setting(6), "max-success")
    bits = rules.resolve(kflip.Setting(6, state="bits"), "max-success")
    for x in range(2**6 - 1):
        string = [int(c) for c in format(x, "06b")]
        assert bits.at(x=string) == pair.at(x=string)


@pytest.mark.parametrize("portfolio", ["full", [1, 4], [3]])
def test_random_radius(portfolio: Any) -> None:
    for setting in settings(5, portfolio):
        policy = rules.resolve(setting, rules.random_radius)
        assert isinstance(policy, kflip.StochasticPolicy)
        assert policy.radii.tolist() == list(setting.radii)
        rows = policy.probabilities[exists(5, setting.state)]
        assert (rows == 1.0 / len(setting.radii)).all()


def test_random_radius_of_one_radius_is_constant() -> None:
    for state in ("lo", "lo-om"):
        setting = kflip.Setting(6, "lo", state=state, portfolio=[1])
        random, constant = kflip.evaluate(setting, "random-radius"), kflip.evaluate(setting, "one-bit")
        assert random.expected_runtime == pytest.approx(constant.expected_runtime, rel=1e-14)
        assert random.std == pytest.approx(constant.std, rel=1e-13)


def test_one_bit_on_leading_ones_takes_half_of_n_squared() -> None:
    for n in (1, 5, 12):
        assert kflip.evaluate(kflip.Setting(n, "lo"), rules.one_bit).expected_runtime == pytest.approx(n * n / 2)
