r"""One level of (LeadingOnes, OneMax): brackets for whole weight classes, strings only where these do not decide.

With the sums :math:`H_k` of :mod:`kflip.exact.bits.distance` (:math:`Y` the values of the strings whose first
``i+1`` bits are ones, :math:`X` those of the accepted suffixes) and the counts of :mod:`kflip.exact.bits.counts`,

.. math:: T(z) = \min_k Q_k(z), \qquad Q_k(z) = \frac{\binom{n}{k} + H_k(z)}{\binom{N}{k-1} + A_k(|z|)},

where :math:`A_k` counts the suffixes at distance :math:`k` that are heavier, or not lighter if standard selection also
accepts equals.  Weights are settled downwards, which would take at least one walk over the suffixes for each.  Nearly
all can be saved, because values hardly differ among the suffixes of one weight.

Let :math:`m_w \le T \le M_w` on weight :math:`w`.  One walk finds the extremes of :math:`D_{k-1} Y` on every weight.
Putting these, and :math:`m_w` or :math:`M_w` for the heavier suffixes, into the numerator without the equals gives
:math:`b_k^- \le b_k \le b_k^+`; let :math:`d_k` count the accepted offspring other than equals and :math:`e_k` the
equals.  Then on the class

.. math:: m = \min_k b_k^- / d_k \;\le\; T \;\le\; \min_k b_k^+ / d_k = M, \qquad Q_k \ge (b_k^- + e_k m) / (d_k + e_k).

(At the string of smallest value :math:`T \ge (b_k^- + e_k T) / (d_k + e_k)` for the radius used there, hence
:math:`T \ge b_k^- / d_k`; playing one :math:`k` on the whole class proves the other side in the same way.)  A radius
whose bound exceeds :math:`M` is best nowhere in the class.  If :math:`b_k^- = b_k^+` for all others, the class has one
value and one set of best radii, and no string is looked at.  So it is for all heavy classes, where :math:`k = 1` is
best and :math:`T` depends on OneMax alone.  Otherwise walks evaluate the radii that remain: one with strict selection,
a few (:mod:`kflip.exact.bits.fixed_point`) if equals are accepted, whose contraction is
:math:`\max_k e_k / (d_k + e_k)`.  They take :math:`X = T - m_w \ge 0` and the :math:`m_w` as constants, so that only
classes whose values really differ ever enter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from kflip._typing import BoolArray, FloatArray, IntArray, RadiusArray
from kflip.exact.bits.counts import Level, suffix_weights
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.fixed_point import fixed_point
from kflip.exact.bits.walks import best_of, extremes_above
from kflip.exact.scan import TIE_TOLERANCE

#: Brackets narrower than this fraction are points: sums of equal terms differ by rounding alone.
POINT = 1e-14

#: Slack when brackets are compared, above the tie tolerance so that every tied radius is kept.
SLACK = 10.0 * TIE_TOLERANCE


class Brackets(NamedTuple):
    """What is known of a weight class before its strings are looked at; arrays over the usable radii.

    ``constant`` is the part of the numerator that is the same for all strings, ``least`` and ``most`` bracket the
    numerator without equals, ``other`` and ``equal`` count accepted offspring.
    """

    constant: FloatArray
    least: FloatArray
    most: FloatArray
    other: FloatArray
    equal: FloatArray

    @property
    def bottom(self) -> float:
        """A lower bound of every value of the class."""
        return float((self.least / self.other).min())

    def candidates(self) -> BoolArray:
        """The radii that may be best somewhere in the class; ``bottom`` must be finite."""
        top = float((self.most / self.other).min())
        accepted = self.other + self.equal
        return np.asarray(self.least + self.equal * self.bottom <= accepted * top * (1.0 + SLACK))


def solve_by_weight(
    crew: Crew,
    level: Level,
    equals: bool,
    values: FloatArray,
    table: RadiusArray,
    progress: Callable[[float], None],
) -> int:
    """Write values and radii of one level, given those above; return the most rounds any class took.

    ``equals`` says whether selection accepts offspring of the parent's own fitness.
    """
    N = level.N
    Y, here, radius = values[level.above], values[level.here], table[level.here]
    low, high = extremes_above(crew, Y, level.radii)
    ones = suffix_weights(N)
    floor, spread = np.zeros(N + 1), np.zeros(N + 1)
    excess = np.zeros(1 << N)
    most_rounds = 0
    for v in range(N, -1, -1):
        heavier = level.between[v, v + 1 :]
        doubt = np.zeros(heavier.shape)
        np.multiply(heavier, spread[v + 1 :, None], out=doubt, where=heavier > 0.0)
        constant = level.offspring + floor[v + 1 :] @ heavier
        known = Brackets(
            constant,
            least=constant + low[v],
            most=constant + high[v] + doubt.sum(axis=0),
            other=level.rising + heavier.sum(axis=0),
            equal=level.between[v, v] * equals,
        )
        members = np.flatnonzero(ones == v)
        if np.isinf(known.bottom):
            here[members], radius[members] = np.inf, level.fallback
        else:
            chosen = known.candidates()
            if (known.most[chosen] <= known.least[chosen] * (1.0 + POINT)).all():
                here[members], radius[members] = _one_for_all(level, known, chosen)
            else:
                rounds = _string_by_string(crew, level, known, chosen, v, excess, Y, here, radius, members)
                most_rounds = max(most_rounds, rounds)
        found = here[members]
        floor[v] = found.min() if np.isfinite(found).any() else 0.0
        spread[v] = found.max() - floor[v]
        excess[members] = found - floor[v]
        progress((N + 1 - v) / (N + 1))
    return most_rounds


def _one_for_all(level: Level, known: Brackets, chosen: BoolArray) -> tuple[float, int]:
    """Value and radius of a class whose brackets are points."""
    numerator = 0.5 * (known.least + known.most)[chosen]
    other, equal = known.other[chosen], known.equal[chosen]
    value = float((numerator / other).min())
    tied = numerator + equal * value <= value * (other + equal) * (1.0 + TIE_TOLERANCE)
    return value, int(level.radii[chosen][tied][0])


def _string_by_string(
    crew: Crew,
    level: Level,
    known: Brackets,
    chosen: BoolArray,
    v: int,
    excess: FloatArray,
    Y: FloatArray,
    here: FloatArray,
    radius: RadiusArray,
    members: IntArray,
) -> int:
    """Evaluate the chosen radii for every string of the class; return the number of rounds."""
    bottom, equal = known.bottom, known.equal[chosen]
    accepted = known.other[chosen] + equal
    constant = known.constant[chosen] + equal * bottom

    def apply(inside: FloatArray) -> FloatArray:
        excess[members] = inside
        radius[members] = level.fallback
        best_of(crew, excess, Y, (v, v), level.radii[chosen], constant, accepted, here, radius)
        return np.asarray(here[members] - bottom)

    contraction = float((equal / accepted).max())
    inside, rounds = fixed_point(apply, np.zeros(members.size), contraction, bottom)
    here[members] = bottom + inside
    return rounds
