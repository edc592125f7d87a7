"""Words that the kernels and their callers share."""

from __future__ import annotations

#: How a run ended: at the optimum, at the iteration limit, in a state it can never leave, or by an interrupt.
FINISHED, CUT, STUCK, STOPPED = 0, 1, 2, 3

#: A run looks at the interrupt flag once in this many iterations or jumps.
PATIENCE = 1 << 20
