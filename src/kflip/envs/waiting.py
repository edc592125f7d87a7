r"""Waiting for a state to change within a budget: moments of a geometric time that is cut off.

If a state changes with probability :math:`p` per iteration and :math:`r` iterations are left, the first change is in
iteration :math:`G`, geometric, and is seen if :math:`G \le r`.  With :math:`q = 1 - p`,

.. math:: P[G \le r] = 1 - q^r, \qquad E[\min(G, r)] = \frac{1 - q^r}{p}, \qquad
          E[1/G;\, G \le r] = \frac{p}{q} \sum_{g=1}^{r} \frac{q^g}{g},

the last sum being :math:`-\log p` without a budget.  Its terms are added one by one as far as :data:`DIRECT`; the rest,
where a term differs little from the next, is an integral over :math:`y = \log g`, in which :math:`e^{-\lambda g}` with
:math:`\lambda = -\log q` is smooth, and the first term of the midpoint rule's error.
"""

from __future__ import annotations

import numpy as np
from numba import njit

#: Terms added one by one; behind them the midpoint rule with one correction is exact to rounding.
DIRECT = 4096

#: Beyond this exponent a term does not change the sum.
VANISHED = 45.0

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(12)


@njit(cache=True, nogil=True)
def change_within(p: float, r: float) -> float:
    """``P[G <= r]``, accurate also where it is tiny."""
    if p >= 1.0:
        return 1.0
    return -np.expm1(r * np.log1p(-p))


@njit(cache=True, nogil=True)
def mean_wait(p: float, r: float) -> float:
    """``E[min(G, r)]``; all of ``r`` if the state never changes."""
    return r if p <= 0.0 else change_within(p, r) / p


@njit(cache=True, nogil=True)
def mean_inverse_wait(p: float, r: float) -> float:
    """``E[1 / G; G <= r]``."""
    if p <= 0.0:
        return 0.0
    if p >= 1.0:
        return 1.0
    rate = -np.log1p(-p)
    if rate * r > VANISHED:
        return -np.log(p) * p / (1.0 - p)
    last = min(r, float(DIRECT))
    total = 0.0
    power = 1.0
    for g in range(1, int(last) + 1):
        power *= 1.0 - p
        total += power / g
    if r > last:
        total += _behind(rate, last + 0.5, r + 0.5)
    return total * p / (1.0 - p)


@njit(cache=True, nogil=True)
def _behind(rate: float, first: float, last: float) -> float:
    """The terms between two half-integers: the integral, less a 24th of the difference of the slopes at its ends."""
    low, high = np.log(first), np.log(last)
    panels = int(np.ceil(2.0 * (high - low)))
    half = 0.5 * (high - low) / panels
    total = 0.0
    for panel in range(panels):
        middle = low + (2 * panel + 1) * half
        for j in range(_NODES.size):
            total += _WEIGHTS[j] * half * np.exp(-rate * np.exp(middle + half * _NODES[j]))
    return total - (_slope(rate, last) - _slope(rate, first)) / 24.0


@njit(cache=True, nogil=True)
def _slope(rate: float, g: float) -> float:
    return -np.exp(-rate * g) * (rate + 1.0 / g) / g
