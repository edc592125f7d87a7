"""Checking a solution by another route than the one that produced it, and saying what was proved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kflip._typing import FloatArray
from kflip.evaluation import evaluate
from kflip.exact.rational import prove
from kflip.exact.sweeps import Progress, acceptance
from kflip.setting import Setting
from kflip.solution import Solution, check_bellman, solve

#: Largest n for which exact fractions take about a second.
RATIONAL_N = {"loom": 16, "lo": 10}

#: Relative deviation above which a check fails; correct solutions stay below 1e-12.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Check:
    """One check: what it compared, the largest deviation found, and whether that is small enough."""

    name: str
    deviation: float
    passed: bool
    proves: str


@dataclass(frozen=True)
class Verification:
    """All checks of one solution."""

    checks: list[Check] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)


def verify(solution: Solution, *, progress: Progress | None = None) -> Verification:
    """Check a solution independently of how it was computed.

    The policy is evaluated by elimination on its Markov chain and compared with the values in every state; then
    every radius of the portfolio is tried in every state.  For small n the same is done in exact fractions, which
    proves optimality without any tolerance.
    """
    setting = solution.setting
    half = None if progress is None else lambda done: progress(0.3 * done)
    rest = None if progress is None else lambda done: progress(0.3 + 0.7 * done)
    measured = evaluate(setting, solution.policy, progress=half)
    checks = [
        _check(
            "values of the policy",
            _deviation(solution.values, measured.values),
            "the stored values are those of the stored policy, in every state",
        ),
        _check(
            "expected runtime",
            _deviation(np.array([solution.expected_runtime]), np.array([measured.expected_runtime])),
            "the expected runtime follows from them",
        ),
        _bound(solution) if (setting.objective, setting.state) == ("loom", "lo") else _bellman(solution, rest),
    ]
    result = Verification(checks)
    # fractions need every radius to leave its state, which the checks so far have shown if all values are finite
    small = setting.state == "lo-om" and setting.n <= RATIONAL_N[setting.objective]
    if small and result.passed and not np.isinf(solution.values).any():
        checks.append(_rational(solution))
    return result


def _check(name: str, deviation: float, proves: str) -> Check:
    return Check(name, deviation, bool(deviation <= TOLERANCE), proves)


def _bellman(solution: Solution, progress: Progress | None) -> Check:
    found = check_bellman(solution.setting, solution.values, solution.policy, progress)
    says = f"no policy is faster in any state by more than the factor 1 + {found.delta:.1e}"
    return _check("Bellman equation, every state and radius", found.residual, says)


def _bound(solution: Solution) -> Check:
    """LO alone is no Markov state of loom, so there is no Bellman equation; seeing OM as well bounds it from below."""
    setting = solution.setting
    seen = solve(Setting(setting.n, setting.objective, setting.selection, "lo-om", setting.portfolio)).expected_runtime
    excess = max(seen / solution.lower_bound, solution.lower_bound / solution.expected_runtime) - 1.0
    says = f"a policy that sees LO alone takes at least {seen:.6g}, what the best one that sees (LO, OM) does"
    return _check("lower bound", max(0.0, excess) if np.isfinite(excess) else 0.0, says)


def _deviation(stored: FloatArray, measured: FloatArray) -> float:
    """Largest relative difference; infinite where one is infinite, missing or 0 and the other is not."""
    same = (stored == measured) | (np.isnan(stored) & np.isnan(measured))
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = np.abs(stored - measured) / np.abs(measured)
    return float(np.where(same, 0.0, np.where(np.isfinite(gap), gap, np.inf)).max(initial=0.0))


def _rational(solution: Solution) -> Check:
    setting = solution.setting
    mode = acceptance(setting.objective, setting.selection)
    proof = prove(setting.n, mode, np.array(setting.radii), solution.policy.table)
    gap = max(abs(float(solution.values[s]) - float(v)) / max(float(v), 1.0) for s, v in proof.values.items())
    wrong = len(proof.better) + len(proof.larger)
    says = (
        "the radii are optimal and the smallest optimal ones, proved without tolerance"
        if wrong == 0
        else f"{len(proof.better)} states have a better radius, {len(proof.larger)} a smaller optimal one"
    )
    return Check("exact fractions", gap, wrong == 0 and gap <= TOLERANCE, says)
