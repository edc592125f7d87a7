"""Files people exchange: one ``.npz`` for a solution or a policy, without pickle, checked before it is believed.

The archive holds a JSON ``header`` and plain arrays.  The header names the format version, the setting, and shape, type
and SHA-256 of every array; it carries a checksum of itself.  A reader compares all of it, and the sizes that
follow from the setting, before it allocates anything: a small file cannot unpack into a large one.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy

from kflip.errors import FileFormatError, InputError, TooLargeError
from kflip.memory import require
from kflip.policy import AnyPolicy, Policy, StochasticPolicy, as_policy
from kflip.setting import Setting
from kflip.solution import Solution

FORMAT = "kflip"
VERSION = 1
HEADER = "header.json"

#: A header is a few hundred bytes; more than this is not one.
_HEADER_LIMIT = 1 << 20
_NPY_HEADER_LIMIT = 1 << 14
_BLOCK = 1 << 20

_RADIUS_TYPES = ("|u1", "<u2", "<u4", "<i8")
_FLOAT_TYPES = ("<f8",)

#: What the standard library raises on archives that were altered; a ValueError also stands for bad text and offsets.
_DAMAGE = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
)

Arrays = dict[str, "np.ndarray[Any, Any]"]


def digest(content: Any) -> str:
    """Hash of plain values, whatever the order of their names."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@contextmanager
def atomic_write(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file that appears under its name complete or not at all, even after Ctrl-C."""
    target = Path(path)
    try:
        if target.exists() and not target.is_file():  # renaming onto /dev/null would replace it
            raise InputError(f"cannot write {target}: it exists and is not a regular file")
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
            raise InputError(f"cannot write {target}: {error.strerror or error}") from None
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
        extra: dict[str, Any] = {
            "expected_runtime": float(content.expected_runtime).hex(),
            "lower_bound": float(content.lower_bound).hex(),
            "proven_optimal": bool(content.proven_optimal),
        }
    else:
        if setting is None:
            raise InputError("saving a policy needs the setting it is meant for")
        policy, kind, extra = as_policy(setting, content), "policy", {}
        if isinstance(policy, Policy):
            arrays = {"table": _compact(policy.table, setting.n)}
        else:
            arrays = {"radii": _compact(policy.radii, setting.n), "probabilities": policy.probabilities}
    arrays = {name: array.astype(array.dtype.newbyteorder("<"), copy=False) for name, array in arrays.items()}
    header = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "name": str(policy.name),
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
        expected, bound = (float.fromhex(header[name]) for name in ("expected_runtime", "lower_bound"))
        proven = header["proven_optimal"]
        if not isinstance(proven, bool):
            raise TypeError(proven)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FileFormatError(f"{path}: no expected runtime in the header") from None
    policy = _policy(path, header, setting, arrays)
    if not isinstance(policy, Policy):
        raise FileFormatError(f"{path}: a solution without a table")
    return Solution(setting, policy, arrays["values"], expected, proven, bound)


def load_policy(path: str | Path) -> tuple[Setting, AnyPolicy]:
    """Read the setting and the policy of a solution or policy file."""
    header, setting, arrays = _read(Path(path))
    return setting, _policy(path, header, setting, arrays)


def _policy(path: str | Path, header: dict[str, Any], setting: Setting, arrays: Arrays) -> AnyPolicy:
    what, name = (setting.n, setting.state), header["name"]
    try:
        if "table" in arrays:
            # compact on disk; in memory small unsigned numbers would wrap around when people subtract tables
            table = arrays["table"] if setting.state == "bits" else arrays["table"].astype(np.int64)
            return as_policy(setting, Policy(*what, table, name))
        return as_policy(setting, StochasticPolicy(*what, arrays["radii"], arrays["probabilities"], name))
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
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (FileFormatError, TooLargeError):
        raise
    except _DAMAGE as error:
        raise FileFormatError(f"{path}: not a kflip file, or damaged ({error})") from None
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
    version = header.get("version")
    if type(version) is not int or version < 1:
        raise FileFormatError(f"{path}: no valid format version in the header, but {version!r}")
    if version > VERSION:
        raise FileFormatError(f"{path}: format version {version} is newer than {VERSION}; update kflip to read it")
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
    named = isinstance(header.get("name"), str)
    if kind not in ("solution", "policy") or not isinstance(declared, dict) or not named:
        raise FileFormatError(f"{path}: neither a solution nor a policy")
    if not all(isinstance(entry, dict) for entry in declared.values()):
        raise FileFormatError(f"{path}: arrays without shape and type")
    shape = list(setting.shape)
    layout: dict[str, tuple[list[int], tuple[str, ...]]] = {"table": (shape, _RADIUS_TYPES)}
    if kind == "solution":
        layout["values"] = shape, _FLOAT_TYPES
    elif "radii" in declared:
        m = _width(declared["radii"].get("shape"), setting.n)
        layout = {"radii": ([m], _RADIUS_TYPES), "probabilities": ([*shape, m], _FLOAT_TYPES)}
    if set(layout) != set(declared):
        raise FileFormatError(f"{path}: unexpected arrays {sorted(declared)}")
    for name, (want, types) in layout.items():
        got = declared[name]
        if got.get("shape") != want or got.get("dtype") not in types:
            was = f"shape {got.get('shape')} and type {got.get('dtype')}"
            raise FileFormatError(f"{path}: array {name!r} of {was} does not fit the setting")
    return set(layout)


def _width(shape: object, n: int) -> int:
    """Number of radii of a stochastic policy, as declared; 0, which no policy has, if it makes no sense."""
    match shape:
        case [int(m)] if m <= n:
            return m
    return 0


def _read_array(path: Path, archive: zipfile.ZipFile, name: str, declared: dict[str, Any]) -> np.ndarray[Any, Any]:
    size = prod(declared["shape"]) * np.dtype(declared["dtype"]).itemsize
    if not size < archive.getinfo(f"{name}.npy").file_size < size + _NPY_HEADER_LIMIT:
        raise FileFormatError(f"{path}: array {name!r} is not as long as the header declares")
    require(size, f"reading {path}")
    with archive.open(f"{name}.npy") as member:
        try:
            version = npy.read_magic(member)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, fortran, dtype = read(member)
        except Exception as error:  # NumPy evaluates the text as a literal and raises whatever that raises
            raise FileFormatError(f"{path}: array {name!r} is damaged ({error})") from None
        if list(shape) != declared["shape"] or dtype.str != declared["dtype"] or fortran:
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
    array.flags.writeable = False
    return array


def _compact(table: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    return table.astype(np.min_scalar_type(n))


def _digest(array: np.ndarray[Any, Any]) -> str:
    contiguous = np.ascontiguousarray(array)
    return hashlib.sha256(contiguous.reshape(-1).view(np.uint8).data).hexdigest()


def _header_checksum(header: dict[str, Any]) -> str:
    return digest({key: value for key, value in header.items() if key != "checksum"})
