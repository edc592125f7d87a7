"""Many environments stepped by one compiled call, with the rules of Gymnasium's vector environments.

Environment ``j`` has its own random stream, named by the seed and ``j``: results depend neither on how many threads
share the work nor on the other environments.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from numbers import Integral
from typing import Any

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from kflip._typing import BoolArray, FloatArray, IntArray
from kflip.envs.episodes import (
    DISABLED,
    NEXT_STEP,
    SAME_STEP,
    begin_many,
    fill_masks,
    first_hopeless,
    open_streams,
    step_many,
)
from kflip.envs.model import Model, Options
from kflip.envs.records import EPISODE, RUNNING, Records
from kflip.errors import InputError
from kflip.evaluation import Evaluation, evaluate
from kflip.policy import Policy, PolicyLike
from kflip.rules import AdaptiveRule, Rule
from kflip.setting import Setting
from kflip.simulate.streams import WordArray
from kflip.solution import Solution

_AUTORESETS = {
    AutoresetMode.NEXT_STEP: NEXT_STEP,
    AutoresetMode.SAME_STEP: SAME_STEP,
    AutoresetMode.DISABLED: DISABLED,
}

Batch = tuple[NDArray[Any], FloatArray, BoolArray, BoolArray, dict[str, Any]]


class RLSVectorEnv(gymnasium.vector.VectorEnv[NDArray[Any], ArrayLike, NDArray[Any]]):
    """``num_envs`` environments of :class:`kflip.envs.rls.RLSEnv`, whose options apply here too.

    Parameters
    ----------
    setting
        The benchmark.
    num_envs
        How many environments, at least 1.
    autoreset_mode
        ``NEXT_STEP``: the step after an episode's end begins the next one, ignores its action and earns 0.
        ``SAME_STEP``: the step that ends an episode shows the start of the next, its end being in
        ``info["final_obs"]`` and ``info["final_info"]``.  ``DISABLED``: the caller resets, giving the ended ones in
        ``options={"reset_mask": ...}``.
    threads
        How many share a step; from a few thousand environments on, two are worth it.

    Notes
    -----
    With several instances in a cycle, environment ``j`` begins with number ``j`` modulo their count.
    ``optimal_policy`` and ``evaluate`` belong to the first instance's setting.
    """

    def __init__(
        self,
        setting: Setting,
        num_envs: int = 1,
        *,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        threads: int = 1,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        if render_mode is not None:
            raise InputError(f"nothing is rendered: render_mode must be None, not {render_mode!r}")
        for name, value in (("num_envs", num_envs), ("threads", threads)):
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(mode.value for mode in AutoresetMode)
            raise InputError(f"unknown autoreset_mode {autoreset_mode!r}; choose one of {known}") from None
        self.model = Model(setting, Options(**options))
        self.num_envs = int(num_envs)
        self.metadata = {"render_modes": [], "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self.model.observation_space
        self.single_action_space = self.model.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._episodes: Records = np.zeros(self.num_envs, dtype=EPISODE)
        self._started = False
        workers = min(int(threads), self.num_envs)
        self._pool = ThreadPoolExecutor(workers) if workers > 1 else None
        bounds = [self.num_envs * t // workers for t in range(workers + 1)]
        self._pieces = list(pairwise(bounds))

    @property
    def setting(self) -> Setting:
        """The setting of the first instance."""
        return self.model.beginnings[0].setting

    @property
    def solution(self) -> Solution:
        """The exact solution of :attr:`setting`, computed when first asked for."""
        return self.model.solution(self.setting)

    @property
    def optimal_policy(self) -> Policy:
        """The optimal policy of :attr:`setting`."""
        return self.solution.policy

    def evaluate(self, policy: PolicyLike | Rule | AdaptiveRule) -> Evaluation:
        """Evaluate a policy exactly on :attr:`setting`, without budget: :func:`kflip.evaluate`."""
        return evaluate(self.setting, policy)

    def action_masks(self) -> BoolArray:
        """Which radii can leave the present states, shape (num_envs, m)."""
        return self._masks(self._episodes).astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin all episodes, or those of ``options={"reset_mask": ...}``; a seed makes all that follows repeatable."""
        self._refuse_closed()
        chosen = self._chosen(options)
        super().reset(seed=seed)
        if seed is not None or not self._started:
            if not chosen.all():
                raise InputError("a seed, and the first reset, begin all environments: leave out reset_mask")
            key: WordArray = self.np_random.integers(0, 2**64, size=4, dtype=np.uint64)
            open_streams(self._episodes, key, len(self.model.laws))
        self._started = True
        observations = self._empty(self.num_envs)
        begin_many(chosen, self._episodes, self.model.laws, self.model.order, observations)
        return observations, self._infos(self._episodes, chosen)

    def step(self, actions: ArrayLike) -> Batch:
        """Take one step in every environment, shape (num_envs,)."""
        self._refuse_closed()
        if not self._started:
            raise ResetNeeded("no episodes are running: call reset() first")
        chosen = self._checked(actions)
        count = self.num_envs
        observations = self._empty(count)
        rewards = np.empty(count)
        terminated, truncated = np.empty(count, dtype=np.bool_), np.empty(count, dtype=np.bool_)
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        final_observations = self._empty(count if same_step else 0)
        final_episodes: Records = np.zeros(count if same_step else 0, dtype=EPISODE)
        model = self.model

        def piece(first: int, last: int) -> None:
            step_many(
                first,
                last,
                self._episodes,
                model.laws,
                model.order,
                model.radii,
                model.tables,
                chosen,
                _AUTORESETS[self.autoreset_mode],
                observations,
                rewards,
                terminated,
                truncated,
                final_observations,
                final_episodes,
            )

        if self._pool is None:
            piece(0, count)
        else:
            for future in [self._pool.submit(piece, *bounds) for bounds in self._pieces]:
                future.result()
        infos = self._infos(self._episodes, np.ones(count, dtype=np.bool_))
        if same_step and (ended := terminated | truncated).any():
            infos["final_obs"] = _of_ended(final_observations, ended)
            infos["_final_obs"] = ended
            infos["final_info"] = self._infos(final_episodes, ended)
            infos["_final_info"] = ended.copy()
        return observations, rewards, terminated, truncated, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()

    def _empty(self, count: int) -> NDArray[Any]:
        space = self.model.observation_space
        return np.empty((count, *space.shape), space.dtype)

    def _masks(self, episodes: Records) -> NDArray[np.int8]:
        masks = np.empty((self.num_envs, self.model.radii.shape[1]), dtype=np.int8)
        fill_masks(episodes, self.model.laws, self.model.radii, masks)
        return masks

    def _refuse_closed(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("this environment is closed")

    def _chosen(self, options: dict[str, Any] | None) -> BoolArray:
        given = dict(options or {})
        mask = given.pop("reset_mask", None)
        if given:
            raise InputError(f"reset takes the option 'reset_mask' only, not {', '.join(map(repr, given))}")
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        chosen = np.asarray(mask)
        if chosen.dtype != np.bool_ or chosen.shape != (self.num_envs,) or not chosen.any():
            raise InputError(f"reset_mask is an array of {self.num_envs} truth values, at least one of them true")
        return chosen

    def _checked(self, actions: ArrayLike) -> IntArray:
        given = np.asarray(actions)
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            raise InputError(f"actions are {self.num_envs} whole numbers, not {given.dtype} of shape {given.shape}")
        m = int(self.model.action_space.n)
        for extreme in (int(given.min()), int(given.max())):
            if not 0 <= extreme < m:
                raise InputError(f"an action is a whole number in 0..{m - 1}, not {extreme}")
        chosen = given.astype(np.int64)
        if self.autoreset_mode is AutoresetMode.DISABLED and (self._episodes["ending"] != RUNNING).any():
            raise ResetNeeded("episodes have ended: reset them with options={'reset_mask': terminated | truncated}")
        if self.model.hopeless_is_refused:
            j = first_hopeless(self._episodes, self.model.laws, self.model.radii, chosen)
            if j >= 0:
                raise InputError(
                    f"the radius of environment {j} never leaves its state, and nothing limits the episode: give"
                    " max_iterations, or choose by info['action_mask']"
                )
        return chosen

    def _infos(self, episodes: Records, has: BoolArray) -> dict[str, Any]:
        lo = episodes["lo"].copy()
        infos: dict[str, Any] = {"k": episodes["k"].copy(), "lo": lo, "om": lo + episodes["ones"]}
        infos["iterations"] = episodes["iterations"].copy()
        if self.model.options.action_mask:
            infos["action_mask"] = self._masks(episodes)
        if len(self.model.laws) > 1:
            infos["instance"] = episodes["instance"].copy()
        if self.model.options.ground_truth:
            infos["optimal_radius"], infos["value"] = self._truth(episodes)
        for key in list(infos):
            infos["_" + key] = has.copy()
        return infos

    def _truth(self, episodes: Records) -> tuple[IntArray, FloatArray]:
        """Optimal radius and value of every state."""
        radius, value = np.zeros(self.num_envs, dtype=np.int64), np.zeros(self.num_envs)
        for number, beginning in enumerate(self.model.beginnings):
            here = np.flatnonzero(episodes["instance"] == number)
            state, lo = beginning.setting.state, episodes["lo"][here]
            place: tuple[IntArray, ...] = (lo, lo + episodes["ones"][here])
            if state != "lo-om":
                place = (lo,) if state == "lo" else (episodes["string"][here],)
            best = self.model.solution(beginning.setting)
            radius[here], value[here] = best.policy.table[place], best.values[place]
        return radius, value


def _of_ended(observations: NDArray[Any], ended: BoolArray) -> NDArray[Any]:
    """The rows of ended episodes as Gymnasium passes them: an array of objects, None for the others."""
    rows = np.full(len(ended), None, dtype=object)
    for j in np.flatnonzero(ended):
        rows[j] = observations[j]
    return rows
