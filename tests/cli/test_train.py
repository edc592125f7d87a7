"""``kflip train``: scores, files, and what makes no sense."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import kflip
from kflip import cli
from kflip.export import jsonable
from kflip.learn import learner_named

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["train", *map(str, arguments)])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return call


def test_what_is_printed_and_written(run: Run, tmp_path: Path) -> None:
    out, plot = tmp_path / "policy.npz", tmp_path / "curve.png"
    asked = ["--n", 5, "--learner", "q-learning-events", "--budget", 2000, "--seed", 3]
    code, text, err = run(*asked, "--out", out, "--plot", plot, "--json")
    training = learner_named("q-learning-events").train(kflip.Setting(5), 2000, 3)
    assert (code, err) == (0, "")
    found = json.loads(text)
    assert found == {
        "setting": kflip.Setting(5).to_dict(),
        "learner": "q-learning-events",
        "seed": 3,
        "budget": 2000,
        **jsonable(training.to_dict()),
        "out": str(out),
        "plot": str(plot),
    }
    setting, policy = kflip.load_policy(out)
    assert setting == kflip.Setting(5)
    assert isinstance(policy, kflip.Policy)
    assert (policy.table == training.policy.table).all()
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curve.png", "policy.npz"]
    code, text, _ = run(*asked)
    assert code == 0
    assert re.search(r"iterations spent +\d+ of 2000", text)
    assert all(word in text for word in ("guarded", "hit ratio", "area under the curve"))


def test_the_time_is_left_out_where_it_is_unknown(run: Run) -> None:
    code, text, _ = run("--n", 4, "--state", "bits", "--budget", 1000)
    assert code == 0
    assert re.search(r"hit ratio +\d+\.\d\d% of the states\s*\n", text)


def test_a_benchmark_brings_setting_and_budget(run: Run) -> None:
    code, text, _ = run("--benchmark", "kflip-v1/loom-16-powers-of-two", "--budget", 1000, "--json")
    assert code == 0
    assert json.loads(text)["setting"] == kflip.Setting(16, portfolio="powers-of-two").to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--n", 8, "--benchmark", "kflip-v1/loom-16-full"], "brings its own setting: leave out --n"),
        (["--benchmark", "kflip-v1/loom-16"], "unknown benchmark"),
        ([], "--n"),
        (["--n", 8, "--learner", "q-lerning"], "Did you mean 'q-learning'"),
        (["--n", 8, "--budget", 3], "budget must be a whole number of at least 20, not 3"),
        (["--n", 8, "--seed", -1], "seed must be a whole number of at least 0, not -1"),
        (["--n", 8, "--out", "/nowhere/a.npz"], "no folder /nowhere"),
        (["--n", 8, "--plot", "curve.gif"], ".png or .pdf"),
    ],
)
def test_refused(arguments: list[object], message: str, run: Run) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.startswith("kflip: ")
    assert message in err
