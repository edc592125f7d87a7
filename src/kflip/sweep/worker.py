"""A local worker process: one task a line on standard input, one answer a line on standard output.

It ends with its driver.  A thread waits for the next line, and when the driver has closed the pipe, or was killed, it
ends the process in the middle of whatever it computes.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from queue import SimpleQueue

from kflip.sweep.work import work


def serve() -> None:
    """Answer until the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the driver decides
    lines: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=(lines,), daemon=True).start()
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        os.dup2(2, 1)  # what a library prints is no answer
        while True:
            answer = work(json.loads(lines.get()))
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _listen(lines: SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    os._exit(0)
