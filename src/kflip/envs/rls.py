"""The environment: RLS on LeadingOnes or (LeadingOnes, OneMax), its radius chosen anew at every step."""

from __future__ import annotations

from bisect import bisect_right
from operator import index
from typing import Any, SupportsIndex

import gymnasium
import numpy as np
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from numpy.typing import NDArray

from kflip.envs.episodes import begin_one, step_one
from kflip.envs.model import Model, Options
from kflip.envs.records import EPISODE, RUNNING, TERMINATED, TRUNCATED, Records
from kflip.errors import InputError
from kflip.evaluation import Evaluation, evaluate
from kflip.policy import Policy, PolicyLike
from kflip.rules import AdaptiveRule, Rule
from kflip.setting import Setting
from kflip.simulate.streams import WordArray
from kflip.solution import Solution


class RLSEnv(gymnasium.Env[NDArray[Any], SupportsIndex]):
    """RLS_k as a Markov decision process: an action is the number of a radius in the portfolio.

    Parameters
    ----------
    setting
        The benchmark; its state is what is observed, its portfolio what can be done.
    observation
        ``"integer"`` or ``"normalised"``: see :mod:`kflip.envs.observations`.
    observe_n
        Whether the length follows the state, for training across sizes.
    reward
        ``"minus-iterations"``, ``"improvement-minus-iterations"``, ``"improvement-over-iterations"`` or
        ``"potential"``: see :mod:`kflip.envs.rewards`.
    reward_scale, reward_shift
        Every reward is multiplied by the first, then the second is added.
    clock
        ``"iterations"``: a step is one iteration.  ``"events"``: a step lasts until the state changes, and all its
        iterations are charged; the optimal policy is the same.
    stochasticity
        1 for sampled rewards, 0 for their exact mean given state and action, between them a mixture.
    max_iterations
        Episodes that take so many iterations without the optimum are truncated; None for no limit.
    instances
        Lengths or :class:`~kflip.envs.instances.Instance` to go through, one for each episode.
    instance_order
        ``"cycle"`` takes them in turn, from the first after a seed; ``"sample"`` draws one for each episode.
    ground_truth
        Whether ``info`` tells the optimal radius and the optimal value of the state.
    action_mask
        Whether ``info`` tells which radii can leave the state.

    Notes
    -----
    ``info`` holds ``k`` (the radius of this step, 0 after a reset), ``lo``, ``om`` and ``iterations`` (of the episode
    so far); with several instances the number ``instance`` of the present one; with ``action_mask`` the array
    ``action_mask`` of shape (m,), 1 where ``k <= n - LO``; with ``ground_truth`` ``optimal_radius`` (0 at the optimum)
    and ``value``.

    A radius above ``n - LO`` never leaves its state.  By the clock of events such a step takes all iterations that are
    left and truncates the episode; without ``max_iterations`` it is refused with an
    :class:`~kflip.errors.InputError`, since it would never end.

    Examples
    --------
    >>> env = RLSEnv(Setting(8))
    >>> observation, info = env.reset(seed=1)
    >>> observation, reward, terminated, truncated, info = env.step(0)
    >>> reward, info["k"]
    (-1.0, 1)
    """

    def __init__(self, setting: Setting, *, render_mode: None = None, **options: Any) -> None:
        if render_mode is not None:
            raise InputError(f"nothing is rendered: render_mode must be None, not {render_mode!r}")
        self.model = Model(setting, Options(**options))
        self.observation_space = self.model.observation_space
        self.action_space = self.model.action_space
        self._episodes: Records = np.zeros(1, dtype=EPISODE)
        self._episodes["instance"] = -1
        self._running = self._closed = False
        self._ready = (self._episodes, self.model.laws, self.model.radii, self.model.tables)
        self._shape, self._dtype = self.observation_space.shape, self.observation_space.dtype
        self._actions = int(self.action_space.n)
        self._steps = np.repeat(np.array([1, 0], dtype=np.int8), self._actions)
        self._several = len(self.model.beginnings) > 1
        self._masked = self.model.options.action_mask
        self._more = self._several or self.model.options.ground_truth
        self._refuses = self.model.hopeless_is_refused
        self._enter(0)

    @property
    def setting(self) -> Setting:
        """The setting of the present instance."""
        return self._setting

    @property
    def solution(self) -> Solution:
        """The exact solution of the present instance's setting, computed when first asked for."""
        return self.model.solution(self._setting)

    @property
    def optimal_policy(self) -> Policy:
        """The optimal policy of the present instance's setting."""
        return self.solution.policy

    def evaluate(self, policy: PolicyLike | Rule | AdaptiveRule) -> Evaluation:
        """Evaluate a policy exactly on the present instance's setting, without budget: :func:`kflip.evaluate`."""
        return evaluate(self._setting, policy)

    def action_masks(self) -> NDArray[np.bool_]:
        """Which radii can leave the present state, shape (m,); the name that sb3-contrib looks for."""
        return self._mask(int(self._episodes["lo"][0])).astype(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin an episode; a seed makes all that follows repeatable."""
        if self._closed:
            raise ClosedEnvironmentError("this environment is closed")
        if options:
            raise InputError(f"reset takes no options, not {options!r}")
        super().reset(seed=seed)
        if seed is not None:
            self._episodes["instance"] = -1
        key: WordArray = self.np_random.integers(0, 2**64, size=4, dtype=np.uint64)
        observation = np.empty(self._shape, self._dtype)
        instance, lo, om = begin_one(self._episodes, self.model.laws, self.model.order, key, observation)
        self._enter(instance)
        self._running = True
        info = {"k": 0, "lo": lo, "om": om, "iterations": 0}
        return observation, self._tell(info)

    def step(self, action: SupportsIndex) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Take one step with the radius of that number."""
        if not self._running:
            self._refuse()
        if action.__class__ is not int:
            action = _whole(action)
        if not 0 <= action < self._actions:
            raise InputError(f"an action is a whole number in 0..{self._actions - 1}, not {action!r}")
        if self._refuses:
            self._refuse_hopeless(action)
        observation = np.empty(self._shape, self._dtype)
        reward, ending, k, lo, om, iterations = step_one(*self._ready, action, observation)
        self._running = ending == RUNNING
        info = {"k": k, "lo": lo, "om": om, "iterations": iterations}
        if self._masked or self._more:
            self._tell(info)
        return observation, reward, ending == TERMINATED, ending == TRUNCATED, info

    def close(self) -> None:
        """Close the environment: it can neither be stepped nor reset any more."""
        self._closed = True
        self._running = False

    def _enter(self, instance: int) -> None:
        self._instance = instance
        self._setting = self.model.beginnings[instance].setting
        self._radii, self._n = self._setting.radii, self._setting.n

    def _mask(self, lo: int) -> NDArray[np.int8]:
        # radii ascend, so the mask is a step: a window on ones that are followed by zeros
        first = self._actions - bisect_right(self._radii, self._n - lo)
        return self._steps[first : first + self._actions].copy()

    def _tell(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._masked:
            info["action_mask"] = self._mask(info["lo"])
        if not self._more:
            return info
        if self._several:
            info["instance"] = self._instance
        if self.model.options.ground_truth:
            best = self.solution
            place = self._place(info)
            info["optimal_radius"] = int(best.policy.table[place])
            info["value"] = float(best.values[place])
        return info

    def _place(self, info: dict[str, Any]) -> tuple[int, ...]:
        if self._setting.state == "bits":
            return (int(self._episodes["string"][0]),)
        return (info["lo"],) if self._setting.state == "lo" else (info["lo"], info["om"])

    def _refuse(self) -> None:
        if self._closed:
            raise ClosedEnvironmentError("this environment is closed")
        raise ResetNeeded("no episode is running: call reset() first")

    def _refuse_hopeless(self, action: SupportsIndex) -> None:
        lo, k = int(self._episodes["lo"][0]), self._radii[action]
        if self._n - k < lo < self._n:
            raise InputError(
                f"radius {k} never leaves a state with LO = {lo} for n = {self._n}, and nothing limits the episode:"
                " give max_iterations, or choose by info['action_mask']"
            )


def _whole(action: Any) -> int:
    try:
        return index(action)
    except TypeError:
        raise InputError(f"an action is a whole number, not {action!r}") from None
