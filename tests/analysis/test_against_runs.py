"""Laws and visits against 100,000 runs."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.analysis import runtime_distribution, visits
from kflip.simulate import simulate

RUNS = 100_000


@pytest.mark.parametrize(("objective", "selection"), [("loom", "standard"), ("lo", "standard"), ("lo", "strict")])
def test_runs(objective: str, selection: str) -> None:
    setting = kflip.Setting(32, objective, selection)
    policy = kflip.solve(setting).policy
    runs = simulate(setting, policy, runs=RUNS, seed=11, record="trajectories")
    law = runtime_distribution(setting, policy)
    t = np.arange(law.end + 1)
    # Dvoretzky, Kiefer and Wolfowitz: a larger distance has probability below 1e-4
    assert np.abs(law.cdf(t) - runs.ecdf(t)).max() < np.sqrt(np.log(2e4) / (2 * RUNS))
    trajectories = runs.trajectories
    assert trajectories is not None
    spent = np.diff(trajectories.iteration, append=0)
    last = trajectories.ends - 1
    spent[last] = 0
    state = trajectories.lo.astype(np.int64) * 33 + trajectories.om
    visited = visits(setting, policy)
    # time per run and state: the mean and its standard error, runs that never come by counted as 0
    times, inverse = np.unique(trajectories.run * 33**2 + state, return_inverse=True)
    per_run = np.bincount(inverse, weights=spent)
    where = times % 33**2
    mean = np.bincount(where, weights=per_run, minlength=33**2) / RUNS
    square = np.bincount(where, weights=per_run**2, minlength=33**2) / RUNS
    error = np.sqrt((square - mean**2) / RUNS)
    share = np.bincount(where, minlength=33**2) / RUNS
    often = (share > 1e-3).reshape(33, 33)
    often[32, 32] = False
    assert often.sum() > 200
    away = np.abs(mean.reshape(33, 33) - visited.expected)[often] / error.reshape(33, 33)[often]
    assert away.max() < 5
    chance = visited.probability[often]
    assert (np.abs(share.reshape(33, 33)[often] - chance) < 5 * np.sqrt(chance * (1 - chance) / RUNS) + 1e-9).all()
