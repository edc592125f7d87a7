"""A stranger's policy: checked, evaluated exactly, entered once; everything else is refused and leaves no trace."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path

import numpy as np
import pytest

import kflip
from kflip.analysis import hit_ratio
from kflip.errors import FileFormatError, InputError
from kflip.sweep.records import Store
from kflip.sweep.standings import standings_of
from kflip.sweep.submissions import LONGEST_NAME, submit
from kflip.sweep.suite import benchmark_named
from tests.sweep import bad_policies
from tests.sweep.bad_policies import BAD, BENCHMARK, SETTING
from tests.sweep.synthetic import record


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "results")


def saved(path: Path, policy: kflip.policy.PolicyLike, setting: kflip.Setting) -> Path:
    kflip.save(path, kflip.evaluate(setting, policy).policy, setting)
    return path


def test_the_record_of_a_policy(store: Store, tmp_path: Path) -> None:
    setting = kflip.Setting(16)
    entered = submit(saved(tmp_path / "p.npz", "lo-optimal", setting), store, name="their policy")
    (found,) = store
    assert found == json.loads(json.dumps(entered))
    assert found["task"] == {
        "benchmark": "kflip-v1/loom-16-full",
        "setting": setting.to_dict(),
        "budget": None,
        "method": "their policy",
        "options": {"policy_sha256": found["result"]["policy_sha256"]},
        "seed": None,
    }
    expected = kflip.evaluate(setting, "lo-optimal")
    hits = hit_ratio(setting, "lo-optimal")
    assert found["result"] == {
        "spent": None,
        "optimal_runtime": kflip.solve(setting).expected_runtime,
        "score": {
            "expected_runtime": expected.expected_runtime,
            "regret": expected.regret,
            "guarded_runtime": expected.expected_runtime,
            "guarded_regret": expected.regret,
            "hit_ratio": hits.states,
            "hit_ratio_time": hits.time,
        },
        "area": None,
        "curve": [],
        "policy_sha256": found["result"]["policy_sha256"],
    }
    (method,) = standings_of(store).methods
    assert (method.method, method.kind, method.guarded) == ("their policy", "submission", expected.regret)


def test_the_optimal_policy_has_no_regret(store: Store, tmp_path: Path) -> None:
    path = bad_policies.good(tmp_path / "p.npz")
    score = submit(path, store, name="best")["result"]["score"]
    assert score["regret"] == pytest.approx(0.0, abs=1e-12)
    assert (score["hit_ratio"], score["hit_ratio_time"]) == pytest.approx((1.0, 1.0))


def test_a_solution_file_will_do_as_well(store: Store, tmp_path: Path) -> None:
    kflip.save(tmp_path / "s.npz", kflip.solve(SETTING))
    assert submit(tmp_path / "s.npz", store, name="best")["task"]["benchmark"] == BENCHMARK


def test_twice_is_once(store: Store, tmp_path: Path) -> None:
    path = bad_policies.good(tmp_path / "p.npz")
    first = submit(path, store, name="best")
    assert submit(path, store, name="best") == first
    assert len(list(store)) == 1
    other = saved(tmp_path / "q.npz", "one-bit", SETTING)
    with pytest.raises(InputError, match=f"'best' has entered {BENCHMARK} with another policy"):
        submit(other, store, name="best")
    submit(other, store, name="other")
    assert len(list(store)) == 2


def test_a_policy_that_may_never_finish(store: Store, tmp_path: Path) -> None:
    entered = submit(saved(tmp_path / "p.npz", "constant-2", SETTING), store, name="twos")
    assert entered["result"]["score"]["regret"] == "inf"
    assert standings_of(store).methods[0].unfinished == 1


@pytest.mark.parametrize("identity", [BENCHMARK, "kflip-v1/lo-strict-16-full"])
def test_stochastic_policies(identity: str, store: Store, tmp_path: Path) -> None:
    setting = benchmark_named(identity).setting
    entered = submit(saved(tmp_path / "p.npz", "random-radius", setting), store, name="dice")
    assert entered["task"]["benchmark"] == identity
    score, hits = entered["result"]["score"], hit_ratio(setting, "random-radius")
    assert score["regret"] == kflip.evaluate(setting, "random-radius").regret
    assert (score["hit_ratio"], score["hit_ratio_time"]) == (hits.states, hits.time)


def test_stochastic_policies_of_strings_have_no_hit_ratio(store: Store, tmp_path: Path) -> None:
    setting = benchmark_named("kflip-v1/loom-bits-8-full").setting
    table = np.full((*setting.shape, 8), 1 / 8)
    score = submit(saved(tmp_path / "p.npz", table, setting), store, name="dice")["result"]["score"]
    assert score["regret"] == pytest.approx(kflip.evaluate(setting, "random-radius").regret)
    assert (score["hit_ratio"], score["hit_ratio_time"]) == (None, None)
    assert isnan(standings_of(store).cells["kflip-v1/loom-bits-8-full", "dice"].measures["hits"].median)


def test_another_distribution_is_another_policy(store: Store, tmp_path: Path) -> None:
    radii = np.array([1, 2])
    hashes = set()
    for share in (0.25, 0.5):
        rows = np.broadcast_to([share, 1 - share], (17, 17, 2))
        path = saved(tmp_path / f"{share}.npz", kflip.StochasticPolicy(16, "lo-om", radii, rows), SETTING)
        hashes.add(submit(path, store, name=f"share {share}")["result"]["policy_sha256"])
    assert len(hashes) == 2


def test_an_explicit_list_is_as_good_as_the_name_of_a_portfolio(store: Store, tmp_path: Path) -> None:
    setting = kflip.Setting(16, portfolio=[1, 2, 4, 8, 16])
    entered = submit(saved(tmp_path / "p.npz", "one-bit", setting), store, name="ones")
    assert entered["task"]["benchmark"] == BENCHMARK


def test_fewer_radii_and_a_coarser_state_may_enter_by_name(store: Store, tmp_path: Path) -> None:
    coarse = kflip.Setting(16, "lo", "strict", "lo", [1, 2, 4])
    path = saved(tmp_path / "p.npz", lambda lo: 4 if lo == 0 else 1, coarse)
    with pytest.raises(InputError, match="is no benchmark of kflip-v1"):
        submit(path, store, name="coarse")
    entered = submit(path, store, name="coarse", benchmark="kflip-v1/lo-strict-16-powers-of-two")
    setting = benchmark_named("kflip-v1/lo-strict-16-powers-of-two").setting
    expected = kflip.evaluate(setting, lambda lo, om: 4 if lo == 0 else 1).regret
    assert entered["result"]["score"]["regret"] == pytest.approx(expected, rel=1e-12)
    assert entered["task"]["setting"] == setting.to_dict()


def test_what_is_not_admissible_there(store: Store, tmp_path: Path) -> None:
    full = saved(tmp_path / "full.npz", "constant-3", kflip.Setting(16))
    with pytest.raises(InputError, match=f"full.npz cannot enter {BENCHMARK}: radius 3 is not in the portfolio"):
        submit(full, store, name="x", benchmark=BENCHMARK)
    with pytest.raises(InputError, match="the policy is for n = 16, the setting has n = 32"):
        submit(full, store, name="x", benchmark="kflip-v1/loom-32-full")
    bits = saved(tmp_path / "bits.npz", "one-bit", kflip.Setting(16, state="bits"))
    with pytest.raises(InputError, match="sees 'bits' cannot be used where only 'lo-om' is seen"):
        submit(bits, store, name="x", benchmark=BENCHMARK)
    with pytest.raises(InputError, match="Did you mean 'kflip-v1/loom-16-full'"):
        submit(full, store, name="x", benchmark="kflip-v1/loom-16-ful")
    assert not store.folder.exists()


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(case: str, store: Store, tmp_path: Path) -> None:
    make, message = BAD[case]
    path = make(tmp_path / "p.npz")
    with pytest.raises((FileFormatError, InputError), match=message):
        submit(path, store, name="x")
    assert not store.folder.exists()
    assert not bad_policies.marker_of(path).exists()


@pytest.mark.parametrize(
    "name",
    ["", " ", " x", "x ", "a\nb", "a\tb", "\x1b[31m", "x" * (LONGEST_NAME + 1), "\u202eevil", "zero\u200bwidth"],
    ids=repr,
)
def test_names_that_cannot_be_printed(name: str, store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a name has 1 to 60 printable characters"):
        submit(bad_policies.good(tmp_path / "p.npz"), store, name=name)
    assert not store.folder.exists()


@pytest.mark.parametrize(
    "name",
    ["q-learning", "dqn", "DQN", "one-bit", "constant-7", "self-adjusting-2-4", "ｐｐｏ", "Certainty-Equivalence"],
)
def test_names_that_are_ours(name: str, store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is the name of a method of kflip"):
        submit(bad_policies.good(tmp_path / "p.npz"), store, name=name)
    assert not store.folder.exists()


@pytest.mark.parametrize("name", ["x", "x" * LONGEST_NAME, "<script>alert(1)</script>", "Müller's π [v2]"])
def test_names_that_will_do(name: str, store: Store, tmp_path: Path) -> None:
    submit(bad_policies.good(tmp_path / "p.npz"), store, name=name)
    assert standings_of(store).methods[0].method == name


def test_beside_the_records_of_a_sweep(store: Store, tmp_path: Path) -> None:
    best = kflip.solve(SETTING).expected_runtime
    for seed in range(5):
        store.add(record("learner", BENCHMARK, seed, guarded=0.01, optimum=best))
    submit(bad_policies.good(tmp_path / "p.npz"), store, name="theirs")
    assert standings_of(store).benchmarks[0].best == "theirs"
