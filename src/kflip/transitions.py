"""One iteration from one state: the exact law of the offspring and of the next state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from numbers import Integral
from typing import Any

from kflip.errors import InputError
from kflip.exact.transitions import offspring_bits, offspring_lo, offspring_lo_om
from kflip.memory import require
from kflip.objectives import as_bits, index_of
from kflip.policy import state_index
from kflip.setting import Setting

#: What one string takes in the two laws, measured.
_ENTRY_BYTES = 400


@dataclass(frozen=True)
class Transitions:
    """Laws of one iteration; each maps a state to its probability, and the probabilities sum to 1.

    States are ``lo``, ``(lo, om)``, or for bit strings the integer whose most significant bit is position 1.
    ``offspring`` is the law before selection, ``next`` after it.
    """

    offspring: dict[Any, Fraction]
    next: dict[Any, Fraction]


def transitions(setting: Setting, state: Any, k: int) -> Transitions:
    """Exact law of one iteration with radius ``k``.

    Parameters
    ----------
    setting
        The benchmark; its state says what ``state`` is.
    state
        ``lo``, ``(lo, om)``, or a bit string as an array or an integer.
    k
        Number of bits to flip, 1..n; it need not be in the portfolio.

    Examples
    --------
    >>> transitions(Setting(2), (0, 1), 1).next
    {(0, 1): Fraction(1, 2), (2, 2): Fraction(1, 2)}
    """
    if isinstance(k, bool) or not isinstance(k, Integral) or not 1 <= k <= setting.n:
        raise InputError(f"radius k must be a whole number in 1..{setting.n}, not {k!r}")
    if setting.state == "lo" and setting.objective == "loom":
        raise InputError("LO alone is not a Markov state of objective 'loom': selection looks at OM; use state 'lo-om'")
    current, law, fitness = _LAWS[setting.state](setting, state, int(k))
    here = fitness(current)
    kept: dict[Any, Fraction] = {}
    for target, chance in law.items():
        there = fitness(target)
        accepted = there > here or (setting.selection == "standard" and there == here)
        after = target if accepted else current
        kept[after] = kept.get(after, Fraction(0)) + chance
    return Transitions(dict(sorted(law.items())), dict(sorted(kept.items())))


_Law = tuple[Any, dict[Any, Fraction], Callable[[Any], Any]]


def _of_lo(setting: Setting, state: Any, k: int) -> _Law:
    (lo,) = state_index(setting.n, "lo", state, None, None)
    return lo, offspring_lo(setting.n, lo, k), lambda s: s


def _of_lo_om(setting: Setting, state: Any, k: int) -> _Law:
    try:
        lo, om = state
    except (TypeError, ValueError):
        raise InputError(f"a state of this setting is a pair (lo, om), not {state!r}") from None
    lo, om = state_index(setting.n, "lo-om", lo, om, None)  # plain integers
    law = offspring_lo_om(setting.n, lo, om, k)
    return (lo, om), law, (lambda s: s) if setting.objective == "loom" else (lambda s: s[0])


def _of_bits(setting: Setting, state: Any, k: int) -> _Law:
    n = setting.n
    if isinstance(state, Integral) and not isinstance(state, bool):
        x = int(state)
        if not 0 <= x < 2**n:
            raise InputError(f"a string of {n} bits is an integer in 0..{2**n - 1}, not {x}")
    else:
        bits = as_bits(state)
        if bits.shape != (n,):
            raise InputError(f"expected a string of {n} bits, not an array of shape {bits.shape}")
        x = int(index_of(bits))
    require(_ENTRY_BYTES * comb(n, k), f"the law of one iteration on {setting} with radius {k}")

    def fitness(s: int) -> Any:
        lo = n - (s ^ (2**n - 1)).bit_length()  # the first zero is the highest bit of the complement
        return (lo, s.bit_count()) if setting.objective == "loom" else lo

    return x, offspring_bits(n, x, k), fitness


_LAWS: dict[str, Callable[[Setting, Any, int], _Law]] = {"lo": _of_lo, "lo-om": _of_lo_om, "bits": _of_bits}
