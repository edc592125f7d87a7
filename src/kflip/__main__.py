"""``python -m kflip`` is the command line."""

from __future__ import annotations

from kflip.cli import main

if __name__ == "__main__":
    main()
