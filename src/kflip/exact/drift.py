r"""Expected gain of LeadingOnes in one iteration.

An improvement that leaves :math:`a'` ones among the :math:`N` suffix bits, in random order, is followed by
:math:`a' / (N - a' + 1)` further leading ones on average, so radius :math:`k` gains

.. math:: p_k \, (P_{k-1} g)(a), \qquad g(a') = \frac{N + 1}{N - a' + 1}.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray, IntArray
from kflip.exact.flips import fill_probabilities, mean_after
from kflip.exact.scan import HALF_WIDTH, TAIL, TIE_TOLERANCE


@njit(cache=True, nogil=True)
def max_drift_level(n: int, i: int, radii: IntArray, p: FloatArray, q: FloatArray, table: IntArray) -> None:
    """Write the smallest radius of largest gain for every state of level ``i`` into ``table[i]``."""
    N = n - i - 1
    fill_probabilities(n, i, p, q)
    gain = np.empty(N + 1)
    for b in range(N + 1):
        gain[b] = (N + 1.0) / (N - b + 1.0)
    for a in range(N + 1):
        best = 0.0
        radius = radii[0]
        excess = 2.0 * a / N - 1.0 if N > 0 else 0.0
        for k in radii:
            if k > N + 1:
                break
            if best > 0.0:
                # g rises, so over all but TAIL of the probability it is at most its value at the window's right end
                reach = HALF_WIDTH * np.sqrt(max(1.0, k * (1.0 - (k - 1.0) / (N + 1.0)))) + 2.0
                right = min(N, int(a - min(k, N) * excess + reach) + 1)
                if p[k] * (gain[right] + TAIL * (N + 1.0)) < best:
                    continue
            value = p[k] * mean_after(gain, N + 1.0, N, a, k - 1)
            if value > best * (1.0 + TIE_TOLERANCE):
                best, radius = value, k
        table[i, i + a] = radius


def max_drift_table(n: int, radii: IntArray) -> IntArray:
    """Radius of largest expected LO gain in every ``(LO, OM)`` state, shape (n+1, n+1)."""
    table = np.zeros((n + 1, n + 1), dtype=np.int64)
    p, q = np.zeros(n + 2), np.zeros(n + 2)
    for i in range(n):
        max_drift_level(n, i, radii, p, q, table)
    return table
