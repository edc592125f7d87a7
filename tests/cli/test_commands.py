"""The command line: every command in both ways of printing, and one line for everything that makes no sense."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from kflip import cli
from kflip.export import jsonable
from kflip.setting import STATES

COMMANDS = (
    "solve", "evaluate", "explain", "compare", "simulate", "verify", "export", "plot", "reproduce",
    "train", "sweep", "leaderboard",
)  # fmt: skip
KFLIP = [sys.executable, "-m", "kflip"]


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object that standard output holds."""
        assert self.out.endswith("\n")
        assert self.out.count("\n") == 1

        def refuse(constant: str) -> None:
            raise ValueError(f"{constant} is not JSON")

        content = json.loads(self.out, parse_constant=refuse)
        assert isinstance(content, dict)
        return content


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> Outcome:
        with pytest.raises(SystemExit) as exit_:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert isinstance(exit_.value.code, int)
        return Outcome(exit_.value.code, captured.out, captured.err)

    return call


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    path = tmp_path / "solved.npz"
    kflip.save(path, kflip.solve(kflip.Setting(8)))
    return path


def refused(outcome: Outcome, message: str) -> None:
    """Exit code 2, nothing on stdout, exactly one line on stderr."""
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("kflip: ")
    assert outcome.err.count("\n") == 1
    assert re.search(message, outcome.err), outcome.err


# solve


def test_solve(run: Run) -> None:
    outcome = run("solve", "--n", 8)
    assert (outcome.code, outcome.err) == (0, "")
    assert "14.3683032058" in outcome.out
    assert "(LeadingOnes, OneMax), standard selection, seeing (LO, OM), n = 8" in outcome.out


def test_solve_json(run: Run) -> None:
    outcome = run("solve", "--n", 8, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    expected = kflip.solve(kflip.Setting(8)).expected_runtime
    assert outcome.json == {
        "setting": kflip.Setting(8).to_dict(),
        "expected_runtime": expected,
        "expected_evaluations": expected + 1,
        "out": None,
    }


@pytest.mark.parametrize(
    "setting",
    [
        kflip.Setting(1),
        kflip.Setting(9, "lo", "strict", "lo-om", "powers-of-two"),
        kflip.Setting(9, "lo", "standard", "lo", [1, 3]),
        kflip.Setting(6, "loom", "strict", "lo-om", "evenly-spread-3"),
    ],
    ids=str,
)
def test_solve_takes_every_option(setting: kflip.Setting, run: Run, tmp_path: Path) -> None:
    options = [part for name, value in setting.to_dict().items() for part in (f"--{name}", value)]
    outcome = run("solve", *options, "--out", tmp_path / "a.npz", "--json")
    assert outcome.json["setting"] == setting.to_dict()
    assert outcome.json["out"] == str(tmp_path / "a.npz")
    loaded, solution = kflip.load(tmp_path / "a.npz"), kflip.solve(setting)
    assert loaded.setting == setting
    assert np.array_equal(loaded.values, solution.values, equal_nan=True)
    assert os.listdir(tmp_path) == ["a.npz"]


def test_unreachable_optimum(run: Run) -> None:
    assert "inf iterations" in run("solve", "--n", 5, "--portfolio", "2,3").out
    assert run("solve", "--n", 5, "--portfolio", "2,3", "--json").json["expected_runtime"] == "inf"
    outcome = run("evaluate", "--n", 5, "--portfolio", "2,3", "--policy", "constant-2", "--json")
    assert outcome.json["expected_runtime"] == outcome.json["optimal_runtime"] == "inf"
    assert outcome.json["regret"] is None
    assert run("evaluate", "--n", 5, "--policy", "constant-2", "--json").json["regret"] == "inf"


@pytest.mark.parametrize("name", ["[red].npz", "a b.npz", "-odd.npz", "naïve☃.npz", "[/].x"])
def test_names_of_files_are_printed_as_they_are(name: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    outcome = run("solve", "--n", 3, "--out", path)
    assert outcome.code == 0
    assert path.name in outcome.out
    assert run("verify", path).code == 0


def test_bits(run: Run) -> None:
    outcome = run("solve", "--n", 4, "--state", "bits", "--json")
    assert outcome.json["expected_runtime"] == kflip.solve(kflip.Setting(4, state="bits")).expected_runtime


# evaluate


@pytest.mark.parametrize("policy", ["one-bit", "lo-optimal", "random-radius", "max-drift", "constant-2"])
def test_evaluate(policy: str, run: Run) -> None:
    setting = kflip.Setting(6, "lo", "strict")
    expected = kflip.evaluate(setting, policy)
    options = ("--n", 6, "--objective", "lo", "--selection", "strict", "--policy", policy)
    outcome = run("evaluate", *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{expected.expected_runtime:.12g} iterations" in outcome.out
    assert f"{expected.regret:.6%}" in outcome.out
    content = {
        "setting": setting.to_dict(),
        "policy": policy,
        "expected_runtime": expected.expected_runtime,
        "std": expected.std,
        "optimal_runtime": expected.optimal_runtime,
        "regret": expected.regret,
    }
    assert run("evaluate", *options, "--json").json == jsonable(content)


def test_evaluate_a_file(run: Run, solved: Path, tmp_path: Path) -> None:
    outcome = run("evaluate", "--policy", solved, "--json")
    assert outcome.json["setting"] == kflip.Setting(8).to_dict()
    assert outcome.json["regret"] == pytest.approx(0.0, abs=1e-14)
    setting = kflip.Setting(5, "lo", state="lo")
    kflip.save(tmp_path / "p.npz", kflip.rules.resolve(setting, "random-radius"), setting)
    outcome = run("evaluate", "--policy", tmp_path / "p.npz", "--json")
    assert outcome.json["expected_runtime"] == kflip.evaluate(setting, "random-radius").expected_runtime


@pytest.mark.parametrize(
    "option", [("--n", 8), ("--objective", "lo"), ("--selection", "strict"), ("--state", "lo"), ("--portfolio", "1")]
)
def test_a_file_brings_its_own_setting(option: tuple[str, object], run: Run, solved: Path) -> None:
    refused(run("evaluate", "--policy", solved, *option), f"leave out {option[0]}")


def test_evaluate_seeing_less_than_a_markov_state(run: Run) -> None:
    expected = kflip.evaluate(kflip.Setting(6, state="lo"), "lo-optimal")
    outcome = run("evaluate", "--n", 6, "--state", "lo", "--policy", "lo-optimal")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"{expected.expected_runtime:.12g} iterations" in outcome.out
    content = run("evaluate", "--n", 6, "--state", "lo", "--policy", "lo-optimal", "--json").json
    assert content["expected_runtime"] == expected.expected_runtime


# compare and simulate


def test_compare(run: Run) -> None:
    runtimes = {state: kflip.solve(kflip.Setting(5, "lo", state=state)).expected_runtime for state in STATES}
    outcome = run("compare", "--n", 5, "--objective", "lo")
    assert (outcome.code, outcome.err) == (0, "")
    assert all(f"{runtime:.12g}" in outcome.out for runtime in runtimes.values())
    content = run("compare", "--n", 5, "--objective", "lo", "--json").json
    assert {row["state"]: row["expected_runtime"] for row in content["states"]} == runtimes
    two = run("compare", "--n", 5, "--objective", "lo", "--states", "lo, bits", "--json").json
    assert [row["state"] for row in two["states"]] == ["lo", "bits"]


def test_simulate(run: Run, solved: Path) -> None:
    outcome = run("simulate", solved, "--runs", 200, "--seed", 1)
    assert (outcome.code, outcome.err) == (0, "")
    assert "14.3683032058" in outcome.out
    first, again = (run("simulate", "one-bit", "--n", 8, "--runs", 200, "--seed", 1, "--json").json for _ in range(2))
    assert first == again
    assert first["setting"] == kflip.Setting(8).to_dict()
    low, high = first["confidence_interval"]
    assert low < first["mean"] < high
    assert abs(first["mean"] - first["exact_mean"]) < 5 * first["exact_std"] / 200**0.5


# verify


def test_verify(run: Run, solved: Path) -> None:
    outcome = run("verify", solved)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.count("passed") == 4
    content = run("verify", solved, "--json").json
    assert content["passed"] is True
    assert content["file"] == str(solved)
    assert content["setting"] == kflip.Setting(8).to_dict()
    assert [check["passed"] for check in content["checks"]] == [True] * 4
    assert {"name", "deviation", "passed", "proves"} == set(content["checks"][0])


@pytest.mark.parametrize("value", [1.0, np.nan, np.inf])
def test_a_failed_verification_exits_with_1(value: float, run: Run, tmp_path: Path) -> None:
    good = kflip.solve(kflip.Setting(5))
    values = good.values.copy()
    values[1, 2] = value
    kflip.save(tmp_path / "bad.npz", kflip.Solution(good.setting, good.policy, values, good.expected_runtime))
    outcome = run("verify", tmp_path / "bad.npz")
    assert (outcome.code, outcome.err) == (1, "")
    assert "FAILED" in outcome.out
    outcome = run("verify", tmp_path / "bad.npz", "--json")
    assert outcome.code == 1
    assert outcome.json["passed"] is False


# export


@pytest.mark.parametrize("form", ["csv", "json"])
def test_export(form: str, run: Run, solved: Path, tmp_path: Path) -> None:
    kflip.export(kflip.load(solved), tmp_path / f"expected.{form}")
    expected = (tmp_path / f"expected.{form}").read_text()
    outcome = run("export", solved, tmp_path / f"a.{form}")
    assert (outcome.code, outcome.err) == (0, "")
    assert "lo, om, radius, value" in outcome.out
    assert (tmp_path / f"a.{form}").read_text() == expected
    content = run("export", solved, tmp_path / "b.txt", "--format", form, "--json").json
    assert content == {"file": str(solved), "out": str(tmp_path / "b.txt"), "columns": ["lo", "om", "radius", "value"]}
    assert (tmp_path / "b.txt").read_text() == expected


# bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("solve",), r"give the length of the bit string with --n"),
        (("solve", "--n", 0), "n must be at least 1, not 0"),
        (("solve", "--n=-3"), "n must be at least 1, not -3"),
        (("solve", "--n", "x"), "Invalid value for '--n'"),
        (("solve", "--n", "4.5"), "Invalid value for '--n'"),
        (("solve", "--n", "9" * 5000), "Invalid value for '--n'"),
        (("solve", "--n", 10**9), "too large"),
        (("solve", "--n", 4, "--objective", "lom"), "unknown objective 'lom'.*Did you mean 'loom'"),
        (("solve", "--n", 4, "--selection", "strikt"), "Did you mean 'strict'"),
        (("solve", "--n", 4, "--state", "lo_om"), "Did you mean 'lo-om'"),
        (("solve", "--n", 4, "--portfolio", "fulll"), "Did you mean 'full'"),
        (("solve", "--n", 4, "--portfolio", "1,9"), "radius 9 in the portfolio is above n = 4"),
        (("solve", "--n", 4, "--portfolio", "9" * 5000), "a number of 5000 digits"),
        (("solve", "--n", 4, "--portfolio", "1\n2"), "unknown portfolio"),
        (("solve", "--n", 4, "--nn", 5), "No such option: --nn"),
        (("solve", "--n"), "requires an argument"),
        (("solve", "extra", "--n", 4), "unexpected extra argument"),
        (("solve", "--n", 4, "--out", "no/such/folder/a.npz"), "cannot write no/such/folder/a.npz: no folder"),
        (("solve", "--n", 4, "--out", "."), r"cannot write \.: it exists and is not a regular file"),
        (("solve", "--n", 4, "--out", ""), "cannot write"),
        (("solve", "--n", 4, "--out", "/dev/null"), "not a regular file"),
        (("evaluate",), "--n"),
        (("evaluate", "--n", 4, "--policy", "one_bit"), "unknown rule 'one_bit'.*Did you mean 'one-bit'"),
        (("evaluate", "--n", 4, "--policy", "constant-9"), "radius 9 is not in the portfolio full for n = 4"),
        (("evaluate", "--policy", "missing.npz"), "missing.npz: no such file"),
        (("simulate",), "Missing argument"),
        (("simulate", "one-bit"), "--n"),
        (("simulate", "one-bit", "--n", 4, "--runs", 0), "runs must be a whole number of at least 1, not 0"),
        (("simulate", "one-bit", "--n", 4, "--seed", -1), "seed"),
        (("simulate", "one-bit", "--n", 4, "--level", "bit"), "unknown level 'bit'.*Did you mean 'bits'"),
        (("simulate", "missing.npz"), "missing.npz: no such file"),
        (("compare",), "--n"),
        (("compare", "--n", 4, "--objective", "lo", "--states", "lo,bit"), "Did you mean 'bits'"),
        (("compare", "--n", 4, "--objective", "lom"), "Did you mean 'loom'"),
        (("verify",), "Missing argument"),
        (("verify", "missing.npz"), "missing.npz: no such file"),
        (("verify", "two\nlines.npz"), "two lines.npz: no such file"),
        (("verify", "."), r"\.: cannot be read"),
        (("verify", __file__), "not a kflip file"),
        (("export", "missing.npz", "a.csv"), "missing.npz: no such file"),
        (("export",), "Missing argument"),
        (("reproduce", "all"), "unexpected extra argument"),
        (("slove",), "No such command 'slove'"),
        (("--bogus",), "No such option"),
    ],
)
def test_bad_input(arguments: tuple[object, ...], message: str, run: Run) -> None:
    refused(run(*arguments), message)
    if arguments[0] in COMMANDS:
        refused(run(arguments[0], "--json", *arguments[1:]), message)


def test_bad_exports(run: Run, solved: Path, tmp_path: Path) -> None:
    refused(run("export", solved, tmp_path / "a.xml"), "unknown export format 'xml'; choose one of csv, json")
    refused(run("export", solved, tmp_path / "a.csv", "--format", "jsn"), "Did you mean 'json'")
    refused(run("export", solved, tmp_path / "none" / "a.csv"), "cannot write")
    assert os.listdir(tmp_path) == ["solved.npz"]


def test_too_large_for_the_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kflip.memory.available_bytes", lambda: 1000)
    refused(run("solve", "--n", 500), r"needs about .* GiB, but only .* GiB are available")


def test_running_out_of_memory(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any, **options: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("kflip.cli.solve.compute", fail)
    refused(run("solve", "--n", 5), "not enough memory")


def test_no_command(run: Run) -> None:
    outcome = run()
    assert outcome.code == 2
    assert "Usage" in outcome.out
    assert outcome.err == "kflip: missing command; see kflip --help\n"


# help


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_the_commands(flag: str, run: Run) -> None:
    outcome = run(flag)
    assert (outcome.code, outcome.err) == (0, "")
    for word in (*COMMANDS, "--version"):
        assert word in outcome.out


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("solve", ["--n", "--objective", "--selection", "--state", "--portfolio", "--out", "--json"]),
        ("evaluate", ["--policy", "--n", "--objective", "--selection", "--state", "--portfolio", "--json"]),
        ("compare", ["--n", "--objective", "--selection", "--portfolio", "--states", "--json"]),
        ("simulate", ["POLICY", "--runs", "--seed", "--level", "--max-iterations", "--n", "--ioh", "--json"]),
        ("verify", ["FILE", "--json"]),
        ("export", ["FILE", "OUT", "--format", "--json"]),
        ("reproduce", ["--json"]),
    ],
)
def test_help_mentions_every_option(command: str, words: list[str], run: Run) -> None:
    outcome = run(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    for word in words:
        assert word.lower() in outcome.out.lower()


def test_version(run: Run) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.out, outcome.err) == (0, f"kflip {kflip.__version__}\n", "")


# as a process


@pytest.fixture(scope="module")
def compiled() -> None:
    """Compile once, so that no process below has to announce it on stderr."""
    assert kflip.verify(kflip.solve(kflip.Setting(6))).passed


@pytest.mark.usefixtures("compiled")
def test_the_module_is_the_command_line() -> None:
    done = subprocess.run([*KFLIP, "solve", "--n", "6", "--json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")  # in a pipe no progress bar either
    assert json.loads(done.stdout)["expected_runtime"] == kflip.solve(kflip.Setting(6)).expected_runtime
    done = subprocess.run([*KFLIP, "solve", "--n", "0"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "kflip: n must be at least 1, not 0\n"


@pytest.mark.usefixtures("compiled")
def test_a_reader_that_leaves(solved: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([*KFLIP, "verify", solved], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (cli.UNREAD, "")


@pytest.mark.usefixtures("compiled")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs the device that is always full")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_output_that_cannot_be_written(option: list[str]) -> None:
    with open("/dev/full", "w") as full:
        command = [*KFLIP, "solve", "--n", "4", *option]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "kflip: cannot write the output: No space left on device\n")


def test_progress_bar_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen([*KFLIP, "solve", "--n", "200", "--json"], stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 4096):
            shown += block
    except OSError:  # Linux reports the closed terminal this way
        pass
    os.close(ours)
    out, _ = process.communicate()
    assert process.returncode == 0
    assert json.loads(out)["setting"]["n"] == 200
    assert b"solving" in shown
    assert b"%" in shown
