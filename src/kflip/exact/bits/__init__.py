"""Exact computations for policies that see the whole string.

Arrays over the strings have shape ``(2**n,)`` and are indexed by the integer whose most significant bit is position 1.
The strings ``1^i 0 z`` of level ``i`` are then neighbours in the order of their suffixes ``z``, and so are the strings
``1^(i+1) z`` above them.
"""

from kflip.exact.bits.bellman import action_values, bellman
from kflip.exact.bits.chain import evaluate
from kflip.exact.bits.size import memory_needed
from kflip.exact.bits.solve import solve_standard, solve_strict

__all__ = ["action_values", "bellman", "evaluate", "memory_needed", "solve_standard", "solve_strict"]
