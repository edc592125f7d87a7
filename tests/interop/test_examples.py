"""The examples that need packages of others, run as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def _run(name: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(find_spec("stable_baselines3") is None, reason="Stable-Baselines3 is not installed")
def test_training() -> None:
    out = _run("train_sb3.py", "--n", "8", "--timesteps", "1000")
    assert "optimal policy:" in out
    assert "best trained policy:" in out


@pytest.mark.skipif(find_spec("iohinspector") is None, reason="iohinspector is not installed")
def test_reading_with_iohinspector() -> None:
    out = _run("read_with_iohinspector.py", "--n", "16", "--runs", "400")
    lines = out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["one-bit", "lo-optimal"]
    for line in lines:
        words = line.replace(",", "").split()
        assert words[1] == "400"
        assert float(words[4]) == pytest.approx(float(words[7]), rel=0.1)


def test_a_learner_of_ones_own() -> None:
    last = _run("own_learner.py").splitlines()[-1]
    assert 0.0 <= float(last.split("regret ")[1].split("%")[0]) < 20.0


@pytest.mark.parametrize("name", ["train_sb3.py", "read_with_iohinspector.py", "own_learner.py"])
def test_examples_stay_short(name: str) -> None:
    assert len((EXAMPLES / name).read_text().splitlines()) <= 60
