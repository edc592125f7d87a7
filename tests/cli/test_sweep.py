"""``kflip sweep``: a suite of its own small size, end to end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import kflip
from kflip import cli
from kflip.cli.sweep_progress import left
from kflip.sweep import SUITES, Benchmark, Store

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    tiny = tuple(
        Benchmark("tiny", f"loom-{n}", "loom", size, kflip.Setting(n), 1000)
        for n, size in ((3, "small"), (4, "small"), (5, "medium"))
    )
    monkeypatch.setitem(SUITES, "tiny", tiny)

    def call(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main(["sweep", *map(str, arguments)])
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, captured.out, captured.err

    return call


def test_end_to_end(run: Run, tmp_path: Path) -> None:
    methods = ["--method", "one-bit", "--method", "q-learning", "--seeds", 2]
    code, out, err = run("tiny", "--out", tmp_path, "--size", "small", *methods, "--json")
    found = json.loads(out)
    assert (code, found["tasks"], found["kept"], found["done"], found["failed"]) == (0, 6, 0, 6, [])
    assert err.startswith("0/6 tasks, time left unknown\n")
    assert err.endswith("6/6 tasks, about 0 s left\n")
    assert sorted((record["task"]["method"], record["task"]["seed"]) for record in Store(tmp_path)) == [
        *[("one-bit", 0)] * 2,
        *[("q-learning", 1)] * 2,
        *[("q-learning", 2)] * 2,
    ]
    code, out, _ = run("tiny", "--out", tmp_path, *methods, "--workers", 1)
    assert code == 0
    assert out.startswith("9 tasks: 6 recorded before, 3 done now")


def test_failures_end_with_code_1(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("tiny", "--out", tmp_path, "--benchmark", "loom-[34]", "--method", "constant-4")
    assert code == 1
    assert "2 tasks: 0 recorded before, 1 done now" in out
    assert "failed: constant-4 on tiny/loom-3: radius 4 is not in the portfolio full for n = 3\n" in out


def test_all_methods_that_can_be_used(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kflip.learn.registry.find_spec", lambda name: None)
    code, out, err = run("tiny", "--out", tmp_path, "--benchmark", "tiny/loom-3", "--seeds", 1, "--json")
    assert "kflip: without dqn-plain, dqn, ppo, which need pip install 'kflip[learn]'\n" in err
    methods = {record["task"]["method"] for record in Store(tmp_path)}
    assert (code, json.loads(out)["failed"]) == (0, [])
    assert methods >= {*kflip.rules.REGISTRY, "q-learning", "certainty-equivalence"}


def test_list(run: Run) -> None:
    code, out, _ = run("--list", "kflip-v1", "--size", "small", "--json")
    assert code == 0
    assert [one["id"] for one in json.loads(out)["benchmarks"]] == [
        one.id for one in SUITES["kflip-v1"] if one.size == "small"
    ]
    code, out, _ = run("--list")
    assert code == 0
    assert all(one.id in out for suite in SUITES.values() for one in suite)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a suite: kflip-v1"),
        (["kflip-v0"], "unknown suite 'kflip-v0'"),
        (["tiny", "--size", "huge"], "unknown size 'huge'"),
        (["tiny", "--method", "two-bit"], "unknown method 'two-bit'"),
        (["tiny", "--benchmark", "maximum-*"], "no benchmark is like 'maximum-*'"),
        (["tiny", "--seeds", 0], "--seeds must be at least 1, not 0"),
        (["tiny", "--method", "one-bit", "--workers", 0], "workers must be at least 1, not 0"),
        (["tiny", "--method", "one-bit", "--workers", 1, "--cluster", "dask"], "not both"),
    ],
)
def test_refused(arguments: list[object], message: str, run: Run, tmp_path: Path) -> None:
    code, out, err = run(*arguments, "--out", tmp_path)
    assert (code, out) == (2, "")
    assert f"kflip: {message}" in err or message in err


def test_time_left_in_words() -> None:
    words = {None: "time left unknown", 12.4: "about 12 s left", 600.0: "about 10 min left"}
    assert {seconds: left(seconds) for seconds in words} == words
    assert left(3 * 3600.0 + 240.0) == "about 3 h 04 min left"
