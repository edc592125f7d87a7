"""Files of IOHprofiler: the layout the ``ioh`` logger writes, read back by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kflip.errors import InputError
from kflip.setting import Setting
from kflip.simulate import Runs, simulate
from kflip.simulate import ioh as ioh_files


def read_back(folder: Path) -> tuple[dict[str, Any], list[np.ndarray[Any, Any]]]:
    """The description, and the rows of each run."""
    (description,) = folder.glob("IOHprofiler_f*.json")
    info = json.loads(description.read_text())
    text = (folder / info["scenarios"][0]["path"]).read_text()
    header, *runs = ("\n" + text).split("\nevaluations raw_y k lo om\n")
    assert header == ""
    return info, [np.array([line.split() for line in run.splitlines()], dtype=np.int64) for run in runs]


def recorded(objective: str = "lo", **options: Any) -> Runs:
    setting = Setting(9, objective, portfolio=[1, 2, 5])
    return simulate(setting, "random-radius", 12, 4, record="trajectories", **options)


@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_files_hold_the_runs(objective: str, tmp_path: Path) -> None:
    runs = recorded(objective)
    assert runs.to_ioh(tmp_path / "out") == tmp_path / "out"
    info, rows = read_back(tmp_path / "out")
    assert info["maximization"] is True
    assert info["attributes"] == ["evaluations", "raw_y", "k", "lo", "om"]
    assert info["algorithm"]["name"] == "random-radius"
    assert "1,2,5" in info["algorithm"]["info"]
    assert "seed 4" in info["algorithm"]["info"]
    assert {"state": "lo-om"} in info["experiment_attributes"]
    (scenario,) = info["scenarios"]
    assert scenario["dimension"] == 9
    assert len(rows) == len(scenario["runs"]) == 12
    for r, (table, summary) in enumerate(zip(rows, scenario["runs"], strict=True)):
        trajectory = runs.trajectory(r)
        expected_y = trajectory.lo if objective == "lo" else 10 * trajectory.lo + trajectory.om
        columns = (trajectory.iteration + 1, expected_y, trajectory.k, trajectory.lo, trajectory.om)
        np.testing.assert_array_equal(table, np.stack(columns, axis=1))
        assert table[0, 0] == 1
        assert summary["evals"] == runs.runtimes[r] + 1
        assert summary["best"] == {"evals": summary["evals"], "y": 9 if objective == "lo" else 99, "x": []}


def test_leading_ones_is_function_two_of_pbo(tmp_path: Path) -> None:
    recorded().to_ioh(tmp_path / "out")
    info, _ = read_back(tmp_path / "out")
    assert (info["suite"], info["function_id"], info["function_name"]) == ("PBO", 2, "LeadingOnes")
    assert info["scenarios"][0]["path"] == "data_f2_LeadingOnes/IOHprofiler_f2_DIM9.dat"


def test_cut_runs_report_all_evaluations_and_their_best(tmp_path: Path) -> None:
    runs = recorded(max_iterations=15)
    assert not runs.finished.all()
    runs.to_ioh(tmp_path)
    info, _ = read_back(tmp_path)
    for r, summary in enumerate(info["scenarios"][0]["runs"]):
        trajectory = runs.trajectory(r)
        assert summary["evals"] == runs.runtimes[r] + 1
        assert summary["best"]["y"] == trajectory.lo[-1]
        first = np.flatnonzero(trajectory.lo == trajectory.lo[-1])[0]
        assert summary["best"]["evals"] == trajectory.iteration[first] + 1


def test_nothing_is_overwritten_and_nothing_is_left_half_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = recorded()
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine.txt").write_text("keep")
    for taken in (full, full / "mine.txt"):
        with pytest.raises(InputError, match="not an empty folder"):
            runs.to_ioh(taken)
    assert (full / "mine.txt").read_text() == "keep"

    def fail(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(ioh_files, "_describe", fail)
    with pytest.raises(OSError, match="disk full"):
        runs.to_ioh(tmp_path / "new")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]


def test_runs_without_trajectories_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="record='trajectories'"):
        simulate(Setting(5), "one-bit", 3, 1).to_ioh(tmp_path / "out")
    assert not (tmp_path / "out").exists()
