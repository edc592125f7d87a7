"""Where a run spends its time, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kflip._typing import FloatArray
from kflip.analysis.request import LoChain, StartLike, chain_of, known_policy
from kflip.compilation import announce
from kflip.exact import occupancy
from kflip.exact.occupancy import visits_lo, visits_lo_om
from kflip.exact.sweeps import Progress
from kflip.policy import AnyPolicy, PolicyLike
from kflip.rules import Rule
from kflip.setting import Setting


@dataclass(frozen=True, eq=False)
class Visits:
    """How a policy's runs use the states.

    Attributes
    ----------
    setting, policy, start
        What was followed, and from where; ``start`` None stands for a uniformly random string.
    expected
        Expected iterations spent in every state, in the shape of ``policy.table``: 0 where no state exists and at the
        optimum, ``inf`` where a run may get stuck.  They sum to the expected runtime.
    probability
        Probability that a run is ever in the state, same shape; at the optimum, that it finishes.
    unfinished
        Probability that a run gets stuck in a state that it can never leave.
    """

    setting: Setting
    policy: AnyPolicy
    start: StartLike
    expected: FloatArray
    probability: FloatArray
    unfinished: float

    def __post_init__(self) -> None:
        self.expected.flags.writeable = False
        self.probability.flags.writeable = False

    def __repr__(self) -> str:
        return f"Visits({self.policy.name} on {self.setting}; {self.expected.sum():.6g} iterations)"


def visits(
    setting: Setting,
    policy: PolicyLike | Rule,
    start: StartLike = None,
    *,
    progress: Progress | None = None,
) -> Visits:
    """Expected iterations in every state, and the chance to be there at all.

    Parameters
    ----------
    setting
        The benchmark, seeing ``"lo"`` or ``"lo-om"``.
    policy
        Whatever :func:`kflip.evaluate` takes.
    start
        None for a uniformly random string, ``(lo, om)`` for a random one of that state; a setting that sees LO
        alone takes ``lo`` as well.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> from kflip.setting import Setting
    >>> visits(Setting(2), "one-bit").expected
    array([[0.25, 0.75, 0.  ],
           [0.  , 0.75, 0.  ],
           [0.  , 0.  , 0.  ]])
    """
    chosen = known_policy(setting, policy)
    chain = chain_of(setting, chosen, start)
    if isinstance(chain, LoChain):
        expected, probability = visits_lo(chain.p, chain.first)
        return Visits(setting, chosen, start, expected, probability, stuck_mass(expected, probability))
    announce(occupancy.sweep)
    expected, probability, entered = visits_lo_om(
        chain.n, chain.mode, chain.table, chain.radii, chain.probabilities, chain.start, progress
    )
    unfinished = stuck_mass(expected, probability)
    if setting.state == "lo":
        expected, probability = expected.sum(axis=1), entered
    return Visits(setting, chosen, start, expected, probability, unfinished)


def stuck_mass(expected: FloatArray, probability: FloatArray) -> float:
    """Probability that a run ends in a state where it stays for ever."""
    return float(probability[np.isinf(expected)].sum())
