"""Rules with memory: every state against brute force over strings and memories, and closed forms for large n."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf, sqrt
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.exact.adaptive.failures import failures_of
from kflip.rules import AdaptiveRule, Memory, self_adjusting
from tests.rules import strings

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


@dataclass(frozen=True)
class Given(AdaptiveRule):
    """A rule that remembers what it is told to."""

    steps: Memory
    name: str = "given"

    def memory(self, setting: kflip.Setting) -> Memory:
        return self.steps


def of_group(moments: list[strings.Moments], group: list[int]) -> tuple[float, float]:
    """Mean and standard deviation from a random string of a group."""
    if any(moments[x][0] == inf for x in group):
        return inf, inf
    mean = sum((Fraction(moments[x][0]) for x in group), Fraction(0)) / len(group)
    second = sum((Fraction(moments[x][1]) for x in group), Fraction(0)) / len(group)
    return float(mean), sqrt(second - mean**2)


def compare(n: int, objective: str, selection: str, portfolio: Any, rule: AdaptiveRule) -> int:
    """Check every state of every state space; returns how many strings are endless."""
    setting = kflip.Setting(n, objective, selection, portfolio=portfolio)
    moments = strings.moments(setting, rule.memory(setting))
    bits = kflip.objectives.bits_of(np.arange(2**n), n)
    los, oms = kflip.leading_ones(bits), kflip.one_max(bits)
    everywhere = of_group(moments, list(range(2**n)))
    for state, seen in (("lo-om", (los, oms)), ("lo", (los,)), ("bits", (los, oms))):
        result = kflip.evaluate(kflip.Setting(n, objective, selection, state, portfolio), rule)
        assert result.policy is rule
        assert result.values.shape == result.stds.shape == kflip.setting.shape_of(n, state)
        assert (result.expected_runtime, result.std) == pytest.approx(everywhere, rel=1e-11, abs=1e-11)
        for x in range(2**n):
            alike = np.all([s == s[x] for s in seen], axis=0)
            index: Any = x if state == "bits" else tuple(int(s[x]) for s in seen)
            expected = of_group(moments, np.flatnonzero(alike).tolist())
            assert (result.values[index], result.stds[index]) == pytest.approx(expected, rel=1e-11, abs=1e-7)
    return sum(mean == inf for mean, _ in moments)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize(
    ("n", "portfolio", "factor", "steps", "start"),
    [
        (1, "full", 2.0, 1, 1),
        (2, "full", 1.5, 1, 2),
        (3, "full", 2.0, 1, 1),
        (3, "full", 1.3, 2, 3),
        (4, "full", 2.0, 1, 1),
        (4, "full", 2.0, 2, 4),
        (4, "full", 1.5, 3, 2.3),
        (4, [1, 3], 1.5, 1, 4),
        (4, [1], 2.0, 1, 4),
        (4, [2, 3], 2.0, 1, 2),
        (4, [3], 3.0, 2, 1),
        (4, [4], 2.0, 1, 1),
    ],
)
def test_self_adjusting_in_every_state(
    n: int, portfolio: Any, factor: float, steps: int, start: float, objective: str, selection: str
) -> None:
    endless = compare(n, objective, selection, portfolio, self_adjusting(factor, steps, start))
    assert (endless > 0) == (portfolio != "full" and 1 not in portfolio)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_five_bits(objective: str, selection: str) -> None:
    assert compare(5, objective, selection, "full", self_adjusting(2.0, 2, 3)) == 0


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_any_finite_memory(objective: str, selection: str) -> None:
    """Cycles of several memories, several cycles, radii that cannot fail and failures that never end."""
    rng = np.random.default_rng(3)
    endless = 0
    for attempt in range(24):
        n = 3 + attempt % 2
        size = int(rng.integers(1, 5))
        tables = rng.integers(1, n + 1, size), rng.integers(0, size, size), rng.integers(0, size, size)
        rule = Given(Memory(*tables, int(rng.integers(size))))
        endless += compare(n, objective, selection, "full", rule) > 0
    assert endless > 3


def test_a_sure_success_keeps_clear_of_endless_failures() -> None:
    """On level 0 flipping all bits cannot fail, so what a failure would lead to does not matter."""
    rule = Given(Memory(np.array([3, 3, 1]), np.array([2, 2, 2]), np.array([1, 1, 2])))
    for objective, selection in KINDS:
        assert compare(3, objective, selection, "full", rule) == 3
        result = kflip.evaluate(kflip.Setting(3, objective, selection), rule)
        assert np.isfinite(result.values[0, :3]).all()
        assert np.isinf(result.values[1, 1:3]).all()


@pytest.mark.parametrize(("objective", "selection"), KINDS)
@pytest.mark.parametrize("n", [1, 7, 40])
def test_one_radius_is_a_constant_rule(n: int, objective: str, selection: str) -> None:
    setting = kflip.Setting(n, objective, selection)
    for k in (1, 2, 3, n):
        if k > n:
            continue
        known = kflip.evaluate(setting, kflip.rules.constant(k))
        # one memory, a cycle of three, and a tail before a cycle: all flip k bits
        for better, worse in (([0], [0]), ([1, 0, 2], [1, 2, 0]), ([2, 2, 2], [1, 2, 2])):
            steps = Memory(np.full(len(better), k), np.array(better), np.array(worse))
            result = kflip.evaluate(setting, Given(steps))
            np.testing.assert_allclose(result.values, known.values, rtol=1e-12)
            np.testing.assert_allclose(result.stds, known.stds, rtol=1e-9, atol=1e-9)
            assert result.expected_runtime == pytest.approx(known.expected_runtime, rel=1e-12)


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_portfolio_of_one_bit(objective: str, selection: str) -> None:
    setting = kflip.Setting(50, objective, selection, portfolio=[1])
    result, known = kflip.evaluate(setting, "self-adjusting"), kflip.evaluate(setting, "one-bit")
    assert result.expected_runtime == pytest.approx(known.expected_runtime, rel=1e-13)
    assert result.std == pytest.approx(known.std, rel=1e-13)
    if objective == "lo":
        assert result.expected_runtime == pytest.approx(50 * 50 / 2, rel=1e-13)


def levels(n: int, memory: Memory) -> tuple[list[Any], Any]:
    """Times of a random string with given LO, and of a random one, on LeadingOnes: the suffix stays random."""
    size = len(memory.radius)
    behind: Any = np.zeros(size)
    times: list[Any] = []
    for lo in range(n - 1, -1, -1):
        p = [comb(n - lo - 1, k - 1) / comb(n, k) for k in memory.radius.tolist()]
        here = np.zeros(size)
        # failures stay with the smallest strength, and lead to it from every other one
        here[0] = 1.0 / p[0] + behind[memory.after_success[0]]
        for m in range(1, size):
            here[m] = 1.0 + p[m] * behind[memory.after_success[m]] + (1.0 - p[m]) * here[memory.after_failure[m]]
        times.append(here)
        behind = 0.5 * here + 0.5 * behind
    return times[::-1], behind


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize(("n", "factor", "steps", "start"), [(30, 1.5, 1, 30), (64, 1.2, 4, 9), (100, 2.0, 2, 100)])
def test_leading_ones_by_level(n: int, factor: float, steps: int, start: float, selection: str) -> None:
    rule = self_adjusting(factor, steps, start)
    setting = kflip.Setting(n, "lo", selection, "lo")
    memory = rule.memory(setting)
    times, behind = levels(n, memory)
    result = kflip.evaluate(setting, rule)
    np.testing.assert_allclose(result.values[:n], [t[memory.start] for t in times], rtol=1e-11)
    assert result.values[n] == 0.0
    assert result.expected_runtime == pytest.approx(behind[memory.start], rel=1e-11)


def test_states_that_do_not_exist_are_nan() -> None:
    result = kflip.evaluate(kflip.Setting(6), "self-adjusting")
    mask = kflip.policy.exists(6, "lo-om").copy()
    mask[6, 6] = True
    assert (np.isnan(result.values) == ~mask).all()
    assert (np.isnan(result.stds) == ~mask).all()
    assert result.values[6, 6] == 0.0


def test_progress_ends_with_one() -> None:
    seen: list[float] = []
    kflip.evaluate(kflip.Setting(40), "self-adjusting", progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_failures_in_an_order_to_solve_them() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        size = int(rng.integers(1, 12))
        after = rng.integers(0, size, size)
        found = failures_of(after)
        assert sorted([*found.cycle, *found.tree]) == list(range(size))
        known = set(found.cycle.tolist())
        for m in found.tree.tolist():
            assert int(after[m]) in known
            known.add(m)
        for nodes in np.split(found.cycle, found.ends[:-1]):
            assert after[nodes].tolist() == np.roll(nodes, -1).tolist()
