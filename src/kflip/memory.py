"""Refusing work that would not fit into memory, before any of it is done."""

from __future__ import annotations

import os
from pathlib import Path

from kflip.errors import TooLargeError


def available_bytes() -> int | None:
    """Memory that can be taken without swapping, as the system reports it; ``None`` if it does not."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def require(needed: int, what: str) -> None:
    """Raise :class:`~kflip.errors.TooLargeError` if ``needed`` bytes are not available."""
    free = available_bytes()
    if free is not None and needed > free:
        raise TooLargeError(
            f"{what} needs about {needed / 2**30:.1f} GiB, but only {free / 2**30:.1f} GiB are available"
        )
