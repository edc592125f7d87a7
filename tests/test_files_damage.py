"""Damaged, foreign and malicious files are refused by name, without surprises."""

from __future__ import annotations

import os
import pickle
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from tests.archives import Header, crafted, describe, npy, pack, refused, same, sign

# damage


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, kflip.Solution]:
    path = tmp_path_factory.mktemp("small") / "s.npz"
    solution = kflip.solve(kflip.Setting(2, "lo", state="lo"))
    kflip.save(path, solution)
    return path.read_bytes(), solution


def outcome(path: Path, content: bytes, solution: kflip.Solution) -> str:
    """'refused' or 'same'; anything else is an exception or a silently different result."""
    path.write_bytes(content)
    try:
        loaded = kflip.load(path)
    except kflip.FileFormatError as error:
        return "refused" if str(path) in str(error) else "refused without naming the file"
    return "same" if same(loaded, solution) else "DIFFERENT"


def test_every_truncation_is_refused(small: tuple[bytes, kflip.Solution], tmp_path: Path) -> None:
    content, solution = small
    lengths = [*range(0, len(content), 7), *range(len(content) - 40, len(content))]
    assert {outcome(tmp_path / "t.npz", content[:length], solution) for length in lengths} == {"refused"}
    assert outcome(tmp_path / "t.npz", content, solution) == "same"


def test_no_altered_byte_yields_another_solution(small: tuple[bytes, kflip.Solution], tmp_path: Path) -> None:
    content, solution = small
    rng = np.random.default_rng(2)
    found: dict[str, int] = {"refused": 0, "same": 0}
    for position in range(len(content)):
        for mask in (1 << int(rng.integers(8)), int(rng.integers(1, 256))):
            altered = bytearray(content)
            altered[position] ^= mask
            found[outcome(tmp_path / "f.npz", bytes(altered), solution)] += 1
    # dates, permissions and the like of the archive's members may change without harm; the content may not
    assert found["refused"] > 2 * found["same"] > 0


def test_bytes_lost_added_or_swapped(small: tuple[bytes, kflip.Solution], tmp_path: Path) -> None:
    content, solution = small
    path = tmp_path / "f.npz"
    for position in range(0, len(content), 5):
        assert outcome(path, content[:position] + content[position + 1 :], solution) != "DIFFERENT"
        assert outcome(path, content[:position] + b"\x00" + content[position:], solution) != "DIFFERENT"
        assert outcome(path, content[:position] + content[position:][::-1], solution) != "DIFFERENT"
    assert outcome(path, content + b"trailing", solution) != "DIFFERENT"
    assert outcome(path, b"leading" + content, solution) != "DIFFERENT"


def test_a_changed_number_with_a_repaired_archive_is_noticed(tmp_path: Path) -> None:
    """The zip's own check sums are right; ours are not."""
    path = tmp_path / "a.npz"
    kflip.save(path, kflip.solve(kflip.Setting(3)))
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, old, new, message in (
        ("values.npy", members["values.npy"][-8:], struct.pack("<d", 1e-9), "'values' was altered"),
        ("table.npy", members["table.npy"][-16:-15], b"\x01", "'table' was altered"),
        ("header.json", b'"n": 3', b'"n": 4', "header was altered"),
        ("header.json", b'"standard"', b'"strict"', "header was altered"),
        ("header.json", b'"optimal"', b'"optimax"', "header was altered"),
    ):
        assert old in members[name]
        refused(pack(path, {**members, name: new.join(members[name].rsplit(old, 1))}), message)


# foreign and crafted files


@pytest.mark.parametrize("content", [b"", b"x", b"PK", b"PK\x05\x06" + bytes(18), b"hello, world\n" * 100, bytes(5000)])
def test_no_archive(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(content)
    refused(path, "not a kflip file")


def test_missing_file_and_folder(tmp_path: Path) -> None:
    refused(tmp_path / "none.npz", "no such file")
    refused(tmp_path, "cannot be read")
    (tmp_path / "plain").write_text("")
    refused(tmp_path / "plain" / "a.npz", "cannot be read")


def test_foreign_archives(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    refused(pack(path, {"readme.txt": b"hello"}), "no header.json inside")
    with path.open("wb") as stream:
        np.savez(stream, table=np.zeros(3), values=np.zeros(3))
    refused(path, "no header.json inside")
    for header in (b"", b"{", b"[]", b"null", b'"kflip"', b'{"format": "other"}', b"\xff\xfe", b"[" * 200_000):
        refused(pack(path, {"header.json": header}), "not a kflip file")


def test_nothing_is_ever_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    marker = tmp_path / "executed"

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(marker),)

    objects = np.array([Evil(), Evil(), Evil(), Evil()], dtype=object)
    members = {
        "header.json": sign(
            {
                "format": "kflip",
                "version": 1,
                "kind": "policy",
                "name": "x",
                "setting": kflip.Setting(3, "lo", state="lo").to_dict(),
                "arrays": {"table": {"dtype": "|O", "shape": [4], "sha256": "0"}},
            }
        ),
        "table.npy": npy(objects, allow_pickle=True),
    }
    refused(pack(path, members), "does not fit the setting")
    path.write_bytes(pickle.dumps(Evil()))
    refused(path, "not a kflip file")
    # declared as numbers, stored as pickled objects
    good = crafted(tmp_path / "b.npz")
    with zipfile.ZipFile(good) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    refused(pack(path, {**contents, "table.npy": npy(objects.reshape(2, 2), allow_pickle=True)}), "array 'table'")
    assert not marker.exists()


@pytest.mark.parametrize("extra", ["extra.npy", "notes.txt", "../escape.npy", "table.npy/"])
def test_extra_members(extra: str, tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(extra, b"x")
    refused(path, "unexpected members")


def test_repeated_and_missing_members(tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("values.npy", members["values.npy"])
    refused(path, "unexpected members")
    refused(pack(path, {name: content for name, content in members.items() if name != "values.npy"}), "members")


@pytest.mark.parametrize("version", [2, 3, 10**9])
def test_newer_versions(version: int, tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz", lambda header: header.update(version=version))
    refused(path, f"format version {version} is newer than 1; update kflip")


def without(*keys: str) -> Callable[[Header], None]:
    def change(header: Header) -> None:
        for key in keys:
            del header[key]

    return change


def update(**changes: Any) -> Callable[[Header], None]:
    return lambda header: header.update(**changes)


def array(name: str, **changes: Any) -> Callable[[Header], None]:
    return lambda header: header["arrays"][name].update(**changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (update(version=0), "no valid format version"),
        (update(version=-1), "no valid format version"),
        (update(version=True), "no valid format version"),
        (update(version="1"), "no valid format version"),
        (without("version"), "no valid format version"),
        (update(kind="recipe"), "neither a solution nor a policy"),
        (update(kind=["solution"]), "neither a solution nor a policy"),
        (update(name=None), "neither a solution nor a policy"),
        (without("name"), "neither a solution nor a policy"),
        (without("arrays"), "neither a solution nor a policy"),
        (update(arrays=[]), "neither a solution nor a policy"),
        (update(arrays={}), "unexpected arrays"),
        (update(arrays={"table": 3, "values": None}), "without shape and type"),
        (without("setting"), "no valid setting"),
        (update(setting=[]), "no valid setting"),
        (update(setting={"n": 3, "surprise": 1}), "no valid setting"),
        (update(setting={"n": 0}), "no valid setting"),
        (update(setting={"n": True}), "no valid setting"),
        (update(setting={"n": 3, "state": "spin"}), "no valid setting"),
        (update(setting={"n": 3, "portfolio": "1,9"}), "no valid setting"),
        (update(setting={"n": 10**30}), "no valid setting"),
        (array("table", shape=[4, 5]), "does not fit the setting"),
        (array("table", shape=16), "does not fit the setting"),
        (array("table", shape=None), "does not fit the setting"),
        (array("table", dtype="<f8"), "does not fit the setting"),
        (array("table", dtype="nonsense"), "does not fit the setting"),
        (array("table", dtype=None), "does not fit the setting"),
        (array("table", dtype=["|u1"]), "does not fit the setting"),
        (array("values", dtype=">f8"), "does not fit the setting"),
        (array("values", dtype="<f2"), "does not fit the setting"),
        (array("table", dtype="<u2"), "not as long|not what the header declares"),
        (array("table", sha256="0" * 64), "was altered"),
        (array("table", sha256=None), "was altered"),
        (lambda header: header["arrays"].update(radii={"shape": [2]}), "unexpected arrays"),
        (lambda header: header["arrays"].pop("values"), "unexpected arrays"),
        (update(kind="policy"), "unexpected arrays"),
    ],
)
def test_headers_with_valid_checksums_that_make_no_sense(
    change: Callable[[Header], None], message: str, tmp_path: Path
) -> None:
    refused(crafted(tmp_path / "a.npz", change), message)


@pytest.mark.parametrize("name", ["expected_runtime", "lower_bound", "proven_optimal"])
@pytest.mark.parametrize("content", [None, 3, "fast", "0x1p99999", [], {}])
def test_solutions_without_a_readable_runtime(name: str, content: Any, tmp_path: Path) -> None:
    for change in (update(**{name: content}), without(name)):
        with pytest.raises(kflip.FileFormatError, match="no expected runtime"):
            kflip.load(crafted(tmp_path / "a.npz", change))


@pytest.mark.parametrize("shape", [None, [], [0], [-1], [1, 1], ["3"], [4], [10**9], 3, {}], ids=repr)
def test_stochastic_policies_with_odd_radii(shape: Any, tmp_path: Path) -> None:
    setting = kflip.Setting(3, "lo", state="lo")
    radii, probabilities = np.array([1, 2], dtype=np.uint8), np.full((4, 2), 0.5)
    arrays = {"radii": describe(radii), "probabilities": describe(probabilities)}
    header = {"format": "kflip", "version": 1, "kind": "policy", "name": "", "setting": setting.to_dict()}
    members = {"radii.npy": npy(radii), "probabilities.npy": npy(probabilities)}
    path = tmp_path / "a.npz"
    pack(path, {"header.json": sign({**header, "arrays": arrays}), **members})
    assert kflip.load_policy(path)[1].at(0) == {1: 0.5, 2: 0.5}
    arrays["radii"]["shape"] = shape
    refused(pack(path, {"header.json": sign({**header, "arrays": arrays}), **members}), "setting|declare|ascend")


def test_a_setting_that_does_not_fit_the_arrays(tmp_path: Path) -> None:
    for change in ({"n": 4}, {"n": 2}, {"state": "lo"}, {"state": "bits"}):
        refused(crafted(tmp_path / "a.npz", **change), "does not fit the setting")


def test_radii_outside_the_portfolio_with_valid_checksums(tmp_path: Path) -> None:
    refused(crafted(tmp_path / "a.npz", portfolio="1,2"), "radius 3 is not in the portfolio 1,2")
    table = kflip.solve(kflip.Setting(3)).policy.table.astype(np.uint8)
    for bad in (0, 4, 255):
        table[1, 1] = bad
        refused(crafted(tmp_path / "a.npz", arrays={"table": table}), rf"radius {bad} in the policy is outside 1\.\.3")


def test_fortran_order_is_not_what_was_declared(tmp_path: Path) -> None:
    values = np.asfortranarray(kflip.solve(kflip.Setting(3)).values)
    refused(crafted(tmp_path / "a.npz", arrays={"values": values}), "not what the header declares")


@pytest.mark.parametrize(
    "text",
    [b"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 5), }", b"[" * 90, b"{'a': ", b"\xff" * 50, b"1" * 99],
)
def test_damaged_array_headers(text: bytes, tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    body = members["values.npy"][128:]
    prefix = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text) + 1) + text + b"\n"
    refused(pack(path, {**members, "values.npy": prefix + body}), "array 'values'")


# small files that would unpack into large ones


def peak_of_refusing(path: Path, message: str) -> int:
    tracemalloc.start()
    try:
        refused(path, message)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_huge_declared_shapes_allocate_nothing(tmp_path: Path) -> None:
    n = 30_000
    shape = [n + 1, n + 1]

    def change(header: Header) -> None:
        header["setting"] = kflip.Setting(n).to_dict()
        header["arrays"]["table"]["shape"] = header["arrays"]["values"]["shape"] = shape

    assert peak_of_refusing(crafted(tmp_path / "a.npz", change), "not as long as the header declares") < 50 << 20


def test_a_huge_stream_behind_a_small_shape(tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pack(path, {**members, "values.npy": members["values.npy"] + bytes(60 << 20)})
    assert path.stat().st_size < 1 << 20
    assert peak_of_refusing(path, "not as long as the header declares") < 5 << 20


def test_a_huge_stream_that_lies_about_its_length(tmp_path: Path) -> None:
    path = crafted(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    length = len(members["values.npy"])
    pack(path, {**members, "values.npy": members["values.npy"] + bytes(60 << 20)})
    lying = path.read_bytes().replace(struct.pack("<I", length + (60 << 20)), struct.pack("<I", length))
    assert lying != path.read_bytes()
    path.write_bytes(lying)
    assert peak_of_refusing(path, "a.npz") < 5 << 20


def test_a_huge_header(tmp_path: Path) -> None:
    path = pack(tmp_path / "a.npz", {"header.json": b'{"format": "kflip", "version": 1}' + b" " * (60 << 20)})
    assert peak_of_refusing(path, "foreign header") < 10 << 20


def test_arrays_beyond_the_memory_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = crafted(tmp_path / "a.npz")
    monkeypatch.setattr("kflip.memory.available_bytes", lambda: 10)
    with pytest.raises(kflip.TooLargeError, match=r"reading .*a\.npz needs"):
        kflip.load(path)
