r"""Rules that adapt the radius while the algorithm runs.

Such a rule sees neither LO nor OM, only whether the last offspring was strictly better in the sense of the objective.
What it remembers is a number :math:`m` of a finite set: it flips ``radius[m]`` bits, then goes on with
``after_success[m]`` or ``after_failure[m]``.  Together with :math:`m`, (LO, OM) is a Markov chain, because neither the
radius nor success depends on where the ones of the suffix are: :mod:`kflip.exact.adaptive` evaluates it exactly.

The multiplicative success rule keeps a strength :math:`r` and puts

.. math:: r \leftarrow \min(n, F^s r) \text{ after success}, \qquad r \leftarrow \max(1, r / F) \text{ after failure}.

On the grid :math:`r_m = \min(n, F^m)`, :math:`m = 0, \dots, M = \lceil \log_F n \rceil`, this is :math:`m + s` or
:math:`m - 1`, clipped to the grid.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral, Real
from typing import NoReturn

import numpy as np

from kflip._typing import IntArray
from kflip.errors import InputError
from kflip.policy import read_only
from kflip.setting import Setting

#: Most numbers a rule may remember: far more than any sensible rule needs.
MAX_MEMORY = 4096


@dataclass(frozen=True, eq=False)
class Memory:
    """What a rule remembers on one setting, as tables over ``m = 0..M``.

    Attributes
    ----------
    radius
        Bits flipped, shape (M+1,).
    after_success, after_failure
        The next ``m`` after an offspring that was strictly better, or was not, shapes (M+1,).
    start
        The first ``m`` of a run.
    """

    radius: IntArray
    after_success: IntArray
    after_failure: IntArray
    start: int = 0

    def __post_init__(self) -> None:
        size = len(self.radius)
        if not 1 <= size <= MAX_MEMORY:
            raise InputError(f"a rule remembers one of 1 to {MAX_MEMORY} numbers, not of {size}")
        for name in ("radius", "after_success", "after_failure"):
            array = np.asarray(getattr(self, name))
            if array.dtype.kind not in "iu" or array.shape != (size,):
                raise InputError(f"{name} holds {size} whole numbers, not {array.dtype} with shape {array.shape}")
            # always a copy of one type: kernels are compiled for it, and the caller's array stays apart
            array = array.astype(np.int64)
            if name != "radius" and not ((array >= 0) & (array < size)).all():
                raise InputError(f"{name} must stay within 0..{size - 1}, not {array.tolist()}")
            object.__setattr__(self, name, read_only(array))
        if not _is_whole(self.start) or not 0 <= self.start < size:
            raise InputError(f"start must be a whole number in 0..{size - 1}, not {self.start!r}")


class AdaptiveRule(ABC):
    """A rule with memory; a subclass has a ``name`` and tells what it remembers on a setting."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What the command line, tables and figures call it."""

    @abstractmethod
    def memory(self, setting: Setting) -> Memory:
        """What it remembers on the setting."""

    @property
    def state(self) -> NoReturn:
        """Refused: whoever asks what a policy sees is about to read a table."""
        raise self.no_table()

    def no_table(self) -> InputError:
        """The error for a use that needs a radius for every state."""
        return InputError(f"{self.name} has memory: it can be evaluated and simulated, but is not a table")

    def memory_of(self, setting: Setting) -> Memory:
        """:meth:`memory`, checked against the portfolio."""
        memory = self.memory(setting)
        foreign = np.setdiff1d(memory.radius, setting.radii)
        if foreign.size:
            raise InputError(f"radius {foreign[0]} of {self.name} is not in the portfolio {setting.portfolio}")
        return memory


@dataclass(frozen=True)
class SelfAdjusting(AdaptiveRule):
    """A strength that grows by ``factor ** success_steps`` after a success and shrinks by ``factor`` after a failure.

    Parameters
    ----------
    factor
        The ratio F > 1 of neighbouring strengths; they are ``min(n, F**m)``.
    success_steps
        How many failures undo one success, a whole number of at least 1.
    start
        First strength, at least 1; the nearest one of the grid is taken, and ``n`` if it is above.

    The bits flipped are the radius of the portfolio nearest to the strength.  What is equally near goes to the
    smaller, for the radius and for the start.

    Exact evaluation for n = 16, 32, 64 on (LO, OM) and on LeadingOnes with both selections, repeated by
    ``tests/rules/test_adaptive.py``, says:

    * Success is rarer than failure almost everywhere, so the strength soon is 1 and stays there.  From ``start=1`` the
      rule is never faster than ``one-bit`` for factors 1.2, 1.5 and 2 with one or two steps; with the defaults it
      is at most 3 % slower.
    * From ``start=n`` it is a schedule of falling radii, on LeadingOnes 3 to 10 % faster than ``one-bit``.  Of the same
      factors and steps the defaults then have the smallest mean ratio to the optimum, 1.23.

    The opposite direction, larger after failures, has no such rule: radii above n - LO never succeed, and the strength
    would stay there for good.  Let it start again from 1 instead: see ``docs/extend.md``.
    """

    factor: float = 1.5
    success_steps: int = 1
    start: float = 1.0

    def __post_init__(self) -> None:
        if not _is_number(self.factor) or not 1.0 < self.factor < math.inf:
            raise InputError(f"factor must be a number above 1, not {self.factor!r}")
        if not _is_whole(self.success_steps) or self.success_steps < 1:
            raise InputError(f"success_steps must be a whole number of at least 1, not {self.success_steps!r}")
        if not _is_number(self.start) or not 1.0 <= self.start < math.inf:
            raise InputError(f"start must be a number of at least 1, not {self.start!r}")
        object.__setattr__(self, "factor", float(self.factor))
        object.__setattr__(self, "success_steps", int(self.success_steps))
        object.__setattr__(self, "start", float(self.start))

    @property
    def name(self) -> str:
        """``self-adjusting``, with ``-F-S`` and ``-START`` if they are not the usual ones."""
        if self == SelfAdjusting():
            return "self-adjusting"
        usual = f"self-adjusting-{_text(self.factor)}-{self.success_steps}"
        return usual if self.start == SelfAdjusting.start else f"{usual}-{_text(self.start)}"

    @property
    def about(self) -> str:
        """One line for the user."""
        up = f"{self.factor:g}" if self.success_steps == 1 else f"{self.factor:g}^{self.success_steps}"
        return f"a radius that grows by the factor {up} after a success and shrinks by {self.factor:g} after a failure"

    def memory(self, setting: Setting) -> Memory:
        """The grid of strengths up to ``n``, and the steps on it."""
        n, radii = setting.n, np.array(setting.radii, dtype=np.int64)
        strengths = [1.0]
        while strengths[-1] < n:
            strengths.append(min(float(n), strengths[-1] * self.factor))
            if len(strengths) > MAX_MEMORY:
                raise InputError(f"factor {self.factor!r} is too close to 1: over {MAX_MEMORY} steps from 1 to {n}")
        m = np.arange(len(strengths))
        # argmin takes the first of several, and both lists ascend: ties go to the smaller
        radius = np.array([radii[np.argmin(np.abs(radii - r))] for r in strengths])
        start = int(np.argmin(np.abs(np.array(strengths) - self.start)))
        # within the grid already, so that no large number of steps overflows
        steps = min(self.success_steps, len(strengths))
        return Memory(radius, np.minimum(m + steps, m[-1]), np.maximum(m - 1, 0), start)


def self_adjusting(
    factor: float = SelfAdjusting.factor,
    success_steps: int = SelfAdjusting.success_steps,
    start: float = SelfAdjusting.start,
) -> SelfAdjusting:
    """The multiplicative success rule, see :class:`SelfAdjusting`."""
    return SelfAdjusting(factor, success_steps, start)


def parse_self_adjusting(name: str) -> SelfAdjusting | None:
    """Read ``self-adjusting-F-S`` or ``self-adjusting-F-S-START``; None for other names."""
    decimal = r"\d{1,9}(?:\.\d{1,17})?"
    match = re.fullmatch(rf"self-adjusting-({decimal})-(\d{{1,9}})(?:-({decimal}))?", name)
    if match is None:
        return None
    return SelfAdjusting(float(match[1]), int(match[2]), SelfAdjusting.start if match[3] is None else float(match[3]))


def _text(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)
