"""Files: what is written comes back, and what fails leaves nothing behind."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from kflip import files, rules
from tests.archives import crafted, same

SOLVED = (
    kflip.Setting(1),
    kflip.Setting(1, "lo", state="lo"),
    kflip.Setting(9),
    kflip.Setting(8, "lo", "strict"),
    kflip.Setting(8, "lo", "standard", portfolio="powers-of-two"),
    kflip.Setting(12, "lo", "strict", "lo"),
    kflip.Setting(6, portfolio=[2, 3]),
    kflip.Setting(300, "lo", state="lo"),
    kflip.Setting(1, state="bits"),
    kflip.Setting(6, "lo", "strict", "bits"),
    kflip.Setting(5, "loom", "standard", "bits", [1, 3]),
)


# round trips


@pytest.mark.parametrize("setting", SOLVED, ids=str)
def test_solutions_come_back(setting: kflip.Setting, tmp_path: Path) -> None:
    solution = kflip.solve(setting)
    path = tmp_path / "a.npz"
    kflip.save(path, solution)
    assert same(kflip.load(path), solution)
    assert same(kflip.load(str(path)), solution)
    loaded, policy = kflip.load_policy(path)
    assert loaded == setting
    assert isinstance(policy, kflip.Policy)
    assert (policy.table == solution.policy.table).all()
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]


def test_infinite_values_come_back(tmp_path: Path) -> None:
    solution = kflip.solve(kflip.Setting(6, portfolio=[2, 3]))
    assert solution.expected_runtime == np.inf
    assert np.isinf(solution.values).any()
    kflip.save(tmp_path / "a.npz", solution)
    assert same(kflip.load(tmp_path / "a.npz"), solution)


def test_what_comes_back_is_read_only(tmp_path: Path) -> None:
    kflip.save(tmp_path / "a.npz", kflip.solve(kflip.Setting(4)))
    solution = kflip.load(tmp_path / "a.npz")
    for array in (solution.values, solution.policy.table):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1


def test_tables_can_be_subtracted_after_loading(tmp_path: Path) -> None:
    solution = kflip.solve(kflip.Setting(6))
    kflip.save(tmp_path / "a.npz", solution)
    difference = kflip.load(tmp_path / "a.npz").policy.table - solution.policy.table.max()
    assert difference.min() == -solution.policy.table.max()


@pytest.mark.parametrize("setting", SOLVED, ids=str)
def test_policies_come_back(setting: kflip.Setting, tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    for rule in (rules.lo_optimal, rules.random_radius):
        policy = rules.resolve(setting, rule)
        kflip.save(path, policy, setting)
        loaded, back = kflip.load_policy(path)
        assert loaded == setting
        assert back.name == rule.name
        if isinstance(policy, kflip.Policy):
            assert isinstance(back, kflip.Policy)
            assert np.array_equal(back.table, policy.table)
        else:
            assert isinstance(back, kflip.StochasticPolicy)
            assert np.array_equal(back.radii, policy.radii)
            assert np.array_equal(back.probabilities, policy.probabilities)


def test_a_stochastic_policy_over_part_of_the_portfolio_comes_back(tmp_path: Path) -> None:
    setting = kflip.Setting(4, "lo", state="lo")
    policy = kflip.StochasticPolicy(4, "lo", np.array([1, 3]), np.full((5, 2), 0.5), "two of four")
    kflip.save(tmp_path / "p.npz", policy, setting)
    _, back = kflip.load_policy(tmp_path / "p.npz")
    assert back.at(2) == {1: 0.5, 3: 0.5}
    assert kflip.evaluate(setting, back).expected_runtime == kflip.evaluate(setting, policy).expected_runtime


def test_names_with_any_characters_come_back(tmp_path: Path) -> None:
    setting = kflip.Setting(3, "lo", state="lo")
    for name in ("", 'naïve \u2603 "quoted"\n', "[red]"):
        kflip.save(tmp_path / "p.npz", kflip.Policy(3, "lo", np.array([1, 1, 1, 0]), name), setting)
        assert kflip.load_policy(tmp_path / "p.npz")[1].name == name


def test_a_policy_needs_its_setting(tmp_path: Path) -> None:
    policy = kflip.Policy(3, "lo", np.array([1, 1, 1, 0]))
    with pytest.raises(kflip.InputError, match="needs the setting"):
        kflip.save(tmp_path / "p.npz", policy)
    with pytest.raises(kflip.InputError, match="radius 1 is not in the portfolio"):
        kflip.save(tmp_path / "p.npz", policy, kflip.Setting(3, "lo", state="lo", portfolio=[2]))
    assert not list(tmp_path.iterdir())


def test_a_policy_is_not_a_solution(tmp_path: Path) -> None:
    setting = kflip.Setting(3, "lo", state="lo")
    kflip.save(tmp_path / "p.npz", rules.resolve(setting, "one-bit"), setting)
    with pytest.raises(kflip.FileFormatError, match="holds a policy, not a solution"):
        kflip.load(tmp_path / "p.npz")


def test_the_crafted_file_is_a_good_one(tmp_path: Path) -> None:
    assert same(kflip.load(crafted(tmp_path / "a.npz")), kflip.solve(kflip.Setting(3)))


def test_what_was_proved_comes_back(tmp_path: Path) -> None:
    best = kflip.solve(kflip.Setting(4))
    unsure = kflip.Solution(best.setting, best.policy, best.values, best.expected_runtime, False, 3.25)
    kflip.save(tmp_path / "a.npz", unsure)
    loaded = kflip.load(tmp_path / "a.npz")
    assert same(loaded, unsure)
    assert (loaded.proven_optimal, loaded.lower_bound) == (False, 3.25)


# writing


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, OSError, MemoryError])
def test_a_failing_write_leaves_the_old_file(
    error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.npz"
    kflip.save(path, kflip.solve(kflip.Setting(4)))
    before = path.read_bytes()

    def fail(*arguments: Any, **options: Any) -> None:
        raise error("in the middle")

    monkeypatch.setattr(files.npy, "write_array", fail)
    with pytest.raises(kflip.InputError if error is OSError else error, match="in the middle"):
        kflip.save(path, kflip.solve(kflip.Setting(5)))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


def test_an_aborted_write_leaves_nothing(tmp_path: Path) -> None:
    def write_half() -> None:
        with files.atomic_write(tmp_path / "new.npz") as stream:
            stream.write(b"half")
            assert len(list(tmp_path.iterdir())) == 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert not list(tmp_path.iterdir())


def test_the_file_appears_only_when_complete(tmp_path: Path) -> None:
    path = tmp_path / "new.txt"
    with files.atomic_write(path) as stream:
        stream.write(b"all of it")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all of it"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    solution = kflip.solve(kflip.Setting(3))
    (tmp_path / "plain").write_text("a file, not a folder")
    for path in (tmp_path / "none" / "a.npz", tmp_path / "plain" / "a.npz", tmp_path):
        with pytest.raises(kflip.InputError, match="cannot write") as caught:
            kflip.save(path, solution)
        assert str(path) in str(caught.value)
    assert os.listdir(tmp_path) == ["plain"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(kflip.InputError, match=r"cannot write .*Permission denied"):
        kflip.save(tmp_path / "a.npz", kflip.solve(kflip.Setting(3)))


def test_devices_and_pipes_are_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(kflip.InputError, match="not a regular file"):
        kflip.save(pipe, kflip.solve(kflip.Setting(3)))
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_saving_twice_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for n in (3, 4):
        kflip.save(path, kflip.solve(kflip.Setting(n)))
        assert kflip.load(path).setting.n == n
    assert os.listdir(tmp_path) == ["a.npz"]
