"""Telling the user that the first call on a machine compiles, instead of letting them wonder."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

_log = logging.getLogger("kflip")


def is_compiled(kernel: Any) -> bool:
    """Whether a Numba function is compiled in this process or stored in its on-disk cache."""
    if kernel.signatures:
        return True
    name = f"{Path(kernel.py_func.__code__.co_filename).stem}.{kernel.py_func.__qualname__}"
    return any(Path(kernel.stats.cache_path).glob(f"{name}-*.nbi"))


def announce(kernel: Any) -> None:
    """Log a line if calling ``kernel`` will start the compiler; shown on stderr unless logging is configured."""
    if not is_compiled(kernel):
        _log.warning("kflip: compiling for this machine, once; this takes about half a minute")
