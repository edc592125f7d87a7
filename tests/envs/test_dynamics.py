"""One step from one state against the exact law of the next state."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import stats

import kflip
from kflip.envs import Instance, RLSVectorEnv
from kflip.objectives import bits_of, index_of
from kflip.setting import Setting
from tests.envs.oracle import KINDS, lo_of, setting_of, states_of

SAMPLES = 4000


def _next_states(setting: Setting, state: Any, k: int, clock: str) -> list[Any]:
    start = bits_of(state, setting.n) if setting.state == "bits" else state
    envs = RLSVectorEnv(setting, SAMPLES, clock=clock, instances=[Instance(start=start)])
    envs.reset(seed=k)
    observations = envs.step(np.full(SAMPLES, k - 1))[0]
    if setting.state == "bits":
        return index_of(observations).tolist()
    return [tuple(row) if setting.state == "lo-om" else row[0] for row in observations.tolist()]


@pytest.mark.parametrize("clock", ["iterations", "events"])
@pytest.mark.parametrize("kind", KINDS, ids="-".join)
def test_law_of_the_next_state(kind: tuple[str, str, str], clock: str) -> None:
    setting = setting_of(kind, 5)
    compared = 0
    for state in states_of(setting)[::2]:
        for k in range(1, 5 - lo_of(setting, state) + 1):
            law = {target: float(p) for target, p in kflip.transitions(setting, state, k).next.items()}
            if clock == "events":
                law.pop(state, None)
            found = _next_states(setting, state, k, clock)
            assert set(found) <= set(law)
            targets = list(law)
            counts = np.array([found.count(target) for target in targets])
            chances = np.array(list(law.values())) / sum(law.values())
            if len(targets) > 1:
                compared += 1
                assert stats.chisquare(counts, SAMPLES * chances).pvalue > 1e-5
    assert compared >= 6


def test_importing_the_environments_is_cheap() -> None:
    check = "import sys, kflip.envs; print(sorted({'torch', 'stable_baselines3', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
