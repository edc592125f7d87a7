"""Runs of rules with memory against exact answers, on strings and in (LO, OM)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import kflip
from kflip.rules import AdaptiveRule, Memory, self_adjusting
from kflip.simulate.adaptive import steps_of

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


class Around(AdaptiveRule):
    """Radii 1, 2, 4, ... after failures, then again from 1; a success starts from 1 too: a cycle of failures."""

    name = "around"

    def memory(self, setting: kflip.Setting) -> Memory:
        radius = np.array([k for k in (1, 2, 4, 8) if k in setting.radii])
        m = np.arange(radius.size)
        return Memory(radius, np.zeros_like(m), (m + 1) % m.size)


RULES: list[Any] = ["self-adjusting", self_adjusting(1.2, 3, 10), self_adjusting(2.0, 1, 64), Around()]


@pytest.mark.parametrize("level", ["state", "bits"])
@pytest.mark.parametrize("n", [9, 48])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: getattr(rule, "name", rule))
@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_mean_and_deviation(objective: str, selection: str, rule: Any, n: int, level: str) -> None:
    setting = kflip.Setting(n, objective, selection)
    exact = kflip.evaluate(setting, rule)
    runs = kflip.simulate(setting, rule, 10_000, seed=n, level=level)
    assert runs.finished.all()
    assert runs.policy == exact.policy.name
    sample = runs.runtimes.astype(float)
    assert abs(runs.mean - exact.expected_runtime) < 5.0 * exact.std / np.sqrt(len(runs))
    error = exact.std**2 * np.sqrt((float(stats.kurtosis(sample, fisher=False)) - 1.0) / len(runs))
    assert abs(sample.var(ddof=1) - exact.std**2) < 5.0 * error


@pytest.mark.parametrize("level", ["state", "bits"])
def test_starts(level: str) -> None:
    setting = kflip.Setting(12, "lo")
    exact = kflip.evaluate(setting, "self-adjusting-2-2-12")
    runs = kflip.simulate(setting, "self-adjusting-2-2-12", 20_000, seed=5, level=level, start=(3, 8))
    assert abs(runs.mean - exact.values[3, 8]) < 5.0 * exact.stds[3, 8] / np.sqrt(len(runs))
    assert runs.std == pytest.approx(exact.stds[3, 8], rel=0.05)


@pytest.mark.parametrize("level", ["state", "bits"])
@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_repeatable(objective: str, selection: str, level: str) -> None:
    setting = kflip.Setting(24, objective, selection)
    one, two, few = (
        kflip.simulate(setting, "self-adjusting-1.2-2-24", runs, seed=3, level=level, threads=threads)
        for runs, threads in ((900, 1), (900, 3), (40, 2))
    )
    assert (one.runtimes == two.runtimes).all()
    assert (one.runtimes[:40] == few.runtimes).all()
    other = kflip.simulate(setting, "self-adjusting-1.2-2-24", 900, seed=4, level=level)
    assert (one.runtimes != other.runtimes).any()


@pytest.mark.parametrize("level", ["state", "bits"])
@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_trajectories(objective: str, selection: str, level: str) -> None:
    setting = kflip.Setting(16, objective, selection)
    rule = self_adjusting(2.0, 2, 16)
    plain = kflip.simulate(setting, rule, 200, seed=8, level=level)
    runs = kflip.simulate(setting, rule, 200, seed=8, level=level, record="trajectories")
    assert (plain.runtimes == runs.runtimes).all()
    memory = rule.memory(setting)
    for r in range(len(runs)):
        path = runs.trajectory(r)
        assert path.iteration[-1] == runs.runtimes[r]
        assert (path.lo[-1], path.om[-1]) == (16, 16)
        # between recorded changes every iteration fails; on LO standard some recorded ones fail too
        m, t = memory.start, 0
        for row in range(1, path.lo.size):
            m = max(0, m - int(path.iteration[row] - t - 1))
            assert path.k[row] == memory.radius[m]
            old, new = ((int(path.lo[j]), int(path.om[j])) for j in (row - 1, row))
            success = new > old if objective == "loom" else new[0] > old[0]
            m = int((memory.after_success if success else memory.after_failure)[m])
            t = int(path.iteration[row])


@pytest.mark.parametrize("level", ["state", "bits"])
def test_stuck(level: str) -> None:
    """Without radius 1 a string whose last bit alone is wrong can never be left."""
    setting = kflip.Setting(6, "lo", portfolio=[2, 3])
    runs = kflip.simulate(setting, "self-adjusting", 4_000, seed=2, level=level)
    assert runs.stuck.any()
    assert runs.finished.any()
    assert (runs.stuck ^ runs.finished).all()
    assert runs.mean == kflip.evaluate(setting, "self-adjusting").expected_runtime == np.inf


def test_levels_get_stuck_alike() -> None:
    setting = kflip.Setting(6, portfolio=[2, 3])
    shares = [
        kflip.simulate(setting, "self-adjusting-2-1-3", 20_000, seed=s, level=v).stuck.mean()
        for s, v in ((1, "state"), (2, "bits"))
    ]
    assert 0.05 < shares[0] < 0.95
    assert abs(shares[0] - shares[1]) < 5.0 * np.sqrt(0.5 / 20_000)


@pytest.mark.parametrize("level", ["state", "bits"])
def test_cut(level: str) -> None:
    setting = kflip.Setting(32, "lo")
    free = kflip.simulate(setting, "self-adjusting", 300, seed=1, level=level)
    cut = kflip.simulate(setting, "self-adjusting", 300, seed=1, level=level, max_iterations=500)
    assert 0 < cut.finished.sum() < 300
    assert (cut.finished == (free.runtimes <= 500)).all()
    assert (cut.runtimes == np.minimum(free.runtimes, 500)).all()


def test_levels_and_states() -> None:
    """The rule sees nothing, so it jumps in (LO, OM) whatever the state, with the same runs."""
    runs = [
        kflip.simulate(kflip.Setting(10, state=state), "self-adjusting", 50, seed=1)
        for state in ("lo", "lo-om", "bits")
    ]
    assert (runs[0].runtimes == runs[1].runtimes).all()
    assert (runs[0].runtimes == runs[2].runtimes).all()
    with pytest.raises(kflip.InputError, match="needs level='bits'"):
        kflip.simulate(kflip.Setting(4), "self-adjusting", 5, start="0110")
    assert kflip.simulate(kflip.Setting(4), "self-adjusting", 5, start="1111", level="bits").mean == 0.0


def test_least_radius_on_the_way_of_failures() -> None:
    rng = np.random.default_rng(0)
    for _ in range(40):
        size = int(rng.integers(1, 15))
        radius, worse = rng.integers(1, 50, size), rng.integers(0, size, size)
        found = steps_of(radius, worse, worse, 0).least
        for first in range(size):
            met, m = set(), first
            while m not in met:
                met.add(m)
                m = int(worse[m])
            assert found[first] == min(radius[list(met)])
