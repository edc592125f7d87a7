"""DACBench: the same environments behind its interface, with its configuration and its instance files.

``KflipBenchmark`` takes the configuration keys of DACBench's Theory benchmark and gives environments of the same law,
for LeadingOnes, and for (LeadingOnes, OneMax) too.  They differ where they have to:

* DACBench's Theory environment returns ``terminated`` and ``truncated`` in each other's place, and counts reaching the
  evaluation limit as the former.  Here ``terminated`` is the optimum and ``truncated`` the limit.
* ``optimal_r`` is the exactly optimal radius among ``action_choices``, where DACBench shows ``floor(n / (f(x) + 1))``.

As there, ``cutoff`` counts evaluations, the start's included; training environments take ``0.8 n^2`` instead; an
instance that brings a seed is seeded with it at each of its episodes; and ``imp_div_evals`` and ``imp`` subtract 1/2.

This module needs DACBench; the rest of kflip does not.
"""

from __future__ import annotations

import csv
import re
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dacbench
import gymnasium
import numpy as np
from dacbench.abstract_benchmark import AbstractBenchmark, objdict
from numpy.typing import NDArray

from kflip.envs.instances import Instance
from kflip.envs.rls import RLSEnv
from kflip.errors import FileFormatError, InputError, unknown_word
from kflip.setting import Setting

DEFAULTS: dict[str, Any] = {
    "observation_description": "n, f(x)",
    "reward_range": [-np.inf, np.inf],
    "reward_choice": "imp_minus_evals",
    "cutoff": 1_000_000,
    "seed": 0,
    "objective": "lo",
    "selection": "standard",
    "instance_set_path": "lo_rls_50.csv",
    "action_choices": [1, 2, 4, 8, 16],
    "benchmark_info": {
        "identifier": "kflip",
        "name": "RLS with a controlled radius, optimal policy known exactly",
        "reward": "see reward_choice",
        "state_description": "see observation_description",
    },
    "name": "kflip",
}

#: Rewards: our name, whether the evaluation limit divides it, and what is added to each.
REWARD_CHOICES: dict[str, tuple[str, bool, float]] = {
    "minus_evals": ("minus-iterations", False, 0.0),
    "minus_evals_normalised": ("minus-iterations", True, 0.0),
    "imp_minus_evals": ("improvement-minus-iterations", False, 0.0),
    "imp_minus_evals_normalised": ("improvement-minus-iterations", True, 0.0),
    "imp_div_evals": ("improvement-over-iterations", False, -0.5),
    "imp": ("improvement-over-iterations", False, -0.5),
    "potential": ("potential", False, 0.0),
}

#: How far back ``r_{t-i}`` and ``f(x)_{t-i}`` may look, plus 1.
HISTORY = 5

_PLAIN: dict[str, Callable[[KflipDACEnv], float]] = {
    "n": lambda env: env.rls.setting.n,
    "f(x)": lambda env: env.history_fx[-1],
    "om": lambda env: env.om,
    "delta_f(x)": lambda env: env.history_fx[-1] - env.history_fx[-2],
    "r": lambda env: env.history_r[-1],
    "optimal_r": lambda env: env.optimal_r,
}


def read_instances(path: str | Path) -> dict[int, dict[str, Any]]:
    """Read an instance file: here, or among those that come with DACBench.

    Columns are an id, ``size``, ``initObj`` (``random`` or a number: the LO of a random start) and perhaps ``seed``.
    """
    place = Path(path)
    if not place.is_file():
        place = Path(dacbench.__file__).parent / "instance_sets" / "theory" / path
    if not place.is_file():
        raise InputError(f"no instance file {path}, neither here nor among those of DACBench")
    with place.open(newline="") as file:
        rows = csv.DictReader(file)
        names = rows.fieldnames or []
        if not {"size", "initObj"} <= set(names):
            raise FileFormatError(f"{place} needs the columns size and initObj, not {', '.join(names)}")
        try:
            found = {int(row[names[0]]): _instance(row) for row in rows}
        except (ValueError, TypeError, AttributeError) as error:  # a short row holds None
            raise FileFormatError(f"{place} has a row that does not fit: {error}") from None
    if not found:
        raise FileFormatError(f"{place} holds no instance")
    return found


def _instance(row: Mapping[str, str]) -> dict[str, Any]:
    start = row["initObj"].strip()
    instance: dict[str, Any] = {"size": int(row["size"]), "initObj": start if start == "random" else int(start)}
    if row.get("seed"):
        instance["seed"] = int(row["seed"])
    return instance


class KflipDACEnv(gymnasium.Env[NDArray[Any], Any]):
    """One environment for each instance, taken in turn, shown as ``observation_description`` says."""

    def __init__(self, config: Mapping[str, Any], test_env: bool = False) -> None:
        self.config = config
        self.instance_set: dict[int, dict[str, Any]] = config["instance_set"]
        self.instance_id_list = sorted(self.instance_set)
        self._index = -1
        self._show = [_variable(name.strip()) for name in config["observation_description"].split(",")]
        self._envs = [_environment(config, self.instance_set[j], test_env) for j in self.instance_id_list]
        self._pending: list[int | None] = [None] * len(self._envs)
        largest = max(env.setting.n for env in self._envs)
        self.observation_space = gymnasium.spaces.Box(0, largest, (len(self._show),), np.float64)
        self.action_space = self._envs[0].action_space
        self._first_seed: int | None = config["seed"]
        self.om: int = 0
        self.history_r: deque[int] = deque([0] * HISTORY, maxlen=HISTORY)
        self.history_fx: deque[int] = deque([0] * HISTORY, maxlen=HISTORY)

    @property
    def rls(self) -> RLSEnv:
        """The environment of the present instance."""
        return self._envs[max(0, self._index)]

    @property
    def inst_id(self) -> int:
        """Id of the present instance."""
        return self.instance_id_list[max(0, self._index)]

    @property
    def instance(self) -> dict[str, Any]:
        """The present instance."""
        return self.instance_set[self.inst_id]

    @property
    def optimal_r(self) -> int:
        """The optimal radius of the present state."""
        place = (self.history_fx[-1], self.om)
        return int(self.rls.optimal_policy.table[place if self.rls.setting.state == "lo-om" else place[:1]])

    def get_inst_id(self) -> int:
        """Id of the present instance, by DACBench's name."""
        return self.inst_id

    def get_instance_set(self) -> dict[int, dict[str, Any]]:
        """All instances, by DACBench's name."""
        return self.instance_set

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode of the next instance; without a seed the first reset takes that of the configuration."""
        seed, self._first_seed = (self._first_seed if seed is None else seed), None
        super().reset(seed=seed)
        if seed is not None:
            self._index = -1
            self._pending = [int(s) for s in self.np_random.integers(0, 2**63, size=len(self._envs))]
        self._index = (self._index + 1) % len(self._envs)
        fresh = self.instance.get("seed", self._pending[self._index])
        self._pending[self._index] = None
        _, info = self.rls.reset(seed=fresh, options=options)
        self.om = info["om"]
        self.history_r.extend([0] * HISTORY)
        self.history_fx.extend([info["lo"]] * HISTORY)
        return self._observation(), info

    def step(self, action: Any) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Flip as many bits as the chosen entry of ``action_choices`` says."""
        if isinstance(action, (list, np.ndarray)) and np.size(action) == 1:
            action = np.asarray(action).reshape(())[()]
        _, reward, terminated, truncated, info = self.rls.step(action)
        self.om = info["om"]
        self.history_r.append(info["k"])
        self.history_fx.append(info["lo"])
        return self._observation(), reward, terminated, truncated, info

    def close(self) -> None:
        """Close the environments of all instances."""
        for env in self._envs:
            env.close()

    def _observation(self) -> NDArray[Any]:
        return np.array([show(self) for show in self._show], dtype=np.float64)


class KflipBenchmark(AbstractBenchmark):  # type: ignore[misc]
    """A benchmark of DACBench whose optimal policy is known.

    Parameters
    ----------
    config
        Entries that replace those of :data:`DEFAULTS`: ``action_choices`` (the radii), ``reward_choice`` (one of
        :data:`REWARD_CHOICES`), ``observation_description`` (names out of ``n, f(x), om, delta_f(x), r, optimal_r,
        r_{t-0..4}, f(x)_{t-0..4}``), ``cutoff``, ``instance_set_path``, ``objective``, ``selection``, ``seed``.
    """

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = dict(config or {})
        for key in given:
            if key not in DEFAULTS:
                raise unknown_word("configuration key", key, DEFAULTS)
        self.config = objdict({**DEFAULTS, **given})
        self.read_instance_set()

    def read_instance_set(self) -> None:
        """Read the instances of ``instance_set_path``."""
        self.config["instance_set"] = read_instances(self.config["instance_set_path"])

    def get_environment(self, test_env: bool = False) -> gymnasium.Env[Any, Any]:
        """An environment of the present configuration; one for training has ``0.8 n^2`` evaluations."""
        env: gymnasium.Env[Any, Any] = KflipDACEnv(self.config, test_env)
        for wrap in self.wrap_funcs:
            env = wrap(env)
        return env

    def get_benchmark(self, seed: int = 0) -> gymnasium.Env[Any, Any]:
        """The environment with the benchmark's defaults, for tests, and this seed."""
        self.config = objdict({**DEFAULTS, "seed": seed})
        self.read_instance_set()
        return self.get_environment(test_env=True)


def _variable(name: str) -> Callable[[KflipDACEnv], float]:
    if name in _PLAIN:
        return _PLAIN[name]
    match = re.fullmatch(rf"(r|f\(x\))_{{t-([0-{HISTORY - 1}])}}", name)
    if match is None:
        raise unknown_word("observation", name, (*_PLAIN, "r_{t-0..4}", "f(x)_{t-0..4}"))
    back = int(match[2]) + 1
    return (lambda env: env.history_r[-back]) if match[1] == "r" else (lambda env: env.history_fx[-back])


def _environment(config: Mapping[str, Any], instance: Mapping[str, Any], test_env: bool) -> RLSEnv:
    choice = config["reward_choice"]
    if choice not in REWARD_CHOICES:
        raise unknown_word("reward_choice", choice, REWARD_CHOICES)
    radii = list(config["action_choices"])
    if radii != sorted(set(radii)):
        raise InputError(f"action_choices must ascend, not {radii}")
    n = instance["size"]
    evaluations = int(config["cutoff"] if test_env else 0.8 * n * n)
    reward, divided, shift = REWARD_CHOICES[choice]
    state = "lo" if config["objective"] == "lo" else "lo-om"
    return RLSEnv(
        Setting(n, config["objective"], config["selection"], state, radii),
        reward=reward,
        reward_scale=1.0 / evaluations if divided else 1.0,
        reward_shift=shift,
        max_iterations=max(1, evaluations - 1),
        instances=[Instance(start=None if instance["initObj"] == "random" else instance["initObj"])],
        action_mask=False,
    )
