"""A second, independent writer of the file format, for files that kflip itself would not write."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip

Header = dict[str, Any]
Members = dict[str, bytes]


def same(a: kflip.Solution, b: kflip.Solution) -> bool:
    return (
        a.setting == b.setting
        and np.array_equal(a.policy.table, b.policy.table)
        and a.policy.table.dtype == b.policy.table.dtype
        and a.policy.name == b.policy.name
        and np.array_equal(a.values, b.values, equal_nan=True)
        and (a.expected_runtime, a.lower_bound) == (b.expected_runtime, b.lower_bound)
        and a.proven_optimal is b.proven_optimal
    )


def npy(array: np.ndarray[Any, Any], allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def describe(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    digest = hashlib.sha256(array.tobytes()).hexdigest()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": digest}


def sign(header: Header) -> bytes:
    body = {key: value for key, value in header.items() if key != "checksum"}
    checksum = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
    return json.dumps({**body, "checksum": checksum}).encode()


def pack(path: Path, members: Members) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def crafted(
    path: Path,
    change: Callable[[Header], None] = lambda header: None,
    arrays: dict[str, np.ndarray[Any, Any]] | None = None,
    **setting: Any,
) -> Path:
    """A solution of n = 3 with valid checksums, after a change of its header or arrays."""
    solution = kflip.solve(kflip.Setting(3))
    held = {"table": solution.policy.table.astype(np.uint8), "values": solution.values, **(arrays or {})}
    header: Header = {
        "format": "kflip",
        "version": 1,
        "kind": "solution",
        "name": "optimal",
        "setting": {**solution.setting.to_dict(), **setting},
        "expected_runtime": solution.expected_runtime.hex(),
        "lower_bound": solution.lower_bound.hex(),
        "proven_optimal": True,
        "arrays": {name: describe(array) for name, array in held.items()},
    }
    change(header)
    return pack(path, {"header.json": sign(header), **{f"{name}.npy": npy(array) for name, array in held.items()}})


def refused(path: Path, message: str) -> None:
    for read in (kflip.load, kflip.load_policy):
        with pytest.raises(kflip.FileFormatError, match=message) as caught:
            read(path)
        assert str(path) in str(caught.value)
