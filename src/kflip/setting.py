"""Setting: one benchmark, fully described."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

from kflip.errors import InputError, TooLargeError, unknown_word
from kflip.portfolio import Portfolio, PortfolioLike

OBJECTIVES = ("lo", "loom")
SELECTIONS = ("standard", "strict")
STATES = ("lo", "lo-om", "bits")

#: Largest length accepted for each state; what fits into memory is checked where memory is taken.
MAX_N = {"lo": 1_000_000, "lo-om": 32_767, "bits": 30}


def shape_of(n: int, state: str) -> tuple[int, ...]:
    """Shape of an array over the states: ``(n+1,)``, ``(n+1, n+1)`` or ``(2**n,)``."""
    if state == "bits":
        return (2**n,)
    return (n + 1,) if state == "lo" else (n + 1, n + 1)


@dataclass(frozen=True)
class Setting:
    """One benchmark: RLS_k on strings of length ``n``, and what its policy sees.

    Parameters
    ----------
    n
        Length of the bit string, at least 1.
    objective
        ``"lo"`` maximises LeadingOnes; ``"loom"`` maximises (LeadingOnes, OneMax) lexicographically.
    selection
        ``"standard"`` accepts offspring that are not worse; ``"strict"`` only better ones.
    state
        What the policy sees: ``"lo"``, ``"lo-om"`` or ``"bits"`` (the whole string).
    portfolio
        Radii it may use: a name, a list or a :class:`~kflip.portfolio.Portfolio`.

    Examples
    --------
    >>> Setting(8, objective="lo", selection="strict").radii
    (1, 2, 3, 4, 5, 6, 7, 8)
    """

    n: int
    objective: str = "loom"
    selection: str = "standard"
    state: str = "lo-om"
    portfolio: PortfolioLike = "full"

    def __post_init__(self) -> None:
        for kind, known in (("objective", OBJECTIVES), ("selection", SELECTIONS), ("state", STATES)):
            word = getattr(self, kind)
            if not isinstance(word, str) or word not in known:
                raise unknown_word(kind, word, known)
            object.__setattr__(self, kind, str(word))
        if isinstance(self.n, bool) or not isinstance(self.n, Integral):
            raise InputError(f"n must be a whole number, not {self.n!r}")
        if self.n < 1:
            raise InputError(f"n must be at least 1, not {self.n}")
        if self.n > MAX_N[self.state]:
            raise TooLargeError(f"n = {self.n} is too large: state {self.state!r} goes up to n = {MAX_N[self.state]}")
        object.__setattr__(self, "n", int(self.n))
        object.__setattr__(self, "portfolio", Portfolio.of(self.portfolio))
        _ = self.radii  # an explicit list may not fit n: say so now

    @cached_property
    def radii(self) -> tuple[int, ...]:
        """The portfolio's radii for this ``n``, ascending."""
        return Portfolio.of(self.portfolio).radii(self.n)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of an array over the states, see :func:`shape_of`."""
        return shape_of(self.n, self.state)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for files and machine-readable output."""
        return {
            "n": self.n,
            "objective": self.objective,
            "selection": self.selection,
            "state": self.state,
            "portfolio": str(self.portfolio),
        }

    def __str__(self) -> str:
        goal = {"lo": "LeadingOnes", "loom": "(LeadingOnes, OneMax)"}[self.objective]
        seen = {"lo": "LO", "lo-om": "(LO, OM)", "bits": "the string"}[self.state]
        text = f"{goal}, {self.selection} selection, seeing {seen}, n = {self.n}"
        return text if str(self.portfolio) == "full" else f"{text}, radii {self.portfolio}"
