"""Numbers as people read them: three digits, and a word for what is infinite or was not computed.

No line breaks before a unit: the spaces there are hard ones.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isinf, isnan

NEVER = "never finishes"
NOTHING = "–"

#: Regrets below this share are rounding.
_ZERO = 1e-12


def regret(value: float) -> str:
    """A regret in percent."""
    if isnan(value):
        return NOTHING
    if isinf(value):
        return NEVER
    percent = 100.0 * value
    if abs(value) < _ZERO:
        return "0\N{NO-BREAK SPACE}%"
    if abs(percent) >= 1e5 or abs(percent) < 1e-3:
        digits, _, exponent = f"{percent:.1e}".partition("e")
        return f"{digits}e{int(exponent)}\N{NO-BREAK SPACE}%"
    return f"{percent:,.0f}\N{NO-BREAK SPACE}%" if percent >= 100.0 else f"{percent:.3g}\N{NO-BREAK SPACE}%"


def share(value: float) -> str:
    """A part of a whole in percent; only the whole is 100 %."""
    if isnan(value):
        return NOTHING
    if value == 1.0:
        return "100\N{NO-BREAK SPACE}%"
    text = f"{100.0 * value:.1f}\N{NO-BREAK SPACE}%"
    return ">99.9\N{NO-BREAK SPACE}%" if text == "100.0\N{NO-BREAK SPACE}%" else text


def area(value: float) -> str:
    """An area under a learning curve, 0 to 1."""
    return NOTHING if isnan(value) else f"{value:.3f}"


def duration(seconds: float) -> str:
    """Seconds, or minutes if there are many."""
    if isnan(seconds):
        return NOTHING
    if seconds >= 120.0:
        return f"{seconds / 60.0:.0f}\N{NO-BREAK SPACE}min"
    return f"{seconds:.0f}\N{NO-BREAK SPACE}s" if seconds >= 10.0 else f"{seconds:.2g}\N{NO-BREAK SPACE}s"


#: How each measure is written.
WRITERS: dict[str, Callable[[float], str]] = {
    "guarded": regret,
    "raw": regret,
    "hits": share,
    "time": share,
    "area": area,
}
