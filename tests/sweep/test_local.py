"""Sweeps on this machine: resumed, disturbed, interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import kflip
from kflip.errors import InputError
from kflip.sweep import Status, Store, Task, local, sweep
from tests.sweep import small

TASKS = [*small.rules(), *small.learning(12, 2000)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, object]]:
    folder = tmp_path_factory.mktemp("undisturbed")
    outcome = sweep(TASKS, Store(folder), workers=1)
    assert (outcome.kept, outcome.done, outcome.failures) == (0, len(TASKS), ())
    return small.contents(folder)


def test_two_workers_find_the_same(undisturbed: list[dict[str, object]], tmp_path: Path) -> None:
    assert sweep(TASKS, Store(tmp_path), workers=2).done == len(TASKS)
    assert small.contents(tmp_path) == undisturbed
    assert small.remains(tmp_path) == []


def test_resumed(undisturbed: list[dict[str, object]], tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert sweep(TASKS[:5], store).done == 5
    written = {task.key: store.path(task.key).stat().st_mtime_ns for task in TASKS[:5]}
    seen: list[Status] = []
    outcome = sweep([*TASKS, *TASKS], store, progress=seen.append)  # repeated tasks count once
    assert (outcome.kept, outcome.done, outcome.total) == (5, len(TASKS) - 5, len(TASKS))
    assert [status.done for status in seen] == list(range(len(TASKS) - 5 + 1))
    assert {(status.total, status.kept, status.failed) for status in seen} == {(len(TASKS), 5, 0)}
    assert seen[-1].seconds_left == 0.0
    assert all(status.seconds_left is not None for status in seen)  # old records tell from the first moment
    assert written == {task.key: store.path(task.key).stat().st_mtime_ns for task in TASKS[:5]}
    assert small.contents(tmp_path) == undisturbed
    outcome = sweep(TASKS, store, progress=lambda _: pytest.fail("nothing to do"))
    assert (outcome.kept, outcome.done) == (len(TASKS), 0)


def test_failures_do_not_stop_the_others(tmp_path: Path) -> None:
    tasks = [small.failing(), *small.rules()]
    for kept in (0, len(tasks) - 1):
        outcome = sweep(tasks, Store(tmp_path))
        assert (outcome.kept, outcome.done) == (kept, len(tasks) - 1 - kept)
        assert [str(failure) for failure in outcome.failures] == [
            "constant-3 on small: radius 3 is not in the portfolio powers-of-two for n = 4"
        ]
    assert len(small.contents(tmp_path)) == len(tasks) - 1


def test_an_error_without_a_message_has_its_type(tmp_path: Path) -> None:
    outcome = sweep([Task("a", kflip.Setting(4), "many", "q-learning", 1)], Store(tmp_path))
    assert [failure.error for failure in outcome.failures] == [
        "budget must be a whole number of at least 20, not 'many'"
    ]


def test_killed_workers_are_replaced(undisturbed: list[dict[str, object]], tmp_path: Path) -> None:
    killed: list[int] = []

    def disturb(status: Status) -> None:
        if status.done in (1, 6, 11):
            for process in small.workers_of(os.getpid()):
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    outcome = sweep(TASKS, Store(tmp_path), workers=2, progress=disturb)
    assert (outcome.done, outcome.failures) == (len(TASKS), ())
    assert len(set(killed)) >= 3
    assert small.contents(tmp_path) == undisturbed


def test_a_task_that_always_kills_its_worker_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = "import os, sys; sys.stdin.readline(); print('too much', file=sys.stderr, flush=True); os.abort()"
    monkeypatch.setattr(local, "_COMMAND", [sys.executable, "-c", command])
    outcome = sweep(small.rules()[:2], Store(tmp_path), workers=2)
    assert (outcome.done, len(outcome.failures)) == (0, 2)
    want = f"its worker process died {local.TRIES} times; the last time: signal {signal.SIGABRT:d}, too much"
    assert {failure.error for failure in outcome.failures} == {want}
    assert small.contents(tmp_path) == []


def test_a_worker_that_does_not_start_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(local, "_COMMAND", [str(tmp_path / "absent")])
    with pytest.raises(FileNotFoundError):
        sweep(small.rules(), Store(tmp_path / "out"))


def test_an_error_of_the_driver_leaves_no_process(tmp_path: Path) -> None:
    def stop(status: Status) -> None:
        if status.done == 2:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        sweep(TASKS, Store(tmp_path), workers=2, progress=stop)
    assert small.workers_of(os.getpid()) == []
    assert len(small.contents(tmp_path)) == 2


def test_numbers_of_workers(tmp_path: Path) -> None:
    assert local.Local().width == len(os.sched_getaffinity(0))
    with pytest.raises(InputError, match="workers must be at least 1, not 0"):
        sweep(TASKS, Store(tmp_path), workers=0)
    with pytest.raises(InputError, match="not both"):
        sweep(TASKS, Store(tmp_path), workers=1, cluster="dask")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_a_driver_that_ends_leaves_no_process(end: signal.Signals, tmp_path: Path) -> None:
    arguments = ["sweep", "kflip-v1", "--size", "large", "--benchmark", "*/lo-standard-64-*", "--workers", "2"]
    methods = ["--method", "one-bit", "--method", "certainty-equivalence", "--out", str(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "kflip", *arguments, *methods],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # tests that run in the background inherit a shell's "ignore Ctrl-C"
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        small.wait_until(lambda: process.poll() is not None or list(tmp_path.glob("*.json")))
        workers = small.workers_of(process.pid)
        process.send_signal(end)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert len(workers) == 2
    small.wait_until(lambda: not any(map(small.alive, workers)), 30)
    assert out == ""
    assert small.remains(tmp_path) == []
    assert len(small.contents(tmp_path)) in (1, 2)
    if end == signal.SIGINT:
        assert process.returncode == 130
        assert f"finished tasks are recorded in {tmp_path}; the same command goes on from there" in err
        assert err.endswith("kflip: interrupted; no half-written file is left\n")
        assert "Traceback" not in err
