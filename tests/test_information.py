"""What seeing more is worth."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kflip
from kflip.cli import main
from kflip.objectives import bits_of


def test_four_states_differ_at_16() -> None:
    result = kflip.compare(16, "loom", "strict", states=("lo-om", "bits"))
    assert [(item.lo, item.om) for item in result.differences] == [(0, 7), (0, 8), (3, 5), (3, 7)]
    assert result.rows[1].expected_runtime == pytest.approx(40.236390216454, rel=1e-12)
    assert result.rows[1].gain == pytest.approx(1 - 40.236390216454 / result.rows[0].expected_runtime, abs=1e-12)


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_seeing_more_never_hurts(objective: str, selection: str) -> None:
    result = kflip.compare(9, objective, selection)
    times = [row.expected_runtime for row in result.rows]
    assert [row.state for row in result.rows] == ["lo", "lo-om", "bits"]
    assert times[0] >= times[1] * (1 - 1e-12) >= times[2] * (1 - 2e-12)
    assert all(row.proven_optimal for row in result.rows)


def test_differences_count_strings() -> None:
    n = 7
    setting = kflip.Setting(n, "lo", "strict")
    seen, rich = kflip.solve(setting), kflip.solve(kflip.Setting(n, "lo", "strict", "bits"))
    expected: dict[tuple[int, int], dict[int, int]] = {}
    for x in range(2**n - 1):
        lo, om = map(int, kflip.lo_om(bits_of(x, n)))
        k = int(rich.policy.table[x])
        if k != seen.policy.at(lo, om):
            radii = expected.setdefault((lo, om), {})
            radii[k] = radii.get(k, 0) + 1
    found = kflip.compare(n, "lo", "strict").differences
    assert {(item.lo, item.om): item.radii for item in found} == expected
    assert all(item.radius == seen.policy.at(item.lo, item.om) for item in found)


@pytest.mark.parametrize("selection", ["standard", "strict"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
@pytest.mark.parametrize("rule", ["lo-optimal", "max-drift", "random-radius"])
def test_lifted_policies_keep_their_runtime(objective: str, selection: str, rule: str) -> None:
    rich = kflip.evaluate(kflip.Setting(8, objective, selection, "bits"), rule)
    seen = kflip.evaluate(kflip.Setting(8, objective, selection), rule)
    assert rich.expected_runtime == pytest.approx(seen.expected_runtime, rel=1e-12)
    assert rich.std == pytest.approx(seen.std, rel=1e-11)


def test_too_large_for_memory_is_said_before_any_work(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(kflip.TooLargeError, match=r"GiB"):
        kflip.solve(kflip.Setting(30, "lo", "standard", "bits"))
    with pytest.raises(SystemExit) as stop:
        main(["solve", "--n", "30", "--objective", "lo", "--state", "bits"])
    assert stop.value.code == 2
    assert "GiB" in capsys.readouterr().err


def test_compare_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["compare", "--n", "8", "--selection", "strict", "--json"])
    assert stop.value.code == 0
    result = json.loads(capsys.readouterr().out)
    assert [row["state"] for row in result["states"]] == ["lo", "lo-om", "bits"]
    assert result["states"][2]["expected_runtime"] == pytest.approx(14.364823876226, rel=1e-12)
    with pytest.raises(SystemExit):
        main(["compare", "--n", "14", "--objective", "lo"])
    text = capsys.readouterr().out
    assert "saved by seeing more" in text
    assert "more; --json lists all" in text


def test_bits_solutions_survive_files_and_verification(tmp_path: object, capsys: pytest.CaptureFixture[str]) -> None:
    path = f"{tmp_path}/bits.npz"
    for arguments in (
        ["solve", "--n", "7", "--state", "bits", "--selection", "strict", "--out", path],
        ["verify", path, "--json"],
        ["export", path, f"{tmp_path}/bits.csv"],
        ["evaluate", "--policy", path],
        ["simulate", path, "--runs", "50", "--seed", "1"],
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0, capsys.readouterr().err
    loaded = kflip.load(path)
    fresh = kflip.solve(loaded.setting)
    np.testing.assert_array_equal(loaded.policy.table, fresh.policy.table)
    np.testing.assert_array_equal(loaded.values, fresh.values)


def test_best_policy_that_sees_lo_on_loom(tmp_path: object) -> None:
    setting = kflip.Setting(16, "loom", state="lo")
    solution = kflip.solve(setting)
    assert solution.proven_optimal
    assert solution.lower_bound == solution.expected_runtime == pytest.approx(42.501338, abs=1e-6)
    assert kflip.evaluate(setting, solution.policy).expected_runtime == pytest.approx(solution.expected_runtime)
    assert kflip.evaluate(setting, solution.policy).regret == pytest.approx(0.0, abs=1e-12)
    kflip.save(f"{tmp_path}/lo.npz", solution)
    assert kflip.verify(kflip.load(f"{tmp_path}/lo.npz")).passed
    open_case = kflip.solve(kflip.Setting(128, "loom", state="lo"))
    assert not open_case.proven_optimal
    assert kflip.solve(kflip.Setting(128)).expected_runtime < open_case.lower_bound < open_case.expected_runtime
