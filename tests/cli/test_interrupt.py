"""Ctrl-C in the middle of a long computation: prompt, quiet, and nothing half-written."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: Long enough for compiling everything on a machine that has no compiled kernels yet.
PATIENCE = 240.0


def interrupt(arguments: list[str]) -> tuple[int, str, str]:
    """Start a command, wait until its progress bar moves, press Ctrl-C; return code, stdout and what the bar left."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kflip", *arguments],
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        # tests that run in the background inherit a shell's "ignore Ctrl-C"
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(theirs)
    shown, sent, deadline = "", False, time.monotonic() + PATIENCE
    try:
        while time.monotonic() < deadline:
            if not select.select([ours], [], [], 1.0)[0]:
                continue
            try:
                block = os.read(ours, 4096)
            except OSError:  # the process is gone
                break
            shown += block.decode(errors="replace")
            if not sent and re.search(r"\b[1-9]\d?%", shown):
                process.send_signal(signal.SIGINT)
                sent = True
        assert sent, f"never computed: {shown}"
        out, _ = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    return process.returncode, out.decode(), shown


@pytest.mark.parametrize("old", [None, b"an older file"])
def test_an_interrupted_solve_leaves_no_file(old: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    if old is not None:
        path.write_bytes(old)
    code, out, shown = interrupt(["solve", "--n", "700", "--objective", "lo", "--out", str(path)])
    assert code == 130
    assert out == ""
    assert shown.rstrip().endswith("kflip: interrupted; no half-written file is left")
    assert "Traceback" not in shown
    if old is None:
        assert os.listdir(tmp_path) == []
    else:
        assert os.listdir(tmp_path) == ["a.npz"]
        assert path.read_bytes() == old


def test_an_interrupted_evaluation_ends() -> None:
    code, out, shown = interrupt(["evaluate", "--n", "600", "--objective", "lo"])
    assert (code, out) == (130, "")
    assert "Traceback" not in shown
