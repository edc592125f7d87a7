r"""Runs as files of IOHprofiler, for its analyser and for iohinspector.

One JSON file describes function, algorithm and runs; one ``.dat`` file holds the rows, each run under a repeated
header: ``evaluations raw_y k lo om``.  The start is evaluation 1 and iteration :math:`t` evaluation
:math:`t + 1`.  ``raw_y`` is what is maximised: LO itself for LeadingOnes, which is function 2 of the PBO suite;
for (LeadingOnes, OneMax) the whole number :math:`(n + 1)\,LO + OM`, ordered as the pairs are.

Rows exist for changes of (LO, OM) only; between them the values stay.  On LeadingOnes with standard selection OM
may change while ``raw_y`` does not: a reader that keeps improvements only drops these rows.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from uuid import uuid4

import numpy as np

from kflip._typing import IntArray
from kflip.errors import InputError

if TYPE_CHECKING:
    from kflip.simulate.runs import Runs, Trajectories, Trajectory

#: The release of the ``ioh`` logger whose layout this follows.
LAYOUT = "0.3.22"

COLUMNS = ("evaluations", "raw_y", "k", "lo", "om")

#: Suite, number and name of the function behind each objective.
FUNCTIONS = {"lo": ("PBO", 2, "LeadingOnes"), "loom": ("kflip", 1, "LeadingOnesOneMax")}


def write_ioh(runs: Runs, folder: Path) -> Path:
    """Write recorded runs into a new or empty folder, all of it or nothing; returns the folder."""
    if runs.trajectories is None:
        raise InputError("IOHprofiler files need the changes: simulate with record='trajectories'")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not an empty folder: choose another")
    folder = folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}-{uuid4().hex}")
    draft.mkdir()
    try:
        _write(runs, runs.trajectories, draft)
        if folder.exists():
            folder.rmdir()
        os.replace(draft, folder)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    return folder


def _write(runs: Runs, trajectories: Trajectories, folder: Path) -> None:
    n = runs.setting.n
    _, number, name = FUNCTIONS[runs.setting.objective]
    data = Path(f"data_f{number}_{name}") / f"IOHprofiler_f{number}_DIM{n}.dat"
    (folder / data).parent.mkdir()
    summaries = []
    with (folder / data).open("w", encoding="ascii", newline="\n") as file:
        for r in range(len(runs)):
            trajectory = trajectories[r]
            y = _raw_y(runs, trajectory)
            _write_rows(file, trajectory, y)
            best = int(np.argmax(y))
            summaries.append(
                {
                    "instance": 1,
                    "evals": int(runs.runtimes[r]) + 1,
                    "best": {"evals": int(trajectory.iteration[best]) + 1, "y": int(y[best]), "x": []},
                }
            )
    info = _describe(runs, data.as_posix(), summaries)
    text = json.dumps(info, indent=1)
    (folder / f"IOHprofiler_f{number}_{name}.json").write_text(text + "\n", encoding="utf-8")


def _raw_y(runs: Runs, trajectory: Trajectory) -> IntArray:
    if runs.setting.objective == "lo":
        return trajectory.lo
    return (runs.setting.n + 1) * trajectory.lo + trajectory.om


def _write_rows(file: TextIO, trajectory: Trajectory, y: IntArray) -> None:
    columns = (trajectory.iteration + 1, y, trajectory.k, trajectory.lo, trajectory.om)
    file.write(" ".join(COLUMNS) + "\n")
    rows = np.stack(columns, axis=1).tolist()
    file.writelines(" ".join(map(str, row)) + "\n" for row in rows)


def _describe(runs: Runs, data: str, summaries: list[dict[str, Any]]) -> dict[str, Any]:
    setting = runs.setting
    suite, number, name = FUNCTIONS[setting.objective]
    words = {"selection": setting.selection, "state": setting.state, "level": runs.level}
    return {
        "version": LAYOUT,
        "suite": suite,
        "function_id": number,
        "function_name": name,
        "maximization": True,
        "algorithm": {
            "name": runs.policy,
            "info": f"RLS with portfolio {setting.portfolio}, seed {runs.seed}",
        },
        "experiment_attributes": [{key: value} for key, value in words.items()],
        "attributes": list(COLUMNS),
        "scenarios": [{"dimension": setting.n, "path": data, "runs": summaries}],
    }
