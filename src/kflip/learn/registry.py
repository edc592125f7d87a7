"""Learners by name.  A deep one is imported when it is asked for: the rest needs no PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

from kflip.errors import InputError, unknown_word
from kflip.learn.certainty_equivalence import CertaintyEquivalence
from kflip.learn.q_learning import QLearning
from kflip.learn.training import Learner


@dataclass(frozen=True)
class Entry:
    """A learner's one line for the user, how it is made, and whether it needs the extra ``learn``."""

    about: str
    make: Callable[[str], Learner]
    deep: bool = False


def _dqn_plain(name: str) -> Learner:
    from kflip.learn.dqn_plain import PlainDQN

    return PlainDQN(name)


def _dqn(name: str) -> Learner:
    from kflip.learn.dqn import DQN

    return DQN(name)


def _ppo(name: str) -> Learner:
    from kflip.learn.ppo import PPO

    return PPO(name)


#: Every learner, by name.
LEARNERS: dict[str, Entry] = {
    "q-learning": Entry(
        "tabular, one iteration a step, nothing known beforehand",
        lambda name: QLearning(name, clock="iterations", shaped=False),
    ),
    "q-learning-events": Entry(
        "tabular, a radius is repeated until the state changes",
        lambda name: QLearning(name, clock="events", shaped=False),
    ),
    "q-learning-shaped": Entry(
        "tabular, by events, beginning from the known value of k = 1",
        lambda name: QLearning(name, clock="events", shaped=True),
    ),
    "certainty-equivalence": Entry(
        "plans on counted transitions, optimistic while exploring, pessimistic in the end",
        CertaintyEquivalence,
    ),
    "dqn-plain": Entry("deep Q-network of Stable-Baselines3 as it comes, one iteration a step", _dqn_plain, deep=True),
    "dqn": Entry("masked double deep Q-network by events, Q = V of k = 1 times (1 + net)", _dqn, deep=True),
    "ppo": Entry(
        "proximal policy optimisation by events, masked, rewards shaped by the value of k = 1", _ppo, deep=True
    ),
}


def learner_named(name: str) -> Learner:
    """The learner of that name, with its default options."""
    if name not in LEARNERS:
        raise unknown_word("learner", name, LEARNERS)
    entry = LEARNERS[name]
    if entry.deep and (find_spec("torch") is None or find_spec("stable_baselines3") is None):
        raise InputError(f"{name} needs Stable-Baselines3: pip install 'kflip[learn]'")
    return entry.make(name)
