r"""How many offspring there are, and how many of them selection accepts.

On level :math:`i` a radius :math:`k` has :math:`\binom{n}{k}` offspring.  :math:`\binom{N}{k-1}` of them raise LO;
of the :math:`\binom{N}{k}` that keep it, :math:`\binom{N-v}{u} \binom{v}{d}` with :math:`u + d = k` and
:math:`u - d = w - v` lead from :math:`v` to :math:`w` ones in the suffix.  All are whole numbers below :math:`2^{53}`.

A radius of at most :math:`N + 1` raises LO with positive probability, a larger one is never accepted: from a string
of the level a policy can fail to leave it only by using radii beyond :math:`N + 1`, or by moving to such a string.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kflip._typing import FloatArray, IntArray


class Level(NamedTuple):
    r"""Counts for level ``i = n - N - 1`` and the radii of a portfolio up to ``N + 1``.

    ``offspring[r]`` and ``rising[r]`` are :math:`\binom{n}{k}` and :math:`\binom{N}{k-1}` for ``k = radii[r]``;
    ``between[v, w, r]`` counts the moves inside the level from a string of weight ``v`` to strings of weight ``w``.
    ``fallback`` is the smallest radius of the portfolio, the choice where all are equally hopeless.
    """

    n: int
    N: int
    radii: IntArray
    offspring: FloatArray
    rising: FloatArray
    between: FloatArray
    fallback: int

    @property
    def above(self) -> slice:
        """The strings whose first ``i + 1`` bits are ones, in the order of their suffixes."""
        return slice((1 << self.n) - (1 << self.N), 1 << self.n)

    @property
    def here(self) -> slice:
        """The strings of the level, in the order of their suffixes."""
        return slice((1 << self.n) - (2 << self.N), (1 << self.n) - (1 << self.N))


def level_counts(n: int, i: int, radii: IntArray) -> Level:
    """Count the moves of level ``i``."""
    N = n - i - 1
    usable = np.asarray(radii[radii <= N + 1], dtype=np.int64)
    offspring = np.array([comb(n, k) for k in usable.tolist()], dtype=np.float64)
    rising = np.array([comb(N, k - 1) for k in usable.tolist()], dtype=np.float64)
    between = np.zeros((N + 1, N + 1, N + 2))
    for v in range(N + 1):
        for u in range(N - v + 1):
            for d in range(v + 1):
                between[v, v + u - d, u + d] = comb(N - v, u) * comb(v, d)
    return Level(n, N, usable, offspring, rising, between[:, :, usable], int(radii[0]))


def suffix_weights(N: int) -> NDArray[np.uint8]:
    """Number of ones of every suffix, shape ``(2**N,)``."""
    ones = np.zeros(1 << N, dtype=np.uint8)
    for b in range(N):
        np.add(ones[: 1 << b], 1, out=ones[1 << b : 2 << b])
    return ones
