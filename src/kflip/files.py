"""Files people exchange: one ``.npz`` for a solution or a policy, without pickle, checked before it is believed.

The archive holds a JSON ``header`` and plain arrays.  The header names the format version, the setting, and shape, type
and SHA-256 of every array; it carries a checksum of itself.  A reader compares all of it, and the sizes that
follow from the setting, before it allocates anything: a small file cannot unpack into a large one.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from kflip.errors import FileFormatError, InputError
from kflip.policy import AnyPolicy, Policy, StochasticPolicy, as_policy
from kflip.setting import Setting
from kflip.solution import Solution

FORMAT = "kflip"
VERSION = 1
HEADER = "header.json"

#: A header is a few hundred bytes; more than this is not one.
_HEADER_LIMIT = 1 << 20
_BLOCK = 1 << 20

Arrays = dict[str, "np.ndarray[Any, Any]"]


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name complete or not at all, even after Ctrl-C."""
    target = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)  # mkstemp's 0600 would surprise whoever shares the file
        os.replace(name, target)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {target}: {error.strerror}") from None
        raise


def save(path: str | Path, content: Solution | AnyPolicy, setting: Setting | None = None) -> None:
    """Write a solution, or a policy for a setting, to an ``.npz`` file.

    Parameters
    ----------
    path
        Where; written atomically.
    content
        A solution, or a policy together with the ``setting`` it is meant for.
    """
    if isinstance(content, Solution):
        setting, kind = content.setting, "solution"
        policy: AnyPolicy = content.policy
        arrays: Arrays = {"table": _compact(content.policy.table, setting.n), "values": content.values}
        extra: dict[str, Any] = {"expected_runtime": content.expected_runtime.hex()}
    else:
        if setting is None:
            raise InputError("saving a policy needs the setting it is meant for")
        policy, kind, extra = as_policy(setting, content), "policy", {}
        if isinstance(policy, Policy):
            arrays = {"table": _compact(policy.table, setting.n)}
        else:
            arrays = {"radii": policy.radii, "probabilities": policy.probabilities}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "name": policy.name,
        "setting": setting.to_dict(),
        "arrays": {
            name: {"dtype": array.dtype.str, "shape": list(array.shape), "sha256": _digest(array)}
            for name, array in arrays.items()
        },
        **extra,
    }
    header["checksum"] = _header_checksum(header)
    with (
        atomic_write(path) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        archive.writestr(HEADER, json.dumps(header, indent=1))
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                npy.write_array(member, np.ascontiguousarray(array), allow_pickle=False)


def load(path: str | Path) -> Solution:
    """Read a solution; raise :class:`~kflip.errors.FileFormatError` if the file is not an intact one."""
    header, setting, arrays = _read(Path(path))
    if header["kind"] != "solution":
        raise FileFormatError(f"{path}: holds a {header['kind']}, not a solution")
    try:
        expected = float.fromhex(header["expected_runtime"])
    except (KeyError, TypeError, ValueError):
        raise FileFormatError(f"{path}: no expected runtime in the header") from None
    policy = Policy(setting.n, setting.state, arrays["table"], header["name"])
    _believe(path, setting, policy)
    return Solution(setting, policy, arrays["values"], expected)


def load_policy(path: str | Path) -> tuple[Setting, AnyPolicy]:
    """Read the setting and the policy of a solution or policy file."""
    header, setting, arrays = _read(Path(path))
    policy: AnyPolicy
    if "table" in arrays:
        policy = Policy(setting.n, setting.state, arrays["table"], header["name"])
    else:
        policy = StochasticPolicy(setting.n, setting.state, arrays["radii"], arrays["probabilities"], header["name"])
    _believe(path, setting, policy)
    return setting, policy


def _believe(path: str | Path, setting: Setting, policy: AnyPolicy) -> None:
    try:
        as_policy(setting, policy)
    except InputError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _read(path: Path) -> tuple[dict[str, Any], Setting, Arrays]:
    try:
        with zipfile.ZipFile(path) as archive:
            header = _read_header(path, archive)
            setting = _setting(path, header)
            expected = _expected_arrays(path, header, setting)
            names = {HEADER, *(f"{name}.npy" for name in expected)}
            if set(archive.namelist()) != names or len(archive.namelist()) != len(names):
                raise FileFormatError(f"{path}: unexpected members in the archive")
            arrays = {name: _read_array(path, archive, name, header["arrays"][name]) for name in expected}
    except FileNotFoundError:
        raise FileFormatError(f"{path}: no such file") from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileFormatError(f"{path}: not a kflip file, or truncated ({error})") from None
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror})") from None
    return header, setting, arrays


def _read_header(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    if HEADER not in archive.namelist():
        raise FileFormatError(f"{path}: not a kflip file (no {HEADER} inside)")
    with archive.open(HEADER) as member:
        text = member.read(_HEADER_LIMIT + 1)
    try:
        header = json.loads(text) if len(text) <= _HEADER_LIMIT else None
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise FileFormatError(f"{path}: not a kflip file (foreign header)")
    if not isinstance(header.get("version"), int) or header["version"] > VERSION:
        raise FileFormatError(
            f"{path}: format version {header.get('version')} is newer than {VERSION}; update kflip to read it"
        )
    if header.get("checksum") != _header_checksum(header):
        raise FileFormatError(f"{path}: the header was altered (checksum mismatch)")
    return header


def _setting(path: Path, header: dict[str, Any]) -> Setting:
    try:
        return Setting(**header["setting"])
    except (KeyError, TypeError, InputError) as error:
        raise FileFormatError(f"{path}: no valid setting in the header ({error})") from None


def _expected_arrays(path: Path, header: dict[str, Any], setting: Setting) -> set[str]:
    """Names of the arrays, after comparing their declared shapes and types with what the setting implies."""
    declared = header.get("arrays")
    kind = header.get("kind")
    if kind not in ("solution", "policy") or not isinstance(declared, dict) or "name" not in header:
        raise FileFormatError(f"{path}: neither a solution nor a policy")
    shape = list(setting.shape)
    table = {"table": (shape, "iu")}
    m = declared.get("radii", {}).get("shape", [0])[0]
    if not isinstance(m, int) or m > setting.n:
        raise FileFormatError(f"{path}: more radii than n")
    layouts: list[dict[str, tuple[list[int], str]]] = [
        {**table, "values": (shape, "f")} if kind == "solution" else table,
        {"radii": ([m], "iu"), "probabilities": ([*shape, m], "f")},
    ]
    for layout in layouts[: 1 if kind == "solution" else 2]:
        if set(layout) == set(declared):
            for name, (want, kinds) in layout.items():
                got = declared[name]
                if got.get("shape") != want or np.dtype(got.get("dtype")).kind not in kinds:
                    raise FileFormatError(
                        f"{path}: array {name!r} of shape {got.get('shape')} does not fit the setting"
                    )
            return set(layout)
    raise FileFormatError(f"{path}: unexpected arrays {sorted(declared)}")


def _read_array(path: Path, archive: zipfile.ZipFile, name: str, declared: dict[str, Any]) -> np.ndarray[Any, Any]:
    with archive.open(f"{name}.npy") as member:
        try:
            version = npy.read_magic(member)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(member)
        except ValueError as error:
            raise FileFormatError(f"{path}: array {name!r} is damaged ({error})") from None
        if list(shape) != declared["shape"] or dtype.str != declared["dtype"] or fortran or dtype.hasobject:
            raise FileFormatError(f"{path}: array {name!r} is not what the header declares")
        array = np.empty(shape, dtype=dtype)
        buffer = array.reshape(-1).view(np.uint8).data
        filled = 0
        while filled < len(buffer):
            block = member.read(min(_BLOCK, len(buffer) - filled))
            if not block:
                raise FileFormatError(f"{path}: array {name!r} is truncated")
            buffer[filled : filled + len(block)] = block
            filled += len(block)
        if member.read(1):
            raise FileFormatError(f"{path}: array {name!r} is longer than declared")
    if _digest(array) != declared.get("sha256"):
        raise FileFormatError(f"{path}: array {name!r} was altered (checksum mismatch)")
    return array


def _compact(table: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    return table.astype(np.min_scalar_type(n))


def _digest(array: np.ndarray[Any, Any]) -> str:
    contiguous = np.ascontiguousarray(array)
    return hashlib.sha256(contiguous.reshape(-1).view(np.uint8).data).hexdigest()


def _header_checksum(header: dict[str, Any]) -> str:
    body = {key: value for key, value in header.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
