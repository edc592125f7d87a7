r"""Rewards by name: what one step earns.

A step takes some iterations, raises LO by ``gain`` and lowers the optimal expected remaining time by ``drop``,
:math:`V(s) - V(s')`.  Each reward is one function of the three.

The potential-shaped reward adds :math:`\Phi(s') - \Phi(s)` with :math:`\Phi = -V` to minus the iterations.  Such a
term leaves every optimal policy optimal (Ng, Harada and Russell, "Policy invariance under reward transformations",
ICML 1999), and with this :math:`\Phi` an optimal step earns 0 on average, any other step minus its advantage.

All but the quotient are linear, so the mean reward of a step is the reward of the means; the quotient is treated in
:mod:`kflip.envs.expectations`.
"""

from __future__ import annotations

from dataclasses import dataclass

from numba import njit

from kflip.errors import unknown_word

MINUS_ITERATIONS, IMPROVEMENT_MINUS_ITERATIONS, IMPROVEMENT_OVER_ITERATIONS, POTENTIAL = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def minus_iterations(iterations: float, gain: float, drop: float) -> float:
    """Minus the iterations: the return is minus the runtime."""
    return -iterations


@njit(cache=True, nogil=True)
def improvement_minus_iterations(iterations: float, gain: float, drop: float) -> float:
    """What LO gained, less the iterations."""
    return gain - iterations


@njit(cache=True, nogil=True)
def improvement_over_iterations(iterations: float, gain: float, drop: float) -> float:
    """What LO gained per iteration."""
    return gain / iterations if iterations > 0.0 else 0.0


@njit(cache=True, nogil=True)
def potential(iterations: float, gain: float, drop: float) -> float:
    """Minus the iterations, shaped by the exact optimal value."""
    return drop - iterations


@njit(cache=True, nogil=True)
def reward_of(code: int, iterations: float, gain: float, drop: float) -> float:
    """Reward by its number in the compiled step."""
    if code == MINUS_ITERATIONS:
        return minus_iterations(iterations, gain, drop)
    if code == IMPROVEMENT_MINUS_ITERATIONS:
        return improvement_minus_iterations(iterations, gain, drop)
    if code == IMPROVEMENT_OVER_ITERATIONS:
        return improvement_over_iterations(iterations, gain, drop)
    return potential(iterations, gain, drop)


@dataclass(frozen=True)
class Reward:
    """A reward's number in the compiled step, whether it needs the optimal values, and one line for the user."""

    code: int
    needs_values: bool
    about: str


#: Every reward, by name.
REWARDS: dict[str, Reward] = {
    "minus-iterations": Reward(MINUS_ITERATIONS, False, "minus the iterations of the step"),
    "improvement-minus-iterations": Reward(IMPROVEMENT_MINUS_ITERATIONS, False, "what LO gained, less the iterations"),
    "improvement-over-iterations": Reward(IMPROVEMENT_OVER_ITERATIONS, False, "what LO gained per iteration"),
    "potential": Reward(POTENTIAL, True, "minus the iterations, shaped by the optimal value"),
}


def reward_named(name: str) -> Reward:
    """The reward of that name."""
    if name not in REWARDS:
        raise unknown_word("reward", name, REWARDS)
    return REWARDS[name]
