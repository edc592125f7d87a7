r"""One iteration, exactly: where the offspring lands and what selection keeps.

From ``(LO, OM) = (i, j)`` with :math:`k` flips, the string being ``1^i 0`` and a suffix of :math:`N = n - i - 1` bits
with :math:`j - i` ones at random:

* LO falls to :math:`l < i` if position ``l+1`` is the first flipped one; the other :math:`k - 1` flips hit
  the :math:`n - l - 1` bits behind it, :math:`j - l - 1` of them ones;
* LO stays if all flips hit the suffix;
* LO improves if position ``i+1`` flips and :math:`k - 1` flips hit the suffix.  Of the then :math:`a'` ones, in
  random order, :math:`l - i - 1` lead and a zero follows with probability
  :math:`\binom{n-l-1}{a' - (l-i-1)} / \binom{N}{a'}`; all :math:`N` lead if :math:`a' = N`.

All probabilities are fractions.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

from kflip.exact.rational import State, after_flips


def offspring_lo_om(n: int, lo: int, om: int, k: int) -> dict[State, Fraction]:
    """Law of the offspring's ``(LO, OM)``."""
    total = comb(n, k)
    law: dict[State, Fraction] = {}
    for fallen in range(lo):
        rest = n - fallen - 1
        chance = Fraction(comb(rest, k - 1), total)
        _spread(law, chance, fallen, om - 1, after_flips(rest, om - fallen - 1, k - 1), om - fallen - 1)
    if lo == n:
        return law
    N, a = n - lo - 1, om - lo
    _spread(law, Fraction(comb(N, k), total), lo, om, after_flips(N, a, k), a)
    improved = Fraction(comb(N, k - 1), total)
    for ones, weight in after_flips(N, a, k - 1).items():
        for more in range(ones + 1):
            behind = N - more - 1
            ways = comb(behind, ones - more) if behind >= 0 else 1
            chance = improved * weight * Fraction(ways, comb(N, ones))
            if chance:
                _add(law, (lo + 1 + more, lo + 1 + ones), chance)
    return law


def offspring_lo(n: int, lo: int, k: int) -> dict[int, Fraction]:
    """Law of the offspring's LO when the suffix is uniformly random."""
    total = comb(n, k)
    law: dict[int, Fraction] = {}
    for fallen in range(lo):
        law[fallen] = Fraction(comb(n - fallen - 1, k - 1), total)
    if lo < n:
        N = n - lo - 1
        law[lo] = Fraction(comb(N, k), total)
        improved = Fraction(comb(N, k - 1), total)
        for more in range(N + 1):
            law[lo + 1 + more] = improved * Fraction(1, 2 ** min(more + 1, N))
    return {state: chance for state, chance in law.items() if chance}


def offspring_bits(n: int, x: int, k: int) -> dict[int, Fraction]:
    """Law of the offspring as an integer whose most significant bit is position 1."""
    chance = Fraction(1, comb(n, k))
    return {x ^ sum(1 << b for b in flips): chance for flips in combinations(range(n), k)}


def _spread(
    law: dict[State, Fraction], chance: Fraction, lo: int, om: int, ones: dict[int, Fraction], before: int
) -> None:
    for after, weight in ones.items():
        if chance * weight:
            _add(law, (lo, om + after - before), chance * weight)


def _add(law: dict[State, Fraction], state: State, chance: Fraction) -> None:
    law[state] = law.get(state, Fraction(0)) + chance
