"""Both simulators against the exact mean and standard deviation, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import kflip

SETTINGS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]
RUNS = 50_000


def deviations(
    runtimes: np.ndarray[tuple[int, ...], np.dtype[np.int64]], mean: float, std: float
) -> tuple[float, float]:
    """How many standard errors the sample mean and the sample variance are off."""
    sample = runtimes.astype(float)
    size = sample.size
    kurtosis = float(stats.kurtosis(sample, fisher=False))
    error = std**2 * np.sqrt((kurtosis - 1.0) / size)
    return abs(sample.mean() - mean) / (std / np.sqrt(size)), abs(sample.var(ddof=1) - std**2) / error


@pytest.mark.parametrize("level", ["state", "bits"])
@pytest.mark.parametrize("n", [8, 32, 128])
@pytest.mark.parametrize("policy", ["optimal", "one-bit", "lo-optimal"])
@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_mean_and_deviation(objective: str, selection: str, policy: str, n: int, level: str) -> None:
    setting = kflip.Setting(n, objective, selection)
    chosen = kflip.solve(setting).policy if policy == "optimal" else policy
    exact = kflip.evaluate(setting, chosen)
    runs = kflip.simulate(setting, chosen, RUNS, seed=n, level=level)
    assert runs.finished.all()
    off_mean, off_variance = deviations(runs.runtimes, exact.expected_runtime, exact.std)
    assert off_mean < 4.0
    assert off_variance < 4.0


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
def test_a_hundred_thousand_true_runs(objective: str, selection: str) -> None:
    setting = kflip.Setting(32, objective, selection)
    solution = kflip.solve(setting)
    runs = kflip.simulate(setting, solution.policy, 100_000, seed=2025, level="bits")
    off_mean, off_variance = deviations(
        runs.runtimes, solution.expected_runtime, kflip.evaluate(setting, solution.policy).std
    )
    assert off_mean < 4.0
    assert off_variance < 4.0


@pytest.mark.parametrize(("objective", "selection"), SETTINGS)
@pytest.mark.parametrize("policy", ["lo-optimal", "random-radius"])
def test_levels_have_the_same_law(objective: str, selection: str, policy: str) -> None:
    setting = kflip.Setting(16, objective, selection)
    real, jumping = (
        kflip.simulate(setting, policy, 20_000, seed=seed, level=level).runtimes
        for seed, level in ((1, "bits"), (2, "state"))
    )
    assert stats.ks_2samp(real, jumping).pvalue > 1e-3


@pytest.mark.parametrize("level", ["state", "bits"])
def test_threads_do_not_matter(level: str) -> None:
    setting = kflip.Setting(24)
    one, two = (kflip.simulate(setting, "lo-optimal", 5_000, seed=3, level=level, threads=t) for t in (1, 2))
    assert (one.runtimes == two.runtimes).all()
