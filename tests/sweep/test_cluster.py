"""Sweeps on a Dask cluster whose workers, and drivers, die."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kflip
from kflip.errors import InputError
from kflip.sweep import Status, Store, Task, cluster, sweep
from tests.sweep import small

TASKS = [*small.rules(), *small.learning(12, 2000)]


def test_without_dask(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'kflip\[cluster\]'"):
        sweep(TASKS, Store(tmp_path), cluster="tcp://127.0.0.1:1")


def test_dask_is_loaded_only_if_asked_for() -> None:
    command = "import sys, kflip.sweep.drive; sys.exit('distributed' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", command], check=False).returncode == 0


class TestErrors:
    @pytest.fixture(autouse=True)
    def _dask(self) -> None:
        pytest.importorskip("distributed", reason="needs pip install 'kflip[cluster]'")

    @pytest.mark.parametrize("address", ["here", "tcp://host", "http://host:80", "tcp://:x"])
    def test_no_address(self, address: str, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=rf"tcp://host:8786, not '{address}'"):
            sweep(TASKS, Store(tmp_path), cluster=address)

    def test_nothing_configured(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="DASK_SCHEDULER_ADDRESS"):
            sweep(TASKS, Store(tmp_path), cluster="dask")

    def test_nobody_answers(self, tmp_path: Path) -> None:
        """In a process of its own: an impatient client leaves warnings behind."""
        command = "from kflip.sweep import cluster; from kflip import cli; cluster.PATIENCE = 1.0; cli.main()"
        arguments = ["sweep", "kflip-v1", "--out", str(tmp_path), "--cluster", "tcp://127.0.0.1:1"]
        ended = subprocess.run(
            [sys.executable, "-c", command, *arguments, "--method", "one-bit"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (ended.returncode, ended.stdout) == (2, "")
        assert "kflip: no Dask scheduler answers at tcp://127.0.0.1:1" in ended.stderr
        assert "Traceback" not in ended.stderr


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[small.DaskCluster]:
    pytest.importorskip("distributed", reason="needs pip install 'kflip[cluster]'")
    with small.dask_cluster(tmp_path_factory.mktemp("dask"), workers=1) as found:
        yield found


def test_the_same_as_on_this_machine(
    running: small.DaskCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    tasks = [*TASKS, small.failing()]
    assert sweep(tasks, Store(here)).done == len(TASKS)
    seen: list[Status] = []
    monkeypatch.setattr(cluster, "WINDOW", 2)  # many windows
    monkeypatch.setattr(cluster, "TICK", 0.5)
    config: Any = importlib.import_module("dask.config")
    with config.set({"scheduler-address": running.address}):
        outcome = sweep([*tasks, *tasks], Store(there), cluster="dask", progress=seen.append)
    assert (outcome.kept, outcome.done) == (0, len(TASKS))
    assert [str(failure.task) for failure in outcome.failures] == ["constant-3 on small"]
    assert small.contents(there) == small.contents(here)
    assert small.remains(there) == []
    assert (seen[0].width, seen[-1].width, seen[-1].seconds_left) == (0, 1, 0.0)


def test_deep_agents_learn_the_same_everywhere(running: small.DaskCluster, tmp_path: Path) -> None:
    pytest.importorskip("stable_baselines3", reason="needs pip install 'kflip[learn]'")
    tasks = [
        Task("small", kflip.Setting(5), 2000, name, seed) for name in ("dqn", "ppo", "dqn-plain") for seed in (1, 2)
    ]
    folders = [tmp_path / name for name in ("one", "two", "dask")]
    assert sweep(tasks, Store(folders[0]), workers=1).done == 6
    assert sweep(tasks, Store(folders[1]), workers=2).done == 6
    assert sweep(tasks, Store(folders[2]), cluster=running.address).done == 6
    first, *others = (small.contents(folder) for folder in folders)
    assert others == [first, first]
    assert len({record["result"]["policy_sha256"] for record in first}) > 1


def test_tasks_of_a_dead_driver_are_forgotten(running: small.DaskCluster, tmp_path: Path) -> None:
    driver = small.driver(tmp_path, running.address, 100, 10**9)
    with connected(running.address) as client:
        small.wait_until(lambda: client.run_on_scheduler(number_of_tasks) > 1)
        driver.kill()
        driver.communicate()
        small.wait_until(lambda: client.run_on_scheduler(number_of_tasks) <= 1)  # what already runs, runs on


def test_a_scheduler_that_dies_is_told(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="needs pip install 'kflip[cluster]'")
    arguments = ["sweep", "kflip-v1", "--out", str(tmp_path / "out"), "--method", "certainty-equivalence"]
    with small.dask_cluster(tmp_path, workers=0) as found:
        command = [sys.executable, "-m", "kflip", *arguments, "--cluster", found.address]
        driver = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with connected(found.address) as client:
            small.wait_until(lambda: client.run_on_scheduler(number_of_tasks) > 1)
        found.scheduler.kill()
        try:
            out, err = driver.communicate(timeout=small.PATIENCE)
        finally:
            driver.kill()
            driver.wait()
    assert (driver.returncode, out) == (2, "")
    assert f"kflip: lost the Dask scheduler at {found.address}" in err
    assert "Traceback" not in err


#: Tasks, budget of each, workers, and the records after which the driver is killed.
NUMBER, BUDGET, WORKERS, DRIVER_DIES = 200, 6000, 4, 70

#: Seconds between two murders, and records after which the next one is due at the latest.
PAUSE, AT_LATEST = 4.0, 40


def test_chaos(tmp_path: Path) -> None:
    """A worker is killed every four seconds and replaced, and the driver once: as if nothing had happened."""
    pytest.importorskip("distributed", reason="needs pip install 'kflip[cluster]'")
    here, there = tmp_path / "here", tmp_path / "there"
    begin = time.monotonic()
    assert sweep(small.learning(NUMBER, BUDGET), Store(here)).done == NUMBER
    quiet = time.monotonic() - begin
    hits, drivers, before = 0, 1, 0
    begin = time.monotonic()
    with small.dask_cluster(tmp_path, WORKERS) as found:
        driver = small.driver(there, found.address, NUMBER, BUDGET)
        try:
            small.wait_until(lambda: there.is_dir() and len(list(there.glob("*.json"))) > 0)
            last = time.monotonic()
            while driver.poll() is None:
                time.sleep(0.05)
                recorded = len(list(there.glob("*.json")))
                if drivers == 1 and recorded >= DRIVER_DIES:
                    driver.kill()
                    driver.communicate()
                    at_death = len(list(there.glob("*.json")))
                    driver, drivers = small.driver(there, found.address, NUMBER, BUDGET), 2
                # on a busy machine a worker may need longer to begin than it would live; on a fast one all is soon over
                if (time.monotonic() - last >= PAUSE and recorded > before) or recorded >= before + AT_LATEST:
                    found.kill_oldest()
                    found.add_worker()
                    hits += recorded < NUMBER
                    last, before = time.monotonic(), recorded
            out, _ = driver.communicate()
        finally:
            driver.kill()
            driver.wait()
    lasted = time.monotonic() - begin
    print(f"undisturbed {quiet:.0f} s; disturbed {lasted:.0f} s, {hits} workers killed, {drivers} drivers")
    assert driver.returncode == 0
    assert drivers == 2
    assert hits >= 3
    assert DRIVER_DIES <= at_death < NUMBER
    assert json.loads(out) == [at_death, NUMBER - at_death, []]
    assert len(small.contents(there)) == NUMBER
    assert small.contents(there) == small.contents(here)


@contextmanager
def connected(address: str) -> Iterator[Any]:
    with importlib.import_module("distributed").Client(address) as client:
        yield client


def number_of_tasks(dask_scheduler: Any) -> int:
    return len(dask_scheduler.tasks)
