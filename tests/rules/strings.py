"""A rule with memory on all strings of a few bits, in fractions: every string together with every memory."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from math import comb, inf

import kflip
from kflip.rules import Memory

State = tuple[int, int]
Moments = tuple[Fraction | float, Fraction | float]


def fitness(setting: kflip.Setting, x: int) -> tuple[int, ...]:
    text = format(x, f"0{setting.n}b")
    lo = len(text) - len(text.lstrip("1"))
    return (lo,) if setting.objective == "lo" else (lo, text.count("1"))


def chain(setting: kflip.Setting, memory: Memory) -> dict[State, dict[State, Fraction]]:
    """Law of the next string and memory, from the definition: every set of flipped positions."""
    n, optimum = setting.n, 2**setting.n - 1
    law: dict[State, dict[State, Fraction]] = {}
    for x in range(optimum):
        for m, k in enumerate(memory.radius.tolist()):
            row: dict[State, Fraction] = defaultdict(Fraction)
            for positions in combinations(range(n), k):
                y = x ^ sum(1 << position for position in positions)
                old, new = fitness(setting, x), fitness(setting, y)
                after = memory.after_success if new > old else memory.after_failure
                kept = y if new > old or (new == old and setting.selection == "standard") else x
                row[kept, int(after[m])] += Fraction(1, comb(n, k))
            law[x, m] = row
    return law


def moments(setting: kflip.Setting, memory: Memory) -> list[Moments]:
    """First and second moment of the remaining time of every string with the first memory."""
    optimum = 2**setting.n - 1
    law = chain(setting, memory)
    endless = _endless(law, optimum)
    inner = {s: row for s, row in law.items() if s not in endless}
    mean = _totals(inner, dict.fromkeys(inner, Fraction(1)), optimum)
    second = _totals(inner, {s: 2 * mean[s] - 1 for s in inner}, optimum)
    found: list[Moments] = []
    for x in range(optimum):
        s = (x, int(memory.start))
        found.append((inf, inf) if s in endless else (mean[s], second[s]))
    return [*found, (Fraction(0), Fraction(0))]


def _endless(law: dict[State, dict[State, Fraction]], optimum: int) -> set[State]:
    """What may come to a place from where the optimum is out of reach."""

    def grow(some: set[State]) -> set[State]:
        while more := {s for s in law.keys() - some if any(after in some for after in law[s])}:
            some = some | more
        return some

    finishing = {s for s, row in law.items() if any(after[0] == optimum for after in row)}
    return grow(law.keys() - grow(finishing))


def _totals(
    law: dict[State, dict[State, Fraction]], cost: dict[State, Fraction], optimum: int
) -> dict[State, Fraction]:
    """Expected sum of the costs, by eliminating one place after the other."""
    rows = {s: {t: p for t, p in row.items() if t[0] != optimum} for s, row in law.items()}
    costs = dict(cost)
    order = list(rows)
    for number, s in enumerate(order):
        row = rows[s]
        stay = row.pop(s, Fraction(0))
        costs[s] /= 1 - stay
        for t in row:
            row[t] /= 1 - stay
        for other in order[number + 1 :]:
            target = rows[other]
            if s in target:
                share = target.pop(s)
                costs[other] += share * costs[s]
                for t, p in row.items():
                    target[t] = target.get(t, Fraction(0)) + share * p
    totals: dict[State, Fraction] = {}
    for s in reversed(order):
        totals[s] = costs[s] + sum((p * totals[t] for t, p in rows[s].items()), Fraction(0))
    return totals
