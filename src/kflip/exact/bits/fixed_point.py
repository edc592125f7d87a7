r"""Fixed points of contractions, with a bound of the error.

Where moves lead back into the strings being solved for, their values are the fixed point of a map :math:`B` with

.. math:: \lVert B x - B y \rVert_\infty \le \rho\, \lVert x - y \rVert_\infty, \qquad \rho < 1,

because every accepted move leaves those strings with probability at least :math:`1 - \rho` (:math:`B` has no
self-loops: it plays a radius until an offspring is accepted), and a minimum over radii keeps the bound.  So the fixed
point is unique, and any :math:`x`, however found, is certified by its residual:
:math:`\lVert B x - x^* \rVert \le \rho/(1 - \rho)\, \lVert B x - x \rVert`.

Plain iteration gains a factor :math:`\rho` a round.  Anderson's acceleration takes the combination of the last few
iterates whose residual would be smallest if :math:`B` were linear.  It starts afresh when the residual doubles and
gives way to the plain iteration while it makes no progress.  The end is reached when no entry changes by more than
rounding, relative to that entry.

Infinite entries stand for strings from which the optimum may never be reached.  :math:`B` never takes one back:
plain rounds find them all before the acceleration begins.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kflip._typing import BoolArray, FloatArray

#: How many earlier iterates the acceleration combines.
MEMORY = 6

#: Relative change of an entry in one round that rounding alone may cause.
ROUNDING = 4e-15

#: Largest error, relative to the largest value, that is returned as an answer.
CERTIFIED = 1e-11

MAX_ROUNDS = 10_000


def fixed_point(
    apply: Callable[[FloatArray], FloatArray], start: FloatArray, modulus: float, offset: float = 0.0
) -> tuple[FloatArray, int]:
    r"""Iterate ``apply`` from ``start`` down to rounding.

    Parameters
    ----------
    apply
        The map; must return a new array.
    start
        First iterate, any finite numbers.
    modulus
        The contraction's :math:`\rho`; 0 if ``apply`` does not depend on its argument.
    offset
        The values are ``offset + x``: what changes are compared with.

    Returns
    -------
    x, rounds
        The fixed point and the number of applications.
    """
    # the plain iteration alone would more than halve the change in so many rounds: without that, rounding is all
    # that is left
    patience = 5.0 + 1.0 / (1.0 - modulus)
    x = start
    past = _Past()
    last = mark = np.inf
    waited = 0
    for rounds in range(1, MAX_ROUNDS + 1):
        image = apply(x)
        if modulus == 0.0:
            return image, rounds
        finite = np.isfinite(image)
        if (finite != np.isfinite(x)).any():
            x = image
            past.forget()
            continue
        change = np.subtract(image, x, out=np.zeros_like(x), where=finite)
        scale = np.abs(np.where(finite, image, 0.0) + offset)
        residual = np.abs(change)
        worst = float((residual / np.maximum(scale, np.finfo(np.float64).tiny)).max())
        waited += 1
        if worst < 0.5 * mark:
            mark, waited = worst, 0
        certified = modulus / (1.0 - modulus) * residual.max() <= CERTIFIED * scale.max()
        if worst <= ROUNDING or (waited > patience and certified):
            return image, rounds
        if worst > 2.0 * last or waited > patience:
            past.forget()
        last = worst
        x = past.accelerate(x, image, change, finite)
    raise ArithmeticError(f"no convergence in {MAX_ROUNDS} rounds: the last relative change is {worst}")


class _Past:
    """The last few steps of an iteration, and how each changed the residual."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start afresh."""
        self._steps: list[FloatArray] = []
        self._turns: list[FloatArray] = []
        self._last: tuple[FloatArray, FloatArray] | None = None

    def accelerate(self, x: FloatArray, image: FloatArray, change: FloatArray, finite: BoolArray) -> FloatArray:
        """The next iterate, given the last one, its image and their difference where that is finite."""
        if self._last is not None:
            old_x, old_change = self._last
            self._steps.append(np.subtract(x, old_x, out=np.zeros_like(x), where=finite))
            self._turns.append(change - old_change)
            del self._steps[:-MEMORY], self._turns[:-MEMORY]
        self._last = x, change
        if not self._turns:
            return image
        products = np.array([[_product(a, b) for b in self._turns] for a in self._turns])
        along = np.array([_product(a, change) for a in self._turns])
        weights = np.linalg.lstsq(products, along, rcond=1e-14)[0]
        mixed = image.copy()
        for weight, step, turn in zip(weights, self._steps, self._turns, strict=True):
            mixed -= weight * step
            mixed -= weight * turn
        return mixed


def _product(a: FloatArray, b: FloatArray) -> float:
    # not BLAS: its threads would compete with the crew's
    return float(np.einsum("i,i->", a, b))
