"""The page people send to a colleague: one file, interactive, without a network."""

from kflip.report.page import NEEDED, available, render

__all__ = ["NEEDED", "available", "render"]
