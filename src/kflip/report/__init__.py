"""The page people send to a colleague: one file, interactive, without a network."""

from kflip.report.assembly import NEEDED, available
from kflip.report.page import render

__all__ = ["NEEDED", "available", "render"]
