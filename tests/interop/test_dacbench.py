"""DACBench: its configuration and instance files, and the law of its Theory environment."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kflip
from kflip.errors import FileFormatError, InputError
from kflip.setting import Setting

# an installation that is there but broken is to fail, not to be skipped
if find_spec("dacbench") is None:
    pytest.skip("DACBench is not installed", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it tells which of its own extras are missing
    import dacbench
    from dacbench.benchmarks import TheoryBenchmark
from gymnasium.utils.env_checker import check_env
from scipy import stats

from kflip.envs.dacbench import REWARD_CHOICES, KflipBenchmark, read_instances

#: Its own observation spaces warn of their precision.
pytestmark = pytest.mark.filterwarnings("ignore:.*precision lowered.*:UserWarning")

FILES = sorted(path.name for path in (Path(dacbench.__file__).parent / "instance_sets" / "theory").glob("*.csv"))


@pytest.fixture
def instances(tmp_path: Path) -> Callable[[str], str]:
    def write(rows: str) -> str:
        path = tmp_path / "instances.csv"
        path.write_text("id,size,initObj\n" + rows)
        return str(path)

    return write


@pytest.mark.parametrize("name", FILES)
def test_its_instance_files_load(name: str) -> None:
    theirs = TheoryBenchmark({"instance_set_path": name}).config["instance_set"]
    ours = read_instances(name)
    assert len(FILES) > 5
    assert {j: (r["size"], str(r["initObj"]), r.get("seed")) for j, r in ours.items()} == {
        j: (r["size"], str(r["initObj"]), r.get("seed")) for j, r in theirs.items()
    }


def test_get_benchmark_is_repeatable_and_follows_gymnasium() -> None:
    def play(seed: int) -> list[Any]:
        env = KflipBenchmark().get_benchmark(seed=seed)
        shown = [env.reset()[0].tolist()]
        return shown + [env.step(j % 5)[0].tolist() for j in range(50)]

    assert play(3) == play(3)
    assert play(3) != play(4)
    check_env(KflipBenchmark().get_benchmark(seed=1), skip_render_check=True)


def test_flags_are_in_their_places(instances: Callable[[str], str]) -> None:
    config = {"instance_set_path": instances("0,6,random\n"), "action_choices": [1], "cutoff": 1000}
    env = KflipBenchmark(config).get_environment(test_env=True)
    env.reset(seed=1)
    terminated = truncated = False
    while not terminated:
        observation, _, terminated, truncated, _ = env.step(0)
        assert not truncated
        assert terminated == (observation[1] == 6)
    env = KflipBenchmark({**config, "cutoff": 4, "instance_set_path": instances("0,60,10\n")}).get_environment(True)
    env.reset(seed=1)
    assert [env.step(0)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]


def test_its_own_flags_are_swapped(instances: Callable[[str], str]) -> None:
    env = TheoryBenchmark({"instance_set_path": instances("0,6,random\n"), "action_choices": [1, 2]}).get_environment(
        True
    )
    env.reset()
    while True:
        observation, _, terminated, truncated, _ = env.step(0)
        if terminated or truncated:
            break
    assert observation[1] == 6
    assert (terminated, truncated) == (False, True)


@pytest.mark.parametrize("choice", ["minus_evals", "imp_minus_evals", "imp_div_evals", "imp", "minus_evals_normalised"])
def test_the_same_law_as_its_theory_benchmark(choice: str, instances: Callable[[str], str]) -> None:
    config: dict[str, Any] = {"instance_set_path": instances("0,8,3\n"), "action_choices": [1, 2, 4]}
    config |= {"reward_choice": choice, "cutoff": 100_000, "observation_description": "f(x)"}
    returns: dict[Any, list[float]] = {}
    for benchmark in (KflipBenchmark, TheoryBenchmark):
        env: Any = benchmark(config).get_environment(True)
        returns[benchmark] = []
        for episode in range(250):
            observation, _ = env.reset(seed=5 if episode == 0 else None)
            total, ended = 0.0, False
            while not ended:
                action = 1 if observation[0] < 4 else 0
                observation, reward, terminated, truncated, _ = env.step(action)
                total += reward
                ended = bool(terminated or truncated)
            returns[benchmark].append(total)
    assert stats.ks_2samp(returns[KflipBenchmark], returns[TheoryBenchmark]).pvalue > 1e-3


def test_observations_by_description(instances: Callable[[str], str]) -> None:
    description = "n, f(x), om, delta_f(x), r, r_{t-1}, f(x)_{t-1}, f(x)_{t-0}, optimal_r"
    config = {
        "instance_set_path": instances("0,9,4\n"),
        "action_choices": [1, 2],
        "observation_description": description,
    }
    env = KflipBenchmark(config).get_environment()
    best = kflip.solve(Setting(9, "lo", state="lo", portfolio=[1, 2])).policy
    before, info = env.reset(seed=2)
    assert before.tolist() == [9, 4, info["om"], 0, 0, 0, 4, 4, best.at(4)]
    previous = 0.0
    for j in range(20):
        observation, _, terminated, _, info = env.step([j % 2])
        expected = [9, info["lo"], info["om"], info["lo"] - before[1], info["k"], previous, before[1], info["lo"]]
        assert observation.tolist() == [*expected, best.table[info["lo"]]]
        if terminated:
            break
        previous, before = info["k"], observation


def test_instances_in_turn_with_their_seeds(tmp_path: Path) -> None:
    path = tmp_path / "set.csv"
    path.write_text("id,size,initObj,seed\n0,20,random,11\n1,30,5,\n2,20,random,11\n")
    env = KflipBenchmark({"instance_set_path": str(path)}).get_environment()
    shown = [env.reset()[0].tolist() for _ in range(6)]
    assert [o[0] for o in shown] == [20, 30, 20, 20, 30, 20]
    assert shown[0] == shown[2] == shown[3] == shown[5]
    assert shown[1][1] == 5
    assert env.unwrapped.get_inst_id() == 2  # type: ignore[attr-defined]


def test_the_objective_with_onemax() -> None:
    config = {"objective": "loom", "observation_description": "f(x), om, optimal_r", "reward_choice": "potential"}
    env = KflipBenchmark({**config, "instance_set_path": "lo_rls_50_random.csv"}).get_environment()
    best = kflip.solve(Setting(50, portfolio=[1, 2, 4, 8, 16]))
    observation, _ = env.reset(seed=1)
    assert observation[2] == best.policy.at(int(observation[0]), int(observation[1]))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"reward_choice": "imp_div_evals_new"}, "unknown reward_choice"),
        ({"observation_description": "n, g(x)"}, "unknown observation"),
        ({"observation_description": "r_{t-9}"}, "unknown observation"),
        ({"action_choices": [4, 2]}, "must ascend"),
        ({"action_choices": [1, 51]}, "above n = 50"),
        ({"instance_set_path": "nowhere.csv"}, "no instance file"),
        ({"cutof": 5}, "Did you mean 'cutoff'"),
    ],
)
def test_bad_configurations(config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        KflipBenchmark(config).get_environment()
    assert "minus_evals" in REWARD_CHOICES


@pytest.mark.parametrize(
    "text", ["id,n\n0,5\n", "id,size,initObj\n", "id,size,initObj\n0,x,random\n", "id,size,initObj\n0\n"]
)
def test_bad_instance_files(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(FileFormatError):
        read_instances(path)


def test_wrappers_apply() -> None:
    benchmark = KflipBenchmark()
    seen: list[Any] = []

    def wrap(env: Any) -> Any:
        seen.append(env)
        return env

    benchmark.wrap_funcs.append(wrap)
    env = benchmark.get_environment()
    assert seen == [env]
    assert np.isfinite(env.reset(seed=1)[0]).all()
