"""Writing a process as a UMB archive, the binary exchange format of probabilistic model checkers.

An archive is an uncompressed tar file: ``index.json`` describes it, and every array is one file of little-endian
64-bit numbers in the layout that :class:`benchmarks.peers.model.Process` already has.  It is by far the fastest way
into Storm from Python, whose own matrix builder takes lists of Python numbers.  The archive is as large as the model: a
``TMPDIR`` that lies in memory saves some time.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .model import Process, size_of

#: Names of the cost of a choice and of the label of the optimum.
COST, GOAL = "iterations", "optimum"


def write_umb(process: Process, path: Path) -> None:
    """Write a process with 64-bit indices to ``path``; its last state is labelled :data:`GOAL`."""
    states = size_of(process).states
    files: dict[str, NDArray[Any]] = {
        "index.json": np.frombuffer(json.dumps(_index(process)).encode(), dtype=np.uint8),
        "state-to-choices.bin": process.first_choice,
        "state-is-initial.bin": _one_bit(states, 0),
        "choice-to-branches.bin": process.first_entry,
        "branch-to-target.bin": process.columns,
        "branch-to-probability.bin": process.probabilities,
        f"annotations/aps/{GOAL}/states/values.bin": _one_bit(states, states - 1),
        f"annotations/rewards/{COST}/choices/values.bin": process.costs,
    }
    with path.open("wb") as archive:
        for name, array in files.items():
            member = tarfile.TarInfo(name)
            member.size = array.nbytes
            archive.write(member.tobuf(tarfile.GNU_FORMAT))
            array.tofile(archive)
            archive.write(bytes(-array.nbytes % tarfile.BLOCKSIZE))
        archive.write(bytes(2 * tarfile.BLOCKSIZE))


def _one_bit(size: int, position: int) -> NDArray[np.uint8]:
    """Bit vector in whole 64-bit words with one bit set."""
    bits = np.zeros(8 * -(-size // 64), dtype=np.uint8)
    bits[position // 8] = 1 << position % 8
    return bits


def _index(process: Process) -> dict[str, Any]:
    states, choices, transitions = size_of(process)
    double = {"type": "double", "size": 64}
    return {
        "format-version": 1,
        "format-revision": 0,
        "transition-system": {
            "time": "discrete",
            "#players": 1,
            "#states": states,
            "#initial-states": 1,
            "#choices": choices,
            "#choice-actions": 0,
            "#branches": transitions,
            "#branch-actions": 0,
            "#observations": 0,
            "branch-probability-type": double,
        },
        "annotations": {
            "aps": {GOAL: {"applies-to": ["states"], "type": {"type": "bool", "size": 1}}},
            "rewards": {COST: {"applies-to": ["choices"], "lower": 0, "type": double}},
        },
    }
