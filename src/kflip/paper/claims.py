"""The paper's claims in words, each decided by computation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kflip.exact.sweeps import solve_lo_om
from kflip.information import differences
from kflip.paper.series import published
from kflip.setting import Setting
from kflip.solution import solve

#: Claims we know to be wrong; any other that fails is an error of ours until shown otherwise.
KNOWN_WRONG = frozenset({"policy-iteration-5"})

#: Sizes at which rounds of policy iteration are counted.
ROUNDS_UP_TO = {"quick": 128, "full": 256}


@dataclass(frozen=True)
class Finding:
    """One claim, whether it holds, and what was computed."""

    claim: str
    text: str
    holds: bool
    found: str

    @property
    def verdict(self) -> str:
        """``"checked"`` or ``"refuted"``."""
        return "checked" if self.holds else "refuted"

    @property
    def surprising(self) -> bool:
        """Whether a claim failed that should hold."""
        return not self.holds and self.claim not in KNOWN_WRONG


def check(name: str, effort: str = "full") -> Finding:
    """Decide one claim of ``published.json``; ``effort`` is ``"quick"`` or ``"full"``."""
    claim = next(entry for entry in published()["claims"] if entry["id"] == name)
    holds, found = CHECKS[name](claim, effort)
    return Finding(name, wording(claim), holds, found)


def wording(claim: dict[str, Any]) -> str:
    """The claim as a sentence."""
    if "text" in claim:
        return str(claim["text"])
    lo, om = claim["worst_state"]
    return (
        f"{claim['objective']} {claim['selection']} n={claim['n']}: the worst state is LO={lo}, OM={om},"
        f" {claim['expected_runtime']} iterations"
    )


def _easiest(claim: dict[str, Any], effort: str) -> tuple[bool, str]:
    best = solve(Setting(8))
    values = best.values.copy()
    values[8, 8] = np.nan
    easy, hard = _state_of(np.nanargmin, values), _state_of(np.nanargmax, values)
    k, value = best.policy.at(*easy), float(values[easy])
    holds = (easy, hard, k) == ((0, 0), (3, 3), 8) and abs(value - 1.0) < 1e-12
    return holds, f"easiest {easy}: value {value:.6g} with k = {k}; hardest {hard}: value {values[hard]:.6g}"


def _worst(claim: dict[str, Any], effort: str) -> tuple[bool, str]:
    values = solve(Setting(claim["n"], claim["objective"], claim["selection"])).values
    worst = _state_of(np.nanargmax, values)
    printed = claim["expected_runtime"]  # with two decimals
    holds = worst == tuple(claim["worst_state"]) and abs(float(values[worst]) - printed) <= 0.005
    return holds, f"{worst}: {values[worst]:.4f} iterations"


def _one_bit_zone(claim: dict[str, Any], effort: str) -> tuple[bool, str]:
    table = solve(Setting(128, "lo", "strict")).policy.table
    lo, om = np.nonzero(table)
    ones = table[lo, om] == 1
    first = int(om[ones].min())
    return bool(
        (ones == (om >= 96)).all()
    ), f"{int(ones.sum())} of {ones.size} states have k = 1, the least OM is {first}"


def _strings(claim: dict[str, Any], effort: str) -> tuple[bool, str]:
    found = string_differences(16)
    return len(found) == 4, f"{len(found)} states: " + ", ".join(f"({lo}, {om})" for lo, om in found)


def _rounds(claim: dict[str, Any], effort: str) -> tuple[bool, str]:
    most: dict[int, int] = {}
    for exponent in range(3, ROUNDS_UP_TO[effort].bit_length()):
        n = 1 << exponent
        # every level from k = 1, as in the paper
        _, _, rounds = solve_lo_om(n, "lo", "standard", np.arange(1, n + 1), warm=False)
        most[n] = int(rounds.max())
    listed = ", ".join(map(str, most.values()))
    return max(most.values()) <= 5, f"at most {listed} iterations for n = {', '.join(map(str, most))}"


CHECKS: dict[str, Callable[[dict[str, Any], str], tuple[bool, str]]] = {
    "loom-n8-easiest": _easiest,
    "lo-standard-n128-worst": _worst,
    "lo-strict-n128-worst": _worst,
    "lo-strict-n128-one-bit-zone": _one_bit_zone,
    "bits-n16-different-states": _strings,
    "policy-iteration-5": _rounds,
}


def string_differences(n: int, objective: str = "loom", selection: str = "strict") -> list[tuple[int, int]]:
    """The states (LO, OM) that hold strings with another optimal radius than the state's own."""
    seen = solve(Setting(n, objective, selection))
    strings = solve(Setting(n, objective, selection, "bits"))
    return [(item.lo, item.om) for item in differences(seen, strings)]


def _state_of(pick: Callable[[Any], Any], values: Any) -> tuple[int, int]:
    lo, om = np.unravel_index(pick(values), values.shape)
    return int(lo), int(om)
