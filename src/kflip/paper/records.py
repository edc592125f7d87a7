"""Steps that are not repeated: a record for each, believed only if everything about it still fits.

A step is identified by a key: the hash of what it was asked, of what it built on, of this library's source and of the
libraries that draw.  Its record is written last, after its files, and names their hashes.  A process that dies at any
moment therefore leaves steps that are finished, with a record that fits, and steps that are done again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from kflip.errors import InputError
from kflip.files import atomic_write, digest

FOLDER = ".steps"

#: Libraries whose version may show in a number or a picture.
_LIBRARIES = ("numpy", "scipy", "numba", "matplotlib")

#: Folders of this library that no number and no picture depends on.
_WITHOUT_INFLUENCE = frozenset({"__pycache__", "cli", "envs", "learn", "report", "sweep"})


class Records:
    """The finished steps of one output folder.

    Parameters
    ----------
    out
        The folder; made if needed.
    folders
        Names of the folders inside that hold a step's files; remains of a process that died there are removed.
    """

    def __init__(self, out: Path, folders: Iterable[str]) -> None:
        self.out = out
        self.folder = out / FOLDER
        self._folders = (self.folder, *(out / name for name in folders))
        try:
            for folder in self._folders:
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write {error.filename or out}: {error.strerror}") from None

    def load(self, name: str, key: str) -> dict[str, Any] | None:
        """What a step found, or None if it has to be done."""
        try:
            record = json.loads((self.folder / f"{name}.json").read_bytes())
            fits = record["key"] == key and record["checksum"] == digest([record["content"], record["files"]])
            fits = fits and all(_file_digest(self.out / file) == known for file, known in record["files"].items())
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return None
        return dict(record["content"]) if fits else None

    def save(self, name: str, key: str, content: dict[str, Any], written: Iterable[str]) -> None:
        """Record a step after its files were written."""
        hashes = {file: _file_digest(self.out / file) for file in written}
        record = {"key": key, "checksum": digest([content, hashes]), "content": content, "files": hashes}
        with atomic_write(self.folder / f"{name}.json") as stream:
            stream.write(json.dumps(record, indent=1).encode())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Refuse to work in a folder in which another process works."""
        try:
            import fcntl
        except ImportError:  # only Unix locks folders
            self._remove_remains()
            yield
            return
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                message = f"another process is writing to {self.out}; choose another folder with --out"
                raise InputError(message) from None
            self._remove_remains()
            yield
        finally:
            os.close(handle)

    def _remove_remains(self) -> None:
        for folder in (self.out, *self._folders):
            for remains in folder.glob(".*.part"):
                remains.unlink()


@cache
def fingerprint() -> str:
    """Hash of everything that is not asked for but may change an answer: our source and the libraries used."""
    source = {"/".join(path): hashlib.sha256(file.read_bytes()).hexdigest() for path, file in _source(files("kflip"))}
    return digest([source, {name: _version(name) for name in _LIBRARIES}])


def _source(folder: Traversable, *path: str) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name not in _WITHOUT_INFLUENCE:
            yield from _source(entry, *path, entry.name)
        elif entry.name.endswith((".py", ".json")):
            yield (*path, entry.name), entry


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
