"""The walks over one level: every kernel of :mod:`kflip.exact.bits.targets`, run by a crew on all blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kflip._typing import FloatArray, IntArray, RadiusArray
from kflip.exact.bits.crew import Crew
from kflip.exact.bits.distance import Layout, layout
from kflip.exact.bits.targets import best_radii, extremes, follow_mix, follow_table

Result = TypeVar("Result")

#: The source ``X`` of a walk where no move inside the level is accepted.
NOTHING = np.zeros(0)


def best_of(
    crew: Crew,
    X: FloatArray,
    Y: FloatArray,
    window: tuple[int, int],
    radii: IntArray,
    constant: FloatArray,
    divisor: FloatArray,
    values: FloatArray,
    table: RadiusArray,
) -> None:
    """Write ``min_k (constant + H_k) / divisor`` over ``radii``, and the smallest radius that attains it.

    ``X`` (or nothing), ``Y``, ``values`` and ``table`` have shape ``(2**N,)``; only suffixes whose weight lies in
    ``window`` are written.  Where all radii are infinite the table is left as it is.
    """
    N = Y.size.bit_length() - 1

    def work(head: int, plan: Layout, scratch: FloatArray) -> None:
        best_radii(head, X, Y, plan, scratch, *window, radii, constant, divisor, values, table)

    _walk(crew, N, radii, work, window)


def extremes_above(crew: Crew, Y: FloatArray, radii: IntArray) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest ``D_{k-1} Y`` among the suffixes of every weight, shape ``(N + 1, radii)`` each."""
    N = Y.size.bit_length() - 1
    shape = (N + 1, int(radii[-1]) + 1)

    def work(head: int, plan: Layout, scratch: FloatArray) -> tuple[FloatArray, FloatArray]:
        low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
        extremes(head, Y, plan, scratch, low, high)
        return low, high

    found = _walk(crew, N, radii, work, (0, N))
    low = np.minimum.reduce([low for low, _ in found])
    high = np.maximum.reduce([high for _, high in found])
    return low[:, radii], high[:, radii]


def mean_after(
    crew: Crew,
    X: FloatArray,
    Y: FloatArray,
    window: tuple[int, int],
    radii: IntArray,
    offspring: FloatArray,
    policy: NDArray[Any],
    means: FloatArray,
) -> None:
    """Write the mean of ``X`` and ``Y`` over the accepted offspring of a policy, rejected ones counting zero.

    ``radii`` are those the policy uses and the level may accept, ``offspring`` their numbers of offspring.
    ``policy`` holds a radius for every suffix, shape ``(2**N,)``, or probabilities ``(2**N, radii.size)``.
    """
    N = Y.size.bit_length() - 1
    share = np.zeros(256)
    share[radii] = 1.0 / offspring

    def work(head: int, plan: Layout, scratch: FloatArray) -> None:
        if policy.ndim == 1:
            follow_table(head, X, Y, plan, scratch, *window, policy, share, means)
        else:
            follow_mix(head, X, Y, plan, scratch, *window, radii, policy, share, means)

    _walk(crew, N, radii, work, window)


def _walk(
    crew: Crew,
    N: int,
    radii: IntArray,
    work: Callable[[int, Layout, FloatArray], Result],
    window: tuple[int, int],
) -> list[Result]:
    """Run ``work`` on every block that has targets with a weight inside the window."""
    plan = layout(N, int(radii[0]), int(radii[-1]))
    heads = [
        head
        for head in range(1 << plan.heads)
        if head.bit_count() <= window[1] and head.bit_count() + N - plan.heads >= window[0]
    ]
    return crew.map(lambda head, scratch: work(head, plan, scratch), heads, plan.size)
