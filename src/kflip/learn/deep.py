r"""What the deep agents share: the facts they may know, many environments for Stable-Baselines3, snapshots on the way.

A state is the number of its entry in the policy table, flattened.  All that an agent may know of the states is kept in
tables with one row for each: features, which radii can leave it (:math:`k \le n - LO`), and the exact remaining time
:math:`V_1` of always flipping one bit.  So an observation is one whole number, which a replay buffer stores cheaply,
and the network's first layer looks up a row of features.

Stable-Baselines3 draws from the global generators of Python, NumPy and PyTorch.  :func:`apart` seeds them, computes on
one thread, since sums in another order round differently, and puts everything back.  Only one deep agent is trained at
a time in a process; others wait.
"""

from __future__ import annotations

import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv

from kflip._typing import BoolArray, FloatArray, IntArray, RadiusArray
from kflip.envs import RLSVectorEnv
from kflip.errors import TooLargeError
from kflip.evaluation import evaluate
from kflip.learn.training import Learner, Snapshot
from kflip.objectives import bits_of, lo_om_of_all
from kflip.policy import exists
from kflip.rules import constant
from kflip.setting import Setting

#: Held by whoever uses the global generators.
_ONE_AT_A_TIME = Lock()

#: Longest strings whose features are tabulated.
LONGEST_STRING = 20

#: Shaped rewards below this are cut off; flipping one bit earns so little once in ``e**10`` steps.
_LOWEST = -10.0


def episode_limit(n: int) -> int:
    """Iterations after which an episode is cut off: some four times what flipping one bit needs on average."""
    return max(2 * n * n, 16)


class DeepLearner(Learner):
    """A learner of Stable-Baselines3, whose training is one long call: it runs in a thread and hands snapshots out."""

    def check(self, setting: Setting) -> None:
        """Refuse long strings as states: their tables must fit into memory."""
        super().check(setting)
        if setting.state == "bits" and setting.n > LONGEST_STRING:
            raise TooLargeError(f"{self.name} learns on strings of at most {LONGEST_STRING} bits, not {setting.n}")

    @abstractmethod
    def practise(self, setting: Setting, marks: Sequence[int], seed: int, shots: Shots) -> None:
        """Train with a :class:`Curve` that puts its snapshots into ``shots``."""

    def snapshots(self, setting: Setting, marks: Sequence[int], seed: int) -> Iterator[Snapshot]:
        """Snapshots as they come; a caller who stops asking ends the training."""
        shots = Shots()

        def work() -> None:
            try:
                with _ONE_AT_A_TIME, apart(seed) as own:
                    self.practise(setting, marks, own, shots)
                shots.queue.put(None)
            except BaseException as error:  # raised again where the caller waits
                shots.queue.put(error)

        thread = Thread(target=work, daemon=True)
        thread.start()
        try:
            while (item := shots.queue.get()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
        finally:
            shots.unwanted.set()
            thread.join()


class Shots:
    """Where a training puts its snapshots, and whether anybody still wants them."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[Snapshot | BaseException | None] = SimpleQueue()
        self.unwanted = Event()


class Facts:
    """What an agent may know of the states of a setting, before it learns.

    Attributes
    ----------
    states
        Numbers of the states that exist and are not optimal, shape (s,).
    lo, om
        Of every row, shape (rows,); for state ``"lo"``, OM is LO.
    allowed
        Whether a radius can leave the state, shape (rows, m); where none can, the smallest is allowed.
    one_bit
        Expected remaining time of k = 1, shape (rows,); 0 at the optimum and where no state exists.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        n = setting.n
        self.rows = int(np.prod(setting.shape))
        self.radii: IntArray = np.array(setting.radii, dtype=np.int64)
        self.states: IntArray = np.flatnonzero(exists(n, setting.state))
        number = np.arange(self.rows)
        if setting.state == "bits":
            self.lo, self.om = (part.astype(np.int64) for part in lo_om_of_all(n))
        else:
            self.lo, self.om = (number, number) if setting.state == "lo" else divmod(number, n + 1)
        self.allowed: BoolArray = self.radii <= (n - self.lo)[:, None]
        self.allowed[:, 0] = True
        alone = Setting(n, setting.objective, setting.selection, setting.state, [1])
        self.one_bit: FloatArray = np.nan_to_num(evaluate(alone, constant(1)).values).reshape(-1)

    @cached_property
    def features(self) -> NDArray[np.float32]:
        """Shape (rows, f): proportions and logarithms of LO, OM and of what lies behind, LO one-hot, and the bits."""
        n = self.setting.n
        behind = np.maximum(n - self.lo, 1)
        columns = [
            self.lo / n,
            self.om / n,
            (self.om - self.lo) / behind,
            np.log(behind) / np.log(n + 1),
            np.log(self.lo + 1) / np.log(n + 1),
            self.one_bit / self.one_bit.max(),
        ]
        blocks = [np.stack(columns, axis=1), np.eye(n + 1)[self.lo]]
        if self.setting.state == "bits":
            blocks.append(bits_of(np.arange(self.rows), n))
        return np.concatenate(blocks, axis=1).astype(np.float32)

    def rows_of(self, infos: dict[str, Any], observations: NDArray[Any]) -> IntArray:
        """Numbers of the states that an environment tells, shape (environments,)."""
        n = self.setting.n
        if self.setting.state == "bits":
            return np.asarray(observations.astype(np.int64) @ (1 << np.arange(n - 1, -1, -1)))
        lo = infos["lo"]
        return np.asarray(lo if self.setting.state == "lo" else lo * (n + 1) + infos["om"])

    def table(self, choices: IntArray) -> RadiusArray:
        """Policy table from the number of a radius for each of :attr:`states`."""
        table = np.zeros(self.rows, dtype=np.int64)
        table[self.states] = self.radii[choices]
        return table.reshape(self.setting.shape)


class Events(VecEnv):  # type: ignore[misc]
    r"""Many environments by the clock of events, within a common budget of iterations.

    The reward is minus the iterations of the step.  If ``shaped``, the potential :math:`-V_1` is added and the sum
    divided by ``n``: :math:`(V_1(s) - V_1(s') - t) / n`.  Such a term leaves every optimal policy optimal, and only
    uses what is known of k = 1.

    Attributes
    ----------
    spent
        Iterations so far, never above the budget.
    exhausted
        Whether the last step would have gone over the budget; it is neither counted nor to be learned from.
    left
        States seen to be left with each radius, shape (rows, m).
    """

    def __init__(self, facts: Facts, count: int, budget: int, *, shaped: bool) -> None:
        self.facts, self.budget, self.shaped = facts, budget, shaped
        self.worlds = RLSVectorEnv(
            facts.setting,
            count,
            autoreset_mode=AutoresetMode.SAME_STEP,
            clock="events",
            max_iterations=episode_limit(facts.setting.n),
            action_mask=False,
        )
        self.spent = 0
        self.exhausted = False
        self.left: BoolArray = np.zeros(facts.allowed.shape, dtype=np.bool_)
        self._now: IntArray = np.zeros(count, dtype=np.int64)
        space = Box(0, facts.rows - 1, (1,), np.int64)
        super().__init__(count, space, self.worlds.single_action_space)

    def reset(self) -> IntArray:
        """Begin all episodes."""
        observations, infos = self.worlds.reset(seed=self._seeds[0])
        self._now = self.facts.rows_of(infos, observations)
        return self._now[:, None]

    def step_async(self, actions: IntArray) -> None:
        """Keep the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[IntArray, FloatArray, BoolArray, list[dict[str, Any]]]:
        """Step all environments by one compiled call."""
        facts, before = self.facts, self._now
        observations, rewards, terminated, truncated, told = self.worlds.step(self._actions)
        self._now = after = facts.rows_of(told, observations)
        infos: list[dict[str, Any]] = [{}] * self.num_envs
        ended = terminated | truncated
        if ended.any():
            after = after.copy()
            places = np.flatnonzero(ended)
            final = {key: told["final_info"][key][places] for key in ("lo", "om")}
            after[places] = facts.rows_of(final, np.stack(list(told["final_obs"][places])))
            for j in places:
                infos[j] = {"terminal_observation": after[j : j + 1], "TimeLimit.truncated": bool(truncated[j])}
        spent = self.spent - int(rewards.sum())
        self.exhausted = spent > self.budget
        if not self.exhausted:
            self.spent = spent
            moved = after != before
            self.left[before[moved], self._actions[moved]] = True
        if self.shaped:
            gains = rewards + facts.one_bit[before] - facts.one_bit[after]
            rewards = np.maximum(gains / facts.setting.n, _LOWEST)
        return self._now[:, None], rewards, ended, infos

    def close(self) -> None:
        """Let the environments go."""
        self.worlds.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments, which is the same for all."""
        return [getattr(self.worlds, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the environments share their attributes."""
        raise AttributeError(f"{attr_name} cannot be set for single environments")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **options: Any) -> list[Any]:
        """Refused: there are no single environments."""
        raise AttributeError(f"{method_name} cannot be called for single environments")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Nothing is wrapped."""
        return [False] * len(list(self._get_indices(indices)))


class Lookup(BaseFeaturesExtractor):  # type: ignore[misc]
    """Features of a state by its number."""

    def __init__(self, observation_space: Box, table: NDArray[np.float32]) -> None:
        super().__init__(observation_space, table.shape[1])
        self.register_buffer("table", torch.from_numpy(table), persistent=False)

    def forward(self, observations: Any) -> Any:
        """Rows of the table, shape (batch, f)."""
        return self.table[observations.long().squeeze(1)]


class Curve(BaseCallback):  # type: ignore[misc]
    """Takes a snapshot at every mark, and stops the training when the budget of :class:`Events` is spent.

    Parameters
    ----------
    setting
        The benchmark.
    marks
        Ascending numbers of iterations.
    show
        Gives the present policy table.
    shots
        Where the snapshots go.
    """

    def __init__(self, setting: Setting, marks: Sequence[int], show: Callable[[], RadiusArray], shots: Shots) -> None:
        super().__init__()
        self.setting, self.marks, self.show, self.shots = setting, marks, show, shots
        self._taken = 0

    def finish(self) -> None:
        """Marks that were not reached show the final policy."""
        while self._taken < len(self.marks) and not self.shots.unwanted.is_set():
            self._take()

    def seen(self) -> tuple[int, BoolArray]:
        """Iterations spent, and the states seen to be left with each radius, shape (rows, m)."""
        env: Events = self.training_env
        return env.spent, env.left

    def _on_step(self) -> bool:
        if self.training_env.exhausted:
            return False
        return self.look()

    def look(self) -> bool:
        """Take what is due, the last one not before the end of the training; whether to go on."""
        spent, _ = self.seen()
        while self._taken < len(self.marks) - 1 and spent >= self.marks[self._taken]:
            self._take()
        return not self.shots.unwanted.is_set()

    def _take(self) -> None:
        spent, left = self.seen()
        table = self.show()
        chosen = np.searchsorted(self.setting.radii, table.reshape(-1))
        kept = left[np.arange(chosen.size), chosen].reshape(table.shape)
        self.shots.queue.put(Snapshot(spent, table, kept))
        self._taken += 1


@contextmanager
def apart(seed: int) -> Iterator[int]:
    """Global generators seeded with what is yielded, and one thread; both are as before in the end."""
    before = random.getstate(), np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()  # noqa: NPY002
    torch.set_num_threads(1)
    try:
        yield int(np.random.SeedSequence(seed).generate_state(1)[0])
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        torch.set_rng_state(before[2])
        torch.set_num_threads(before[3])
