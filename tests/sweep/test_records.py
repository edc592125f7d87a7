"""Records: complete or absent, believed only if intact."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import kflip
from kflip.errors import FileFormatError, InputError
from kflip.files import digest
from kflip.sweep import Store, Task, sweep
from kflip.sweep.records import read
from tests.sweep import small

TASK = Task("small", kflip.Setting(4), 1000, "one-bit", 0)
OTHER = Task("small", kflip.Setting(5), 1000, "one-bit", 0)


def saved(folder: Path) -> tuple[Store, Path]:
    store = Store(folder)
    store.save(TASK, {"spent": 0}, 0.25)
    return store, store.path(TASK.key)


def test_a_record_says_what_was_done(tmp_path: Path) -> None:
    store, path = saved(tmp_path / "new" / "folder")
    record = read(path)
    assert record == store.find(TASK) == next(iter(store))
    assert (record["task"], record["result"], record["seconds"]) == (TASK.to_dict(), {"spent": 0}, 0.25)
    assert store.find(TASK) is not None
    assert store.find(OTHER) is None


def _edit(change: Callable[[dict[str, object]], None], seal: bool) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        record = json.loads(path.read_text())
        del record["checksum"]
        before = digest(record)
        change(record)
        path.write_text(json.dumps(record | {"checksum": digest(record) if seal else before}))

    return damage


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "truncated": (lambda path: path.write_bytes(path.read_bytes()[:100]), "not a record"),
    "empty": (lambda path: path.write_bytes(b""), "not a record"),
    "foreign": (lambda path: path.write_text('{"format": "other"}'), "not a record"),
    "a list": (lambda path: path.write_text("[1, 2]"), "not a record"),
    "deep": (lambda path: path.write_text("[" * 100_000), "not a record"),
    "huge": (lambda path: path.write_bytes(b" " * (2 << 20)), "not a record"),
    "not text": (lambda path: path.write_bytes(b"\xff\xfe\x00"), "not a record"),
    "altered": (_edit(lambda record: record.update(seconds=0.0), seal=False), "altered"),
    "newer": (_edit(lambda record: record.update(version=99), seal=True), "version 99"),
    "of another task": (_edit(lambda record: record.update(key=OTHER.key), seal=True), "another task"),
    "another task inside": (_edit(lambda record: record.update(task=OTHER.to_dict()), seal=True), ""),
    "no result": (_edit(lambda record: record.update(result=None), seal=True), ""),
    "no time": (_edit(lambda record: record.update(seconds="soon"), seal=True), ""),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_records_are_not_believed(name: str, tmp_path: Path) -> None:
    damage, message = DAMAGES[name]
    store, path = saved(tmp_path)
    damage(path)
    assert store.find(TASK) is None
    if message:
        with pytest.raises(FileFormatError, match=message):
            read(path)


def test_damaged_records_are_done_again(tmp_path: Path) -> None:
    tasks = small.rules()
    store = Store(tmp_path)
    assert sweep(tasks, store).done == len(tasks)
    before = small.contents(tmp_path)
    for task, name in zip(tasks, ("truncated", "foreign", "altered", "newer"), strict=False):
        DAMAGES[name][0](store.path(task.key))
    store.path(tasks[4].key).unlink()
    outcome = sweep(tasks, store)
    assert (outcome.kept, outcome.done, outcome.failures) == (len(tasks) - 5, 5, ())
    assert small.contents(tmp_path) == before


def test_remains_of_killed_writers(tmp_path: Path) -> None:
    old, new = tmp_path / ".a.json.x.part", tmp_path / ".b.json.y.part"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)
    Store(tmp_path).prepare()
    assert small.remains(tmp_path) == [new.name]


def test_folders_that_cannot_be_used(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match="cannot write"):
        sweep([TASK], Store(blocked))
    with pytest.raises(InputError, match="no records"):
        list(Store(tmp_path / "absent"))
