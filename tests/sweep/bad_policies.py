"""Policy files that must not enter a leaderboard; unless that is what is wrong, their setting is a benchmark."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import kflip
from tests.archives import describe, npy, pack, sign

SETTING = kflip.Setting(16, portfolio="powers-of-two")
BENCHMARK = "kflip-v1/loom-16-powers-of-two"


class Evil:
    """Leaves a folder behind when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.marker),)


def marker_of(path: Path) -> Path:
    return path.with_name("executed")


def table() -> np.ndarray[Any, Any]:
    return kflip.solve(SETTING).policy.table.astype(np.uint8)


def good(path: Path) -> Path:
    kflip.save(path, kflip.solve(SETTING).policy, SETTING)
    return path


def holding(
    path: Path, arrays: dict[str, np.ndarray[Any, Any]], setting: kflip.Setting = SETTING, **members: bytes
) -> Path:
    """A policy file with valid checksums; ``members`` replace arrays after they were described."""
    header = {"format": "kflip", "version": 1, "kind": "policy", "name": "x", "setting": setting.to_dict()}
    header["arrays"] = {name: describe(array) for name, array in arrays.items()}
    stored = {name: npy(array) for name, array in arrays.items()} | members
    return pack(path, {"header.json": sign(header), **{f"{name}.npy": text for name, text in stored.items()}})


def pickled_objects(path: Path) -> Path:
    objects = np.full((17, 17), Evil(marker_of(path)), dtype=object)
    return holding(path, {"table": table()}, table=npy(objects, allow_pickle=True))


def bare_pickle(path: Path) -> Path:
    path.write_bytes(pickle.dumps(Evil(marker_of(path))))
    return path


def wrong_shape(path: Path) -> Path:
    return holding(path, {"table": table()[:, :-1]})


def outside_the_portfolio(path: Path) -> Path:
    radii = table()
    radii[0, 5] = 3
    return holding(path, {"table": radii})


def outside_the_string(path: Path) -> Path:
    radii = table()
    radii[0, 5] = 17
    return holding(path, {"table": radii})


def not_a_number(path: Path) -> Path:
    probabilities = np.full((17, 17, 2), 0.5)
    probabilities[0, 5, 0] = np.nan
    return holding(path, {"radii": np.array([1, 2], dtype=np.uint8), "probabilities": probabilities})


def not_a_distribution(path: Path) -> Path:
    probabilities = np.full((17, 17, 2), 0.5)
    probabilities[0, 5] = 1.5, -0.5
    return holding(path, {"radii": np.array([1, 2], dtype=np.uint8), "probabilities": probabilities})


def zip_bomb(path: Path) -> Path:
    return holding(path, {"table": table()}, table=npy(table()) + bytes(60 << 20))


def truncated(path: Path) -> Path:
    path.write_bytes(good(path).read_bytes()[:-100])
    return path


def foreign(path: Path) -> Path:
    return pack(path, {"header.json": b'{"format": "other"}'})


def no_archive(path: Path) -> Path:
    path.write_text("k = 1 everywhere\n")
    return path


def missing(path: Path) -> Path:
    return path


def no_benchmark(path: Path) -> Path:
    setting = kflip.Setting(15)
    kflip.save(path, kflip.solve(setting).policy, setting)
    return path


#: How to make each, and what is said about it.
BAD: dict[str, tuple[Callable[[Path], Path], str]] = {
    "pickled objects": (pickled_objects, "array 'table' is not (as long as|what) the header declares"),
    "bare pickle": (bare_pickle, "not a kflip file"),
    "wrong shape": (wrong_shape, r"shape \[17, 16\] .* does not fit the setting"),
    "outside the portfolio": (outside_the_portfolio, "radius 3 is not in the portfolio powers-of-two"),
    "outside the string": (outside_the_string, r"radius 17 in the policy is outside 1\.\.16"),
    "not a number": (not_a_number, "probabilities must be finite"),
    "not a distribution": (not_a_distribution, "probabilities must be finite and not negative"),
    "zip bomb": (zip_bomb, "not as long as the header declares"),
    "truncated": (truncated, "not a kflip file, or damaged"),
    "foreign": (foreign, "foreign header"),
    "no archive": (no_archive, "not a kflip file"),
    "missing": (missing, "no such file"),
    "no benchmark": (no_benchmark, "n = 15 is no benchmark of kflip-v1"),
}
