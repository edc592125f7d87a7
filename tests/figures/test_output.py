"""Files: the same bytes for the same figure, whoever draws it, and no half-written ones."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import subprocess
import sys
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import matplotlib
import pytest
from matplotlib.figure import Figure

import kflip
from kflip import figures
from kflip.errors import InputError

DRAW = """
import sys, kflip
from kflip import figures
best = kflip.solve(kflip.Setting(40))
for path in sys.argv[1:]:
    figures.save(figures.trajectories(best, 3), path)
"""


def draw(kind: str) -> Figure:
    setting = kflip.Setting(8)
    best = kflip.solve(setting)
    if kind == "heatmap":
        return figures.heatmap(best, crosses=[(1, 3)])
    if kind == "trajectories":
        return figures.trajectories(best)
    if kind == "curves":
        return figures.runtime_curves([{"label": "a", "n": [4, 8], "runtime": [5.0, 16.0], "published": {4: 0.9}}])
    if kind == "distribution":
        return figures.distribution(setting, best.policy, runs=50)
    return figures.compare(setting, "one-bit", best.policy)


@pytest.mark.parametrize(
    ("kind", "suffix"),
    [
        ("heatmap", "pdf"),
        ("trajectories", "png"),
        ("curves", "pdf"),
        ("distribution", "png"),
        ("compare", "pdf"),
        ("compare", "png"),
    ],
)
def test_same_bytes(tmp_path: Path, kind: str, suffix: str) -> None:
    first, second, third = (tmp_path / f"{name}.{suffix}" for name in "abc")
    figure = draw(kind)
    figures.save(figure, first)
    figures.save(figure, second)
    figures.save(draw(kind), third)
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()
    assert sorted(tmp_path.iterdir()) == [first, second, third]


def test_same_bytes_from_another_process(tmp_path: Path) -> None:
    digests = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        paths = [tmp_path / f"{seed}.{suffix}" for suffix in ("png", "pdf")]
        subprocess.run([sys.executable, "-c", DRAW, *map(str, paths)], check=True, env=environment)
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in paths])
    assert digests[0] == digests[1]


def test_png_resolution(tmp_path: Path) -> None:
    path = tmp_path / "map.PNG"
    figure = draw("heatmap")
    figures.save(figure, path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = figure.get_size_inches()
    assert struct.unpack(">II", content[16:24]) == (int(width * 200), int(height * 200))


def test_pdf_is_vectors_with_truetype_fonts(tmp_path: Path) -> None:
    path = tmp_path / "map.pdf"
    figures.save(draw("heatmap"), path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF")
    assert b"CreationDate" not in content
    unpacked = content + b"".join(
        zlib.decompress(stream)
        for stream in re.findall(rb"/FlateDecode.*?stream\r?\n(.*?)\r?\nendstream", content, re.S)
    )
    assert b"/FontFile2" in unpacked
    assert b"/Type3" not in unpacked
    assert b"/Image" not in unpacked.replace(b"/ImageB", b"").replace(b"/ImageC", b"").replace(b"/ImageI", b"")


def test_large_maps_give_small_files(tmp_path: Path) -> None:
    path = tmp_path / "map.pdf"
    figures.save(figures.heatmap(kflip.evaluate(kflip.Setting(300), "one-bit"), "value"), path)
    assert path.read_bytes().count(b"/Subtype /Image") >= 1
    assert path.stat().st_size < 200_000


def test_settings_of_others_stay(tmp_path: Path) -> None:
    before = dict(matplotlib.rcParams)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(figures.save, draw("curves"), tmp_path / f"{i}.pdf") for i in range(4)]:
            done.result()
    assert dict(matplotlib.rcParams) == before
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize("name", ["map.svg", "map", "map.png.gz"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"\.png or \.pdf, not as '{name}'"):
        figures.save(draw("curves"), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot write .*No such file"):
        figures.save(draw("curves"), tmp_path / "missing" / "map.png")


def test_matplotlib_is_loaded_only_when_needed() -> None:
    code = (
        "import sys, kflip, kflip.cli.plot; assert 'matplotlib' not in sys.modules;"
        "import kflip.figures; assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
