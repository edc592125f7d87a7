r"""One level of LeadingOnes.

Let :math:`Y` be the values of the strings whose first ``i+1`` bits are ones and :math:`D_k` the sum over the suffixes
at distance :math:`k`.  With strict selection the strings of a level do not see each other, and one walk is enough:

.. math:: T(z) = \min_k \left[\tbinom{n}{k} + (D_{k-1} Y)(z)\right] / \tbinom{N}{k-1}.

With standard selection every offspring that keeps the prefix is accepted, and moves wander about the level:

.. math:: T(z) = \min_k \left[\tbinom{n}{k} + (D_{k-1} Y)(z) + (D_k T)(z)\right] / \tbinom{N+1}{k}.

What is true of this equation:

* Whatever the suffix, radius :math:`k` is accepted with probability :math:`\binom{N+1}{k} / \binom{n}{k}`, and an
  accepted move raises LO with probability :math:`k / (N + 1)`.  Hence the right-hand side is a contraction of modulus
  :math:`1 - k_{\min} / (N + 1)`: the solution is unique, the minimising radii are optimal from every string at once,
  and a residual bounds the error (:mod:`kflip.exact.bits.fixed_point`).
* Hence also, playing one radius throughout the level takes :math:`1 / p_k = \binom{n}{k} / \binom{N}{k-1}` iterations
  from every suffix.  Seeing the suffix buys no time on the level by itself, only a better place to leave it for:
  :math:`\min_k 1/p_k + \min Y \le T \le \min_k 1/p_k + \max Y`.
* Moves inside the level wash that advantage out.  The Walsh functions are eigenvectors of :math:`D_k`, with the
  Krawtchouk polynomials :math:`K_k(s)` as eigenvalues at order :math:`s`, so playing :math:`k` throughout turns a
  coefficient :math:`\hat Y` of order :math:`s \ge 1` into :math:`K_{k-1}(s)\, \hat Y / [\binom{N+1}{k} - K_k(s)]`;
  for :math:`k = 1` that is :math:`\hat Y / (1 + 2s)`.
* Weight is not enough of a state: :math:`Y` depends on where the first zero of the suffix is.  With :math:`k = 1`
  throughout, every Walsh coefficient of :math:`Y` survives, so that :math:`T` too depends on the order of the bits.
* A radius of at most :math:`N + 1` may always raise LO.  So a string is hopeless only if every such radius of the
  portfolio may lead to a hopeless one; iterating the equation from finite values makes just these infinite.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kflip._typing import FloatArray, RadiusArray
from kflip.exact.bits.counts import Level
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.fixed_point import fixed_point
from kflip.exact.bits.walks import NOTHING, best_of


def solve_level(
    crew: Crew,
    level: Level,
    equals: bool,
    values: FloatArray,
    table: RadiusArray,
    progress: Callable[[float], None],
) -> int:
    """Write values and radii of one level, given those above; return the number of rounds.

    ``equals`` says whether selection accepts offspring of the parent's own LO; ``progress`` is called at the end.
    """
    Y, here, radius = values[level.above], values[level.here], table[level.here]
    inside = level.between[0].sum(axis=0)
    accepted = level.rising + inside * equals

    def walk(X: FloatArray) -> None:
        best_of(crew, X, Y, (0, level.N), level.radii, level.offspring, accepted, here, radius)

    def apply(T: FloatArray) -> FloatArray:
        radius[:] = level.fallback
        walk(T)
        return here.copy()

    rounds = 1
    if equals:
        guess = float((level.offspring / level.rising).min() + Y.mean(where=np.isfinite(Y)))
        here[:], rounds = fixed_point(apply, np.full(here.size, guess), float((inside / accepted).max()))
    else:
        walk(NOTHING)
    progress(1.0)
    return rounds
