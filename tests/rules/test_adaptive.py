"""Rules with memory: names, grids, refusals, the command line, and what the defaults are worth."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import kflip
from kflip import cli, rules
from kflip.rules import Memory, SelfAdjusting, self_adjusting

KINDS = [("loom", "standard"), ("lo", "standard"), ("lo", "strict")]


def test_grid_of_strengths() -> None:
    memory = self_adjusting(2.0, 1).memory(kflip.Setting(20))
    assert memory.radius.tolist() == [1, 2, 4, 8, 16, 20]
    assert memory.after_success.tolist() == [1, 2, 3, 4, 5, 5]
    assert memory.after_failure.tolist() == [0, 0, 1, 2, 3, 4]
    assert memory.start == 0
    quick = self_adjusting(2.0, 3, 16).memory(kflip.Setting(16))
    assert quick.radius.tolist() == [1, 2, 4, 8, 16]
    assert quick.after_success.tolist() == [3, 4, 4, 4, 4]
    assert quick.start == 4
    assert self_adjusting(2.0, 10**9).memory(kflip.Setting(4)).after_success.tolist() == [2, 2, 2]
    assert self_adjusting(3.0).memory(kflip.Setting(1)).radius.tolist() == [1]


@pytest.mark.parametrize("n", [2, 7, 27, 100, 1000])
@pytest.mark.parametrize("factor", [1.1, 1.5, 2.0, 3.0, 1e9])
def test_length_of_the_grid(n: int, factor: float) -> None:
    size = self_adjusting(factor).memory(kflip.Setting(n, state="lo")).radius.size
    # the smallest M with F^M >= n, allowing for rounding where that is an equation
    assert factor ** (size - 1) >= n * (1 - 1e-12)
    assert size == 1 or factor ** (size - 2) < n * (1 + 1e-12)


def test_nearest_radius_and_ties() -> None:
    memory = self_adjusting(1.5, 1, 1.25).memory(kflip.Setting(12, portfolio=[1, 2, 5, 8]))
    # 1, 1.5, 2.25, 3.375, 5.0625, 7.59375, 11.39, 12: 1.5 is as near to 1 as to 2, 1.25 to 1 as to 1.5
    assert memory.radius.tolist() == [1, 1, 2, 2, 5, 8, 8, 8]
    assert memory.start == 0
    assert self_adjusting(2.0, 1, 3).memory(kflip.Setting(8)).start == 1
    assert self_adjusting(2.0, 1, 10**6).memory(kflip.Setting(8)).start == 3
    assert set(self_adjusting().memory(kflip.Setting(9, portfolio=[3])).radius.tolist()) == {3}


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (SelfAdjusting(), "self-adjusting"),
        (self_adjusting(2, 3), "self-adjusting-2-3"),
        (self_adjusting(1.1, 1), "self-adjusting-1.1-1"),
        (self_adjusting(start=8), "self-adjusting-1.5-1-8"),
        (self_adjusting(1.25, 4, 2.5), "self-adjusting-1.25-4-2.5"),
    ],
)
def test_names_name_the_rule(rule: SelfAdjusting, name: str) -> None:
    assert rule.name == name
    assert rules.by_name(name) == rule
    assert rules.as_adaptive(name) == rule
    assert rules.as_adaptive(rule) is rule
    assert f"{rule.factor:g}" in rule.about


def test_defaults_may_be_spelled_out() -> None:
    default = SelfAdjusting()
    assert rules.by_name(f"self-adjusting-{default.factor:g}-{default.success_steps}") == default
    assert rules.REGISTRY["self-adjusting"] == default == self_adjusting()
    assert rules.as_adaptive("one-bit") is None
    assert rules.as_adaptive(lambda lo: 1) is None


@pytest.mark.parametrize(
    "name", ["self-adjusting-", "self-adjusting-2", "self-adjusting-x-1", "self-adjusting-2-1.5", "self-adjusting--2-1"]
)
def test_names_of_no_rule(name: str) -> None:
    with pytest.raises(kflip.InputError, match=r"unknown rule .*Did you mean 'self-adjusting"):
        kflip.evaluate(kflip.Setting(4), name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"factor": 1}, "factor must be a number above 1, not 1"),
        ({"factor": float("nan")}, "factor must be"),
        ({"factor": float("inf")}, "factor must be"),
        ({"factor": "2"}, "factor must be"),
        ({"factor": True}, "factor must be"),
        ({"success_steps": 0}, "success_steps must be a whole number of at least 1, not 0"),
        ({"success_steps": 1.5}, "success_steps must be"),
        ({"success_steps": True}, "success_steps must be"),
        ({"start": 0.5}, "start must be a number of at least 1, not 0.5"),
        ({"start": float("inf")}, "start must be"),
        ({"start": None}, "start must be"),
    ],
)
def test_parameters_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(kflip.InputError, match=message):
        self_adjusting(**arguments)


def test_names_with_parameters_that_make_no_sense() -> None:
    for name, message in (("self-adjusting-1-1", "factor"), ("self-adjusting-2-0", "success_steps")):
        with pytest.raises(kflip.InputError, match=message):
            rules.by_name(name)


def test_a_factor_too_close_to_one() -> None:
    with pytest.raises(kflip.InputError, match="too close to 1"):
        kflip.evaluate(kflip.Setting(64), self_adjusting(1.0 + 1e-9))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (([], [], []), "1 to 4096"),
        (([1.0], [0], [0]), "radius holds 1 whole numbers"),
        (([1, 2], [0], [0, 1]), "after_success holds 2"),
        (([1, 2], [0, 2], [0, 1]), r"after_success must stay within 0\.\.1"),
        (([1, 2], [0, 1], [0, -1]), "after_failure must stay"),
        (([1], [0], [0], 1), r"start must be a whole number in 0\.\.0, not 1"),
    ],
)
def test_memories_that_make_no_sense(tables: tuple[Any, ...], message: str) -> None:
    with pytest.raises(kflip.InputError, match=message):
        Memory(*(np.array(table) if isinstance(table, list) else table for table in tables))


def test_a_memory_is_a_copy() -> None:
    radius = np.array([1, 2])
    memory = Memory(radius, np.array([1, 1]), np.array([0, 0]))
    radius[0] = 5
    assert memory.radius.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        memory.radius[0] = 3


class TwoBits(rules.AdaptiveRule):
    name = "two-bits"

    def memory(self, setting: kflip.Setting) -> Memory:
        return Memory(np.array([2]), np.array([0]), np.array([0]))


def test_radii_outside_the_portfolio() -> None:
    for call in (kflip.evaluate, lambda setting, rule: kflip.simulate(setting, rule, 1)):
        with pytest.raises(kflip.InputError, match="radius 2 of two-bits is not in the portfolio 1,3"):
            call(kflip.Setting(4, portfolio=[1, 3]), TwoBits())


@pytest.mark.parametrize("rule", ["self-adjusting", self_adjusting(2, 2)])
def test_where_a_table_is_needed(rule: Any) -> None:
    setting = kflip.Setting(5)
    evaluation = kflip.evaluate(setting, rule)
    calls: list[Any] = [
        lambda: rules.resolve(setting, rule),
        lambda: kflip.visits(setting, rule),
        lambda: kflip.hit_ratio(setting, rule),
        lambda: kflip.regret_by_state(setting, rule),
        lambda: kflip.runtime_distribution(setting, rule),
        lambda: kflip.action_values(setting, rule),
        lambda: kflip.policy.lift(evaluation.policy, "lo-om"),
    ]
    for call in calls:
        with pytest.raises(kflip.InputError, match="has memory: it can be evaluated and simulated, but is not a table"):
            call()


def test_maps_of_values_only() -> None:
    from kflip import figures

    evaluation = kflip.evaluate(kflip.Setting(5), "self-adjusting")
    assert "self-adjusting" in figures.heatmap(evaluation, "value").axes[0].get_title()
    for what in ("radius", "visits", "regret"):
        with pytest.raises(kflip.InputError, match="has memory"):
            figures.heatmap(evaluation, what)


def test_evaluation_of_a_rule_with_memory() -> None:
    setting = kflip.Setting(12, "lo")
    result = kflip.evaluate(setting, "self-adjusting-2-2")
    assert result.policy.name == "self-adjusting-2-2"
    assert "self-adjusting-2-2" in repr(result)
    assert result.regret == pytest.approx(result.expected_runtime / kflip.solve(setting).expected_runtime - 1)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as exit_:
        cli.main(list(arguments))
    captured = capsys.readouterr()
    assert isinstance(exit_.value.code, int)
    return exit_.value.code, captured.out, captured.err


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--n", "16", "--objective", "lo", "--json")
    exact = kflip.evaluate(kflip.Setting(16, "lo"), "self-adjusting")
    code, out, _ = run(capsys, "evaluate", "--policy", "self-adjusting", *options)
    assert code == 0
    assert json.loads(out)["policy"] == "self-adjusting"
    assert json.loads(out)["expected_runtime"] == exact.expected_runtime
    code, out, _ = run(capsys, "simulate", "self-adjusting", "--runs", "500", "--seed", "1", *options)
    assert code == 0
    assert json.loads(out)["exact_mean"] == exact.expected_runtime
    assert json.loads(out)["mean"] == kflip.simulate(exact.setting, "self-adjusting", 500, seed=1).mean
    code, _, err = run(capsys, "explain", "self-adjusting", *options)
    assert code != 0
    assert "self-adjusting has memory" in err
    for state in ("lo", "bits"):
        code, out, _ = run(capsys, "simulate", "self-adjusting", "--runs", "9", "--state", state, *options)
        assert code == 0
    for command, named in (("evaluate", True), ("simulate", True), ("explain", False)):
        _, out, _ = run(capsys, command, "--help")
        assert ("self-adjusting" in out) is named


def test_what_the_defaults_are_worth() -> None:
    default = SelfAdjusting()
    ratios: dict[tuple[float, int], list[float]] = {}
    for n in (16, 32, 64):
        for kind in KINDS:
            setting = kflip.Setting(n, *kind)
            best = kflip.solve(setting).expected_runtime
            one_bit = kflip.evaluate(setting, "one-bit").expected_runtime
            for factor in (1.2, 1.5, 2.0):
                for steps in (1, 2):
                    low, high = (
                        kflip.evaluate(setting, self_adjusting(factor, steps, start)).expected_runtime
                        for start in (1, n)
                    )
                    assert low > one_bit
                    ratios.setdefault((factor, steps), []).append(high / best)
                    if (factor, steps) == (default.factor, default.success_steps):
                        assert low < 1.03 * one_bit
                        if kind[0] == "lo":
                            assert 0.90 < high / one_bit < 0.97
    means = {key: float(np.mean(values)) for key, values in ratios.items()}
    assert min(means, key=means.__getitem__) == (default.factor, default.success_steps)
    assert min(means.values()) == pytest.approx(1.226, abs=5e-4)
