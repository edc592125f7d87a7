"""``kflip plot``: a picture beside the file, or where one asks, and one line for what makes no sense."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kflip
from kflip import figures
from tests.cli.test_commands import Run, refused, run, solved

__all__ = ["run", "solved"]


def test_beside_the_file(run: Run, solved: Path) -> None:
    outcome = run("plot", solved)
    target = solved.with_name("solved-radius.png")
    assert outcome.code == 0
    assert outcome.out == (
        f"{target}: radius of optimal on (LeadingOnes, OneMax), standard selection, seeing (LO, OM), n = 8\n"
    )
    expected = solved.with_name("expected.png")
    figures.save(figures.heatmap(kflip.load(solved)), expected)
    assert target.read_bytes() == expected.read_bytes()


@pytest.mark.parametrize("what", ["radius", "value", "visits", "regret", "std"])
def test_every_quantity(run: Run, solved: Path, what: str) -> None:
    assert run("plot", solved, "--what", what).code == 0
    expected = solved.with_name("expected.png")
    figures.save(figures.heatmap(kflip.load(solved), what), expected)
    assert solved.with_name(f"solved-{what}.png").read_bytes() == expected.read_bytes()


def test_trajectories_and_json(run: Run, solved: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs.pdf"
    outcome = run("plot", solved, "--what", "value", "--trajectories", 4, "--seed", 9, "--out", out, "--json")
    assert outcome.json == {
        "file": str(solved),
        "out": str(out),
        "what": "value",
        "trajectories": 4,
        "seed": 9,
        "setting": kflip.Setting(8).to_dict(),
        "policy": "optimal",
    }
    expected = tmp_path / "expected.pdf"
    figures.save(figures.trajectories(kflip.load(solved), 4, 9, what="value"), expected)
    assert out.read_bytes() == expected.read_bytes()


def test_name_of_trajectories(run: Run, solved: Path) -> None:
    outcome = run("plot", solved, "--trajectories", 2, "--json")
    assert outcome.json["out"] == str(solved.with_name("solved-radius-trajectories.png"))
    assert Path(outcome.json["out"]).is_file()
    assert run("plot", solved, "--json").json["seed"] is None


def test_policy_files(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    setting = kflip.Setting(6, state="lo")
    kflip.save(path, kflip.Policy(6, "lo", np.array([6, 3, 2, 1, 1, 1, 0]), "mine"), setting)
    outcome = run("plot", path, "--what", "visits", "--json")
    assert outcome.json["policy"] == "mine"
    expected = tmp_path / "expected.png"
    figures.save(figures.heatmap(kflip.evaluate(*kflip.load_policy(path)), "visits"), expected)
    assert Path(outcome.json["out"]).read_bytes() == expected.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--what", "radii"], "unknown quantity 'radii'.*Did you mean 'radius'"),
        (["--out", "x.svg"], r"\.png or \.pdf, not as 'x.svg'"),
        (["--trajectories", "0"], "--trajectories must be at least 1, not 0"),
        (["--seed", "-1"], "--seed must be at least 0, not -1"),
    ],
)
def test_options_that_make_no_sense(run: Run, solved: Path, options: list[str], message: str) -> None:
    before = sorted(solved.parent.iterdir())
    refused(run("plot", solved, *options), message)
    assert sorted(solved.parent.iterdir()) == before


def test_files_that_make_no_sense(run: Run, solved: Path, tmp_path: Path) -> None:
    refused(run("plot", tmp_path / "none.npz"), "none.npz")
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(solved.read_bytes()[:-100])
    refused(run("plot", damaged), "damaged.npz")
    refused(run("plot", solved, "--out", tmp_path / "missing" / "x.png"), "cannot write")


def test_what_cannot_be_drawn(run: Run, tmp_path: Path) -> None:
    bits, mixed = tmp_path / "bits.npz", tmp_path / "mixed.npz"
    kflip.save(bits, kflip.solve(kflip.Setting(4, state="bits")))
    refused(run("plot", bits), "state 'bits' is not supported")
    setting = kflip.Setting(4)
    kflip.save(mixed, kflip.evaluate(setting, "random-radius").policy, setting)
    refused(run("plot", mixed), "a stochastic policy has no single radius")
    assert run("plot", mixed, "--what", "value").code == 0
