r"""From one level to the next: averaging over what follows the prefix.

Let :math:`W_i(a)` be the expected remaining time when positions ``1..i+1`` are ones and the :math:`N = n - i - 1`
bits behind them hold :math:`a` ones at random.  Looking at the first of these bits,

.. math:: W_i(a) = \frac{N - a}{N} T_{i+1}(a) + \frac{a}{N} W_{i+1}(a - 1), \qquad W_{n-1}(0) = 0.

One pass of O(N) replaces the sum over every state that an improvement can reach.  A uniformly random start is the
same object one level lower: :math:`E[T] = \sum_a \binom{n}{a} 2^{-n} W_{-1}(a)`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from kflip._typing import FloatArray


@njit(cache=True, nogil=True, error_model="numpy")
def fold(N: int, i: int, values: FloatArray, W: FloatArray) -> None:
    """Turn ``W_{i+1}`` into ``W_i`` in place, given ``values[i+1, :]``; for ``N = 0`` set ``W_{n-1}``."""
    if N == 0:
        W[0] = 0.0
        return
    for a in range(N, -1, -1):
        mean = 0.0
        if a < N:
            mean += (N - a) / N * values[i + 1, i + 1 + a]
        if a > 0:
            mean += a / N * W[a - 1]
        W[a] = mean


@njit(cache=True, nogil=True, error_model="numpy")
def fold_variance(N: int, i: int, values: FloatArray, variances: FloatArray, W: FloatArray, WV: FloatArray) -> None:
    """Turn the mean ``W_{i+1}`` and the variance ``WV_{i+1}`` of the remaining time into those of level ``i``.

    A mixture of two has variance ``u V1 + v V2 + u v (m1 - m2)^2``: no cancellation.
    """
    if N == 0:
        W[0] = WV[0] = 0.0
        return
    for a in range(N, -1, -1):
        u = (N - a) / N
        v = a / N
        if a == N:
            W[a], WV[a] = W[a - 1], WV[a - 1]
        elif a == 0:
            W[a], WV[a] = values[i + 1, i + 1], variances[i + 1, i + 1]
        else:
            m1 = values[i + 1, i + 1 + a]
            m2 = W[a - 1]
            spread = m1 - m2 if np.isfinite(m1) and np.isfinite(m2) else 0.0
            WV[a] = u * variances[i + 1, i + 1 + a] + v * WV[a - 1] + u * v * spread * spread
            W[a] = u * m1 + v * m2


@njit(cache=True, nogil=True, error_model="numpy")
def fold_to(level: int, values: FloatArray) -> FloatArray:
    """``W_level`` (length ``n - level``) from a full table of values; ``level = -1`` is the random start."""
    n = values.shape[0] - 1
    W: FloatArray = np.zeros(n + 1)
    for i in range(n - 1, level - 1, -1):
        fold(n - i - 1, i, values, W)
    return W[: n - level]


def binomial_weights(n: int) -> FloatArray:
    r"""``C(n, a) 2^{-n}`` for ``a = 0..n``, from the mode outwards, normalised by their sum."""
    weights = np.zeros(n + 1)
    mode = n // 2
    upper = np.arange(mode, n)
    lower = np.arange(mode, 0, -1)
    weights[mode] = 1.0
    weights[mode + 1 :] = np.cumprod((n - upper) / (upper + 1.0))
    weights[:mode] = np.cumprod(lower / (n - lower + 1.0))[::-1]
    return weights / weights.sum()


@njit(cache=True, nogil=True, error_model="numpy")
def fold_moments(values: FloatArray, variances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of the runtime given the ones of a random start, shapes (n+1,)."""
    n = values.shape[0] - 1
    W, WV = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n - 1, -2, -1):
        fold_variance(n - i - 1, i, values, variances, W, WV)
    return W, WV


def mean_from_start(values: FloatArray) -> float:
    """Expected runtime from a uniformly random string, given the value of every ``(LO, OM)`` state."""
    if np.isinf(values).any():  # every state is a possible start
        return float("inf")
    return float(binomial_weights(values.shape[0] - 1) @ fold_to(-1, values))


def moments_from_start(values: FloatArray, variances: FloatArray) -> tuple[float, float]:
    """Mean and variance of the runtime from a uniformly random string."""
    if np.isinf(values).any():
        return float("inf"), float("inf")
    W, WV = fold_moments(values, variances)
    weights = binomial_weights(values.shape[0] - 1)
    mean = float(weights @ W)
    return mean, float(weights @ (WV + (W - mean) ** 2))


def mean_over_suffixes(values: FloatArray) -> FloatArray:
    """Value of a random string with given LO, shape (n+1,), from the values of all ``(LO, OM)`` states."""
    n = values.shape[0] - 1
    means = np.zeros(n + 1)
    for lo in range(n):
        row = values[lo, lo:n]
        means[lo] = np.inf if np.isinf(row).any() else binomial_weights(n - lo - 1) @ row
    return means
