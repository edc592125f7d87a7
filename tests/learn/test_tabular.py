"""The tabular learners: they find the optimum where it can be found, and are repeatable."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import kflip
from kflip.errors import InputError
from kflip.learn import LEARNERS, MARKS, learner_named
from kflip.learn.certainty_equivalence import _Counts
from kflip.learn.tabular import backwards, known_values
from kflip.policy import exists
from kflip.transitions import transitions

TABULAR = [name for name, entry in LEARNERS.items() if not entry.deep]

SMALL = [
    kflip.Setting(4, "lo", "strict", portfolio="1,2"),
    kflip.Setting(4, "lo", "standard", portfolio="1,2"),
    kflip.Setting(4, "loom", portfolio="1,3"),
    kflip.Setting(3, "loom", "strict", "bits", "1,3"),
    kflip.Setting(4, "lo", "strict", "lo", "1,2"),
]


@pytest.mark.parametrize("setting", SMALL, ids=str)
@pytest.mark.parametrize("name", TABULAR)
def test_every_learner_finds_the_optimum_of_a_small_setting(name: str, setting: kflip.Setting) -> None:
    training = learner_named(name).train(setting, 1_000_000, 1)
    assert training.score.regret == pytest.approx(0.0, abs=1e-12)
    assert training.score.guarded_regret == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("state", ["lo-om", "bits"])
@pytest.mark.parametrize("name", TABULAR)
def test_budget_marks_and_policies_make_sense(name: str, state: str) -> None:
    setting = kflip.Setting(7, "lo", "strict", state, "powers-of-two")
    training = learner_named(name).train(setting, 20_000, 5)
    spent = [point.iterations for point in training.curve]
    assert len(spent) == MARKS
    assert spent == sorted(spent)
    assert all(at >= mark for at, mark in zip(spent, range(1000, 20_001, 1000), strict=True))
    assert spent[-1] == training.spent == 20_000
    states = exists(7, state)
    assert set(np.unique(training.policy.table[states])) <= set(setting.radii)
    assert not training.policy.table[~states].any()
    assert np.isfinite(training.score.guarded_runtime)
    assert training.curve[-1].regret == training.score.regret
    assert training.curve[-1].guarded_regret == training.score.guarded_regret


@pytest.mark.parametrize("name", TABULAR)
def test_same_seed_same_policy_in_another_process(name: str) -> None:
    setting = kflip.Setting(8, "lo", "strict")
    here = [learner_named(name).train(setting, 30_000, seed) for seed in (3, 3, 4)]
    assert (here[0].policy.table == here[1].policy.table).all()
    assert here[0].curve == here[1].curve
    assert (here[0].policy.table != here[2].policy.table).any()
    code = (
        "import kflip; from kflip.learn import learner_named;"
        f"print(learner_named({name!r}).train(kflip.Setting(8, 'lo', 'strict'), 30_000, 3).policy.table.tolist())"
    )
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert there.stdout.strip() == str(here[0].policy.table.tolist())


def test_what_helps_and_what_fails() -> None:
    setting = kflip.Setting(16, "lo", "strict", portfolio="powers-of-two")
    regret = {name: learner_named(name).train(setting, 1_000_000, 1).score.guarded_regret for name in TABULAR}
    assert regret["certainty-equivalence"] < 0.02
    assert regret["certainty-equivalence"] < regret["q-learning-shaped"] < regret["q-learning"]
    assert regret["q-learning"] > 1.0


@pytest.mark.parametrize("setting", [*SMALL, kflip.Setting(6, "lo"), kflip.Setting(5, state="bits")], ids=str)
def test_planning_on_exact_counts_gives_the_optimum(setting: kflip.Setting) -> None:
    """Counts in proportion to the true probabilities, so many that doubt vanishes."""
    counts = _Counts(setting)
    many = 1e16
    m, states = len(setting.radii), counts.known.size
    pairs = {}
    for state in np.argwhere(exists(setting.n, setting.state)):
        s = int(np.ravel_multi_index(tuple(state), setting.shape))
        for number, k in enumerate(setting.radii):
            counts.spent[s, number] = many
            for after, chance in _law(setting, state, k).items():
                if after != s and chance > 0:
                    counts.left[s, number] += many * chance
                    pairs[(s * m + number) * states + after] = many * chance
    counts.pairs = np.array(sorted(pairs), dtype=np.int64)
    counts.numbers = np.array([pairs[pair] for pair in sorted(pairs)])
    for _ in range(20):  # inside a level of LO standard a hundred sweeps may not be enough
        counts.plan(1.0, 0.5, 2)
    best = kflip.solve(setting)
    where = exists(setting.n, setting.state)
    assert counts.values.reshape(setting.shape)[where] == pytest.approx(best.values[where], rel=1e-6)
    table = np.array(setting.radii)[counts.chosen].reshape(setting.shape)
    assert kflip.evaluate(setting, np.where(where, table, 0)).regret == pytest.approx(0.0, abs=1e-9)


def _law(setting: kflip.Setting, state: np.ndarray, k: int) -> dict[int, float]:
    """Number of the next state and its probability."""
    place = tuple(state.tolist())
    law = transitions(setting, place if len(place) == 2 else place[0], k).next
    numbers = {}
    for after, chance in law.items():
        index = after if isinstance(after, tuple) else (after,)
        numbers[int(np.ravel_multi_index(index, setting.shape))] = float(chance)
    return numbers


def test_states_are_planned_backwards() -> None:
    for setting in (kflip.Setting(5), kflip.Setting(5, "loom", "strict", "bits")):
        place = {int(s): j for j, s in enumerate(backwards(setting))}
        place[int(np.prod(setting.shape)) - 1] = -1
        for state in np.argwhere(exists(5, setting.state)):
            s = int(np.ravel_multi_index(tuple(state), setting.shape))
            for k in setting.radii:
                assert all(place[after] <= place[s] for after in _law(setting, state, k))


def test_the_known_value_is_that_of_one_bit() -> None:
    setting = kflip.Setting(5, "lo", "strict")
    values = kflip.evaluate(setting, "one-bit").values
    known = known_values(setting).reshape(setting.shape)
    assert (known[exists(5, "lo-om")] == values[exists(5, "lo-om")]).all()
    assert not known[~exists(5, "lo-om")].any()


@pytest.mark.parametrize("name", ["certainty-equivalence", "q-learning-shaped"])
def test_learners_that_build_on_one_bit_need_it(name: str) -> None:
    with pytest.raises(InputError, match="k = 1"):
        learner_named(name).train(kflip.Setting(5, portfolio="2,3"), 1000, 1)


def test_unknown_learners_are_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="Did you mean 'q-learning'"):
        learner_named("q-lerning")
