"""Records: one file for each finished task, written atomically, believed only if it is intact.

A record's file is named by the task's key, the hash of its content, so a task done twice still has one record.  The
file carries a checksum; one that is damaged, foreign or of another version counts as not done when a sweep looks for
it, and as an error when somebody reads the records of a leaderboard.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from kflip import __version__
from kflip.errors import FileFormatError, InputError
from kflip.files import atomic_write, digest
from kflip.sweep.tasks import Task

FORMAT = "kflip-record"
VERSION = 1

#: A record is a few kilobytes; more than this is not one.
_LIMIT = 1 << 20

#: A file being written for longer than this belongs to a process that died.
_REMAINS_SECONDS = 3600.0


class Store:
    """The records in one folder, made if needed."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    def path(self, key: str) -> Path:
        """Where the record of a task lies."""
        return self.folder / f"{key}.json"

    def prepare(self) -> None:
        """Make the folder, and remove what writers that were killed have left in it."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for remains in self.folder.glob(".*.part"):
                # another driver may be writing: it needs no hour for a few kilobytes
                with suppress(FileNotFoundError):
                    if time.time() - remains.stat().st_mtime > _REMAINS_SECONDS:
                        remains.unlink()
        except OSError as error:
            raise InputError(f"cannot write {self.folder}: {error.strerror}") from None

    def find(self, task: Task) -> dict[str, Any] | None:
        """The record of the task, if there is an intact one."""
        try:
            record = read(self.path(task.key))
        except FileFormatError:
            return None
        whole = all(isinstance(record.get(name), dict) for name in ("task", "result"))
        whole = whole and isinstance(record.get("seconds"), (int, float))
        return record if whole and digest(record["task"]) == task.key else None

    def save(self, task: Task, result: dict[str, Any], seconds: float) -> None:
        """Write the record of a finished task."""
        self.add(record_of(task.to_dict(), result, seconds))

    def add(self, record: dict[str, Any]) -> Path:
        """Write a record under its key."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {self.folder}: {error.strerror}") from None
        path = self.path(record["key"])
        with atomic_write(path) as stream:
            stream.write(json.dumps(record | {"checksum": digest(record)}, indent=1).encode() + b"\n")
        return path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """All records, in the order of their keys; a damaged one is an error."""
        if not self.folder.is_dir():
            raise InputError(f"no records: {self.folder} is not a folder")
        for path in sorted(self.folder.glob("*.json")):
            yield read(path)


def record_of(task: dict[str, Any], result: dict[str, Any], seconds: float) -> dict[str, Any]:
    """A record; its key is the hash of the task."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "kflip": __version__,
        "key": digest(task),
        "task": task,
        "result": result,
        "seconds": round(seconds, 3),
    }


def read(path: Path) -> dict[str, Any]:
    """An intact record; raises :class:`~kflip.errors.FileFormatError` otherwise."""
    try:
        with path.open("rb") as stream:
            text = stream.read(_LIMIT + 1)
        record = json.loads(text) if len(text) <= _LIMIT else None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise FileFormatError(f"{path}: not a record of kflip") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise FileFormatError(f"{path}: not a record of kflip")
    if record.get("version") != VERSION:
        raise FileFormatError(f"{path}: record version {record.get('version')!r}, this kflip reads {VERSION}")
    if record.pop("checksum", None) != digest(record):
        raise FileFormatError(f"{path}: the record was altered (checksum mismatch)")
    if path.stem != record.get("key"):
        raise FileFormatError(f"{path}: the record of another task")
    return record
