"""How the solvers behave: progress, interrupts, unknown words, memory; and how fixed points are found."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kflip.errors import InputError
from kflip.exact.bits import memory_needed, solve_standard, solve_strict
from kflip.exact.bits.fixed_point import fixed_point

Array = NDArray[np.float64]


@pytest.mark.parametrize("objective", ["lo", "loom"])
@pytest.mark.parametrize("solve", [solve_strict, solve_standard])
def test_progress_rises_to_one(solve: object, objective: str) -> None:
    seen: list[float] = []
    assert callable(solve)
    solve(7, np.arange(1, 8), objective, seen.append)
    assert seen == sorted(seen)
    assert 0.0 < seen[0] < 0.1
    assert seen[-1] == 1.0


def test_an_interrupt_ends_it() -> None:
    def stop(done: float) -> None:
        if done > 0.4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve_strict(14, np.arange(1, 15), "loom", stop)


def test_unknown_objective() -> None:
    with pytest.raises(InputError, match="'loom'"):
        solve_strict(3, np.array([1]), "lomm")
    with pytest.raises(InputError, match="'lo'"):
        solve_standard(3, np.array([1]), "l")


def test_shapes_and_types() -> None:
    values, table, rounds = solve_standard(6, np.arange(1, 7), "lo")
    assert values.shape == table.shape == (64,)
    assert values.dtype == np.float64
    assert table.dtype == np.uint8
    assert values[-1] == table[-1] == 0
    assert rounds > 1


def test_more_information_is_never_worse_and_selection_matters() -> None:
    radii = np.arange(1, 11)
    strict, _ = solve_strict(10, radii, "loom")
    few, _ = solve_strict(10, radii[:3], "loom")
    assert (few >= strict * (1.0 - 1e-13)).all()
    assert few.mean() > strict.mean() * 1.01
    assert not np.allclose(solve_standard(10, radii, "loom")[0], strict, rtol=1e-9)


@pytest.mark.parametrize("selection", ["strict", "standard"])
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_memory_grows_with_n(objective: str, selection: str) -> None:
    needed = [memory_needed(n, objective, selection) for n in range(1, 31)]
    assert needed == sorted(needed)
    # values and radii of all strings at least, and no table of distances
    assert 9 * 2**24 < needed[23] < 150 * 2**24 + 2**28


def test_linear_fixed_point() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.random((30, 30))
    matrix *= 0.95 / matrix.sum(axis=1, keepdims=True)
    start = rng.random(30)
    x, rounds = fixed_point(lambda x: matrix @ x + 1.0, start, 0.95)
    np.testing.assert_allclose(x, np.full(30, 20.0), rtol=1e-13)
    assert rounds < 60


def test_slow_symmetric_contraction_is_accelerated() -> None:
    spectrum = np.linspace(0.1, 0.99, 40)
    x, rounds = fixed_point(lambda x: spectrum * x + 1.0, np.zeros(40), 0.99)
    np.testing.assert_allclose(x, 1.0 / (1.0 - spectrum), rtol=1e-12)
    assert rounds < 400


def test_infinite_entries_spread_along_moves() -> None:
    matrix = np.diag(np.full(5, 0.5), 1)

    def apply(x: Array) -> Array:
        image = np.array([1.0 + sum(w * v for w, v in zip(row, x, strict=True) if w > 0) for row in matrix])
        image[4] = np.inf
        return image

    x, _ = fixed_point(apply, np.zeros(6), 0.5)
    assert np.isinf(x).tolist() == [True] * 5 + [False]
    assert x[5] == 1.0


def test_one_application_if_nothing_leads_back() -> None:
    x, rounds = fixed_point(lambda x: 0.0 * x + 3.0, np.zeros(4), 0.0)
    assert rounds == 1
    assert (x == 3.0).all()


def test_no_fixed_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kflip.exact.bits.fixed_point.MAX_ROUNDS", 100)
    with pytest.raises(ArithmeticError, match="no convergence"):
        fixed_point(lambda x: x + 1.0, np.zeros(2), 0.5)
