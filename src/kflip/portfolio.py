"""Portfolios: which radii an algorithm may use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias

from kflip.errors import InputError, unknown_word


def _full(n: int) -> Iterable[int]:
    return range(1, n + 1)


def _powers_of_two(n: int) -> Iterable[int]:
    return (1 << e for e in range(n.bit_length()))


def _initial_segment(n: int, size: int) -> Iterable[int]:
    return range(1, min(size, n) + 1)


def _evenly_spread(n: int, size: int) -> Iterable[int]:
    # the paper's floors: {1} and i n / size for i = 1..size-1; a size above n repeats them
    size = min(size, n)  # from size = n on every radius below n occurs
    return {1} | {i * n // size for i in range(1, size)}


_PLAIN: dict[str, Callable[[int], Iterable[int]]] = {
    "full": _full,
    "powers-of-two": _powers_of_two,
}
_SIZED: dict[str, Callable[[int, int], Iterable[int]]] = {
    "initial-segment": _initial_segment,
    "evenly-spread": _evenly_spread,
}
_VOCABULARY = (*_PLAIN, *(f"{family}-M" for family in _SIZED))


@dataclass(frozen=True)
class Portfolio:
    """A set of radii, known by its name.

    Parameters
    ----------
    name
        ``"full"``, ``"powers-of-two"``, ``"initial-segment-M"``, ``"evenly-spread-M"`` for a whole number M >= 1,
        or radii separated by commas such as ``"1,2,5"``.  Repeated radii are merged, the order does not matter.

    Examples
    --------
    >>> Portfolio("evenly-spread-3").radii(8)
    (1, 2, 5)
    >>> Portfolio.of([4, 1, 4]).name
    '1,4'
    """

    name: str

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise InputError(f"a portfolio's name is a string, not {self.name!r}; see Portfolio.of")
        if "," in self.name or re.fullmatch(r"\s*[-+]?\d+\s*", self.name):
            object.__setattr__(self, "name", ",".join(map(str, _parse_list(self.name))))
        elif self.name not in _PLAIN:
            object.__setattr__(self, "name", "{}-{}".format(*self._sized()))

    @classmethod
    def of(cls, spec: PortfolioLike) -> Portfolio:
        """Make a portfolio from a name, an explicit collection of radii, or another portfolio."""
        if isinstance(spec, Portfolio):
            return spec
        if isinstance(spec, str):
            return cls(spec)
        try:
            radii = list(spec)
            if isinstance(spec, (bytes, bytearray)):  # iterating them would yield character codes
                raise TypeError
        except TypeError:
            raise InputError(f"a portfolio is a name or a list of radii, not {spec!r}") from None
        if not radii:
            raise InputError("an empty portfolio: give at least one radius")
        for k in radii:
            if isinstance(k, bool) or not isinstance(k, Integral):
                raise InputError(f"radius {k!r} in the portfolio is not a whole number")
        return cls(",".join(map(str, radii)) + ("," if len(radii) == 1 else ""))

    def radii(self, n: int) -> tuple[int, ...]:
        """Radii for strings of length ``n``, ascending and without repetition."""
        if self.name in _PLAIN:
            chosen = _PLAIN[self.name](n)
        elif "," in self.name or self.name.isdigit():
            chosen = _parse_list(self.name)
            largest = max(chosen)
            if largest > n:
                raise InputError(f"radius {largest} in the portfolio is above n = {n}")
        else:
            family, size = self._sized()
            chosen = _SIZED[family](n, size)
        return tuple(sorted(chosen))

    def _sized(self) -> tuple[str, int]:
        match = re.fullmatch(r"(.+)-(\d+)", self.name)
        if match is None or match[1] not in _SIZED:
            raise unknown_word("portfolio", self.name, _VOCABULARY)
        size = _whole(match[2])
        if size < 1:
            raise InputError(f"portfolio {self.name!r} needs a size of at least 1")
        return match[1], size

    def __str__(self) -> str:
        return self.name


PortfolioLike: TypeAlias = Portfolio | str | Iterable[int]


def _parse_list(text: str) -> list[int]:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        raise InputError("an empty portfolio: give at least one radius")
    radii = set()
    for word in words:
        if not re.fullmatch(r"[-+]?\d+", word):
            raise InputError(f"radius {word!r} in the portfolio is not a whole number")
        radius = _whole(word)
        if radius < 1:
            raise InputError(f"radius {radius} in the portfolio is below 1")
        radii.add(radius)
    return sorted(radii)


def _whole(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python's own limit of a few thousand digits
        raise InputError(f"a number of {len(digits)} digits in the portfolio") from None
