"""How much memory a solution takes."""

from __future__ import annotations

from math import comb

from kflip.exact.bits.crew import thread_count
from kflip.exact.bits.distance import layout
from kflip.exact.bits.fixed_point import MEMORY

#: The interpreter with its libraries and compiled kernels.
PROGRAM = 160 << 20


def memory_needed(n: int, objective: str, selection: str) -> int:
    """Bytes at the peak of :func:`solve_strict` or :func:`solve_standard` with the full portfolio.

    Values and radii of all strings, one scratch array a thread for the largest level, and what that level keeps: its
    weights and the excess over the class minima on (LeadingOnes, OneMax), the past iterates with standard selection.
    """
    level = 1 << (n - 1)
    largest_class = level if objective == "lo" else comb(n - 1, (n - 1) // 2)
    work = thread_count() * 8 * max(layout(N, 1, N + 1).size for N in range(n))
    if objective == "loom":
        work += 10 * level + 40 * largest_class
    if selection == "standard":
        work += 8 * (2 * MEMORY + 12) * largest_class
    return PROGRAM + 9 * (1 << n) + work
