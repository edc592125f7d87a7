"""The two kernels of the forward recursion against dense inverses."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from kflip.exact.elimination import Chain, chain_space, eliminate
from kflip.exact.occupancy import diagonal_of_inverse, random_start, substitute_transposed


def random_chain(size: int, seed: int) -> Chain:
    """Moves inside envelopes of random widths, some rows without any; exits over many orders of magnitude."""
    rng = np.random.default_rng(seed)
    chain = chain_space(size)
    for a in range(size):
        below, above = rng.integers(0, size // 2 + 1, size=2).tolist()
        first, last = max(0, a - below), min(size - 1, a + above)
        if rng.random() < 0.2:
            first = last = a
        chain.moves[a] = np.nan
        chain.moves[a, first : last + 1] = rng.random(last - first + 1) * (rng.random(last - first + 1) < 0.6)
        chain.moves[a, a] = 0.0
        chain.first[a], chain.last[a] = first, last
        chain.leave[a] = 10.0 ** rng.uniform(-12, 0)
    return chain


def exact_inverse(chain: Chain, size: int) -> list[list[Fraction]]:
    """Gauss-Jordan in fractions: the floating-point diagonal itself would lose the small exits."""
    moves = [[Fraction(float(x)) if np.isfinite(x) else Fraction(0) for x in row] for row in chain.moves]
    rows = [[-x for x in row] + [Fraction(int(a == b)) for b in range(size)] for a, row in enumerate(moves)]
    for a in range(size):
        rows[a][a] = Fraction(float(chain.leave[a])) + sum(moves[a], Fraction(0))
    for s in range(size):
        pivot = rows[s][s]
        rows[s] = [x / pivot for x in rows[s]]
        for r in range(size):
            if r != s and rows[r][s]:
                factor = rows[r][s]
                rows[r] = [x - factor * y for x, y in zip(rows[r], rows[s], strict=True)]
    return [row[size:] for row in rows]


@pytest.mark.parametrize("size", [1, 2, 7, 16])
@pytest.mark.parametrize("seed", range(3))
def test_small_relative_error(size: int, seed: int) -> None:
    chain = random_chain(size, seed)
    inverse = np.array([[float(x) for x in row] for row in exact_inverse(chain, size)])
    entering = np.random.default_rng(seed).random(size)
    eliminate(size, chain)
    diagonal, result = np.zeros(size), np.zeros(size)
    diagonal_of_inverse(size, chain, np.full((size, size), np.nan), diagonal)
    np.testing.assert_allclose(diagonal, np.diag(inverse), rtol=1e-13)
    substitute_transposed(size, chain, entering.copy(), result)
    np.testing.assert_allclose(result, entering @ inverse, rtol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_random_start(n: int) -> None:
    counts = np.zeros((n + 1, n + 1))
    for x in range(2**n):
        bits = f"{x:0{n}b}"
        counts[len(bits) - len(bits.lstrip("1")), bits.count("1")] += 1
    np.testing.assert_allclose(random_start(n), counts / 2**n, rtol=1e-15)
