"""Training and scores: budgets, curves, the guard, and hit ratios against brute force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

import kflip
from kflip.errors import InputError
from kflip.learn import MARKS, Learner, Snapshot, guard, score
from kflip.policy import Policy, exists

LO_STRICT = kflip.Setting(6, "lo", "strict")


@dataclass(frozen=True)
class Scripted(Learner):
    """Shows given tables, one for each mark."""

    name: str
    tables: tuple[np.ndarray, ...]
    left: np.ndarray

    def snapshots(self, setting: kflip.Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        for mark, table in zip(marks, self.tables, strict=False):
            yield Snapshot(mark, table, self.left)


def constant(setting: kflip.Setting, k: int) -> np.ndarray:
    return np.full(setting.shape, k)


def test_the_curve_is_exact_and_its_last_point_is_the_final_policy() -> None:
    best = kflip.solve(LO_STRICT)
    tables = tuple([constant(LO_STRICT, 1)] * 5 + [best.policy.table] * 15)
    training = Scripted("scripted", tables, np.ones(LO_STRICT.shape, dtype=bool)).train(LO_STRICT, 2000, 0)
    one_bit = kflip.evaluate(LO_STRICT, "one-bit").regret
    assert [point.iterations for point in training.curve] == [100 * j for j in range(1, 21)]
    assert [point.regret for point in training.curve] == pytest.approx([one_bit] * 5 + [0.0] * 15, abs=1e-14)
    assert training.score.regret == pytest.approx(0.0, abs=1e-14)
    assert training.score.hit_ratio == 1.0
    assert training.score.hit_ratio_time == pytest.approx(1.0)
    assert training.area == pytest.approx(one_bit / 4)
    assert training.spent == 2000
    assert training.optimal_runtime == best.expected_runtime


def test_the_final_policy_is_the_last_not_the_best() -> None:
    best = kflip.solve(LO_STRICT)
    tables = (best.policy.table, constant(LO_STRICT, 1))
    training = Scripted("scripted", tables, np.ones(LO_STRICT.shape, dtype=bool)).train(LO_STRICT, 2000, 0)
    assert training.score.regret == pytest.approx(kflip.evaluate(LO_STRICT, "one-bit").regret)


def test_the_guard_replaces_exactly_what_was_never_left() -> None:
    left = np.zeros(LO_STRICT.shape, dtype=bool)
    left[0, 2] = left[3, 4] = True
    raw = Policy(6, "lo-om", np.where(exists(6, "lo-om"), 3, 0))
    table = guard(LO_STRICT, raw, left).table
    changed = np.argwhere(table != raw.table).tolist()
    states = np.argwhere(exists(6, "lo-om")).tolist()
    assert changed == [state for state in states if state not in ([0, 2], [3, 4])]
    assert set(table[table != raw.table]) == {1}


def test_a_raw_policy_may_never_finish_while_the_guarded_one_does() -> None:
    left = np.zeros(LO_STRICT.shape, dtype=bool)
    training = Scripted("scripted", (constant(LO_STRICT, 6),), left).train(LO_STRICT, 2000, 0)
    assert training.score.regret == np.inf
    assert training.score.guarded_regret == pytest.approx(kflip.evaluate(LO_STRICT, "one-bit").regret)
    assert training.curve[0].regret == np.inf
    assert training.guarded.table[0, 0] == 1


def test_the_area_counts_a_whole_runtime_at_most() -> None:
    left = np.ones(LO_STRICT.shape, dtype=bool)
    training = Scripted("scripted", (constant(LO_STRICT, 6),), left).train(LO_STRICT, 2000, 0)
    assert training.area == 1.0


@pytest.mark.parametrize("portfolio", ["full", "1,3"])
@pytest.mark.parametrize("kind", [("loom", "strict"), ("lo", "standard")])
def test_hit_ratio_of_strings_against_every_radius_of_every_string(kind: tuple[str, str], portfolio: str) -> None:
    setting = kflip.Setting(5, *kind, "bits", portfolio)
    best = kflip.solve(setting)
    rng = np.random.default_rng(3)
    table = np.where(exists(5, "bits"), rng.choice(setting.radii, size=32), 0)
    right = sum(
        int(table[x]) in best.optimal_radii(x=[(x >> (4 - place)) & 1 for place in range(5)]) for x in range(31)
    )
    found = score(best, Policy(5, "bits", table))
    assert 0 < right < 31
    assert found.hit_ratio == pytest.approx(right / 31)
    assert np.isnan(found.hit_ratio_time)


def test_hit_ratio_of_pairs_is_that_of_the_analysis() -> None:
    found = score(kflip.solve(LO_STRICT), kflip.rules.resolve(LO_STRICT, "max-drift"))
    expected = kflip.analysis.hit_ratio(LO_STRICT, "max-drift")
    assert (found.hit_ratio, found.hit_ratio_time) == (expected.states, expected.time)
    assert found.guarded_runtime == found.expected_runtime


@pytest.mark.parametrize(("budget", "seed"), [(MARKS - 1, 0), (2.5, 0), (True, 0), (1000, -1), (1000, None)])
def test_budgets_and_seeds_that_make_no_sense(budget: object, seed: object) -> None:
    learner = Scripted("scripted", (constant(LO_STRICT, 1),), np.ones(LO_STRICT.shape, dtype=bool))
    with pytest.raises(InputError, match="must be a whole number"):
        learner.train(LO_STRICT, budget, seed)


def test_lo_alone_cannot_be_learned_on_loom() -> None:
    learner = Scripted("scripted", (np.ones(5, dtype=int),), np.ones(5, dtype=bool))
    with pytest.raises(InputError, match="not a Markov state"):
        learner.train(kflip.Setting(4, state="lo"), 1000, 0)


def test_a_learner_without_a_policy_is_an_error() -> None:
    with pytest.raises(InputError, match="showed no policy"):
        Scripted("scripted", (), np.ones(LO_STRICT.shape, dtype=bool)).train(LO_STRICT, 1000, 0)
