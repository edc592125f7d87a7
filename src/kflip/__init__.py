"""kflip: benchmarks of parameter control whose optimal policy is known exactly."""

from __future__ import annotations

from kflip import envs, rules
from kflip.analysis import (
    action_values,
    best_lo_only,
    hit_ratio,
    regret_by_state,
    runtime_distribution,
    visits,
)
from kflip.errors import FileFormatError, InputError, TooLargeError
from kflip.evaluation import Evaluation, evaluate
from kflip.export import export
from kflip.files import load, load_policy, save
from kflip.information import compare
from kflip.objectives import leading_ones, lo_om, one_max
from kflip.policy import Policy, StochasticPolicy
from kflip.portfolio import Portfolio
from kflip.setting import Setting
from kflip.simulate import Runs, simulate
from kflip.solution import Solution, solve
from kflip.transitions import Transitions, transitions
from kflip.verify import Verification, verify

__version__ = "0.1.0"

__all__ = [
    "Evaluation",
    "FileFormatError",
    "InputError",
    "Policy",
    "Portfolio",
    "Runs",
    "Setting",
    "Solution",
    "StochasticPolicy",
    "TooLargeError",
    "Transitions",
    "Verification",
    "action_values",
    "best_lo_only",
    "compare",
    "envs",
    "evaluate",
    "export",
    "hit_ratio",
    "leading_ones",
    "lo_om",
    "load",
    "load_policy",
    "one_max",
    "regret_by_state",
    "rules",
    "runtime_distribution",
    "save",
    "simulate",
    "solve",
    "transitions",
    "verify",
    "visits",
]
