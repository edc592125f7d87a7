r"""Exact mean and variance of the remaining time of any policy that sees the whole string.

For a string :math:`s` let :math:`L` be the probability that its offspring is accepted and :math:`s'` what follows:

.. math::

    T(s) = \bigl[1 + \mathrm{E}[T(s'); s' \ne s]\bigr] / L, \qquad
    V(s) = \mathrm{E}\bigl[(1 + T(s') - T(s))^2\bigr] + \mathrm{E}[V(s')].

The second line is the law of total variance; nothing is subtracted that is much larger than the result, as it would
be in :math:`\mathrm{E}[T^2] - T^2`.  With any constant :math:`c` and :math:`\delta = T(s) - c` the first line turns it
into

.. math:: L\,V(s) = \mathrm{E}\bigl[(T(s') - c)^2 + V(s'); s' \ne s\bigr] + 2\delta - 1 - L\,\delta^2,

whose expectation is again a sum over accepted offspring (:mod:`kflip.exact.bits.walks`); :math:`c` is the mean of
:math:`T` over the strings being solved for, so that :math:`\delta` is small.

Strings are settled in groups to which no move leads back: levels on LeadingOnes, the weight classes of a level on
(LeadingOnes, OneMax).  With strict selection a group needs one walk, with standard selection it is a contraction
(:mod:`kflip.exact.bits.fixed_point`).  A string gets an infinite value if its radii are never accepted or if an
accepted offspring has one, which is exactly when the run may never finish.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.errors import unknown_word
from kflip.exact.bits.counts import Level, level_counts, suffix_weights
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.fixed_point import fixed_point
from kflip.exact.bits.walks import mean_after

#: A variance below this fraction of the terms it is the sum of is zero.
ROUNDING = 1e-14


def evaluate(
    n: int,
    objective: str,
    selection: str,
    radii: IntArray,
    policy: FloatArray | RadiusArray,
    progress: Callable[[float], None] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the remaining time from every string.

    Parameters
    ----------
    n, objective, selection
        The setting; ``"lo"`` or ``"loom"``, ``"standard"`` or ``"strict"``.
    radii
        Ascending, shape ``(m,)``; what the columns of probabilities stand for, of no account for a table of radii.
    policy
        A radius for every string, shape ``(2**n,)``, or probabilities over ``radii``, shape ``(2**n, m)``.
        The entry of the optimum is not read.
    progress
        Called with the finished fraction.

    Returns
    -------
    values, variances
        Shape ``(2**n,)`` each; infinite exactly where the run may never finish.
    """
    if objective not in ("lo", "loom"):
        raise unknown_word("objective", objective, ("lo", "loom"))
    if selection not in ("standard", "strict"):
        raise unknown_word("selection", selection, ("standard", "strict"))
    equals = float(selection == "standard")
    if policy.ndim == 1:
        radii = np.unique(policy[:-1]).astype(np.int64)
    values, variances = np.zeros(1 << n), np.zeros(1 << n)
    with Crew() as crew:
        for i in range(n - 1, -1, -1):
            level = level_counts(n, i, radii)
            if level.radii.size == 0:
                values[level.here] = variances[level.here] = np.inf
                continue
            chain = _LevelChain(crew, level, radii, policy, values, variances)
            if objective == "lo":
                inside = level.between[0].sum(axis=0)
                chain.solve((0, level.N), equals * inside, 0.0 * inside)
            else:
                for v in range(level.N, -1, -1):
                    heavier = level.between[v, v + 1 :].sum(axis=0)
                    chain.solve((v, v), equals * level.between[v, v], heavier)
            if progress is not None:
                progress(2.0**-i)
    return values, variances


class _LevelChain:
    """One level under a policy: its values and variances, given those above."""

    def __init__(
        self,
        crew: Crew,
        level: Level,
        radii: IntArray,
        policy: NDArray[Any],
        values: FloatArray,
        variances: FloatArray,
    ) -> None:
        self.crew, self.level = crew, level
        self.T, self.V = values[level.here], variances[level.here]
        self.T_above, self.V_above = values[level.above], variances[level.above]
        self.ones = suffix_weights(level.N)
        rows = policy[level.here]
        self.policy = rows if rows.ndim == 1 else np.ascontiguousarray(rows[:, radii <= level.N + 1])
        self.means = np.zeros(self.T.size)

    def solve(self, window: tuple[int, int], inside: FloatArray, heavier: FloatArray) -> None:
        """Settle the strings with suffix weights in the window, all heavier ones being settled.

        ``inside`` and ``heavier`` count the accepted offspring in the window and above it, by radius.
        """
        members = np.flatnonzero((self.ones >= window[0]) & (self.ones <= window[1]))
        offspring = self.level.offspring
        accepted = self._mix((self.level.rising + heavier + inside) / offspring, members)
        returning = self._mix(inside / offspring, members)
        stuck = accepted == 0.0
        accepted[stuck] = 1.0
        contraction = float((returning / accepted).max())
        settled = self.ones > window[1]

        def next_mean(x: FloatArray) -> FloatArray:
            self.T[members] = x
            found = (1.0 + self._mean(self.T, self.T_above, window)[members]) / accepted
            found[stuck] = np.inf
            return np.asarray(found)

        self.T[members], _ = fixed_point(next_mean, np.zeros(members.size), contraction)

        T = self.T[members]
        finite = np.isfinite(T)
        centre = float(T[finite].mean()) if finite.any() else 0.0
        gap = np.where(finite, T, centre) - centre
        own = np.square(T - centre) if contraction > 0.0 else np.zeros(T.size)
        X = np.zeros(self.T.size)
        X[settled] = np.square(self.T[settled] - centre) + self.V[settled]
        Y = np.square(self.T_above - centre) + self.V_above

        def next_variance(x: FloatArray) -> FloatArray:
            X[members] = own + x
            mean = self._mean(X, Y, window)[members]
            found = mean + 2.0 * gap - 1.0 - accepted * np.square(gap)
            found[found < ROUNDING * (mean + 1.0 + accepted * np.square(gap))] = 0.0
            found[~finite] = np.inf
            return np.asarray(found / accepted)

        self.V[members], _ = fixed_point(next_variance, np.zeros(members.size), contraction)

    def _mix(self, by_radius: FloatArray, members: IntArray) -> FloatArray:
        """Average a quantity that depends on the radius alone over the policy's choice, for every member."""
        if self.policy.ndim == 2:
            return np.asarray(np.einsum("sr,r->s", self.policy[members], by_radius))
        every = np.zeros(256)
        every[self.level.radii] = by_radius
        return every[self.policy[members]]

    def _mean(self, X: FloatArray, Y: FloatArray, window: tuple[int, int]) -> FloatArray:
        """Mean of ``X`` and ``Y`` over the accepted offspring, written for the strings in the window."""
        level = self.level
        mean_after(self.crew, X, Y, window, level.radii, level.offspring, self.policy, self.means)
        return self.means
