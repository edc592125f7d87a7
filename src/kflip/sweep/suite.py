"""Suites: fixed lists of benchmarks with budgets, under ids that never change their meaning.

A benchmark is known as ``kflip-v1/lo-strict-32-powers-of-two``: what, n, portfolio.  Whoever changes a number makes a
new version; the tests hold the hash of every published one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kflip.errors import InputError, unknown_word
from kflip.setting import Setting

SIZES = ("small", "medium", "large")

#: Iterations a learner may spend, by size.
_BUDGETS = {"small": 10**6, "medium": 10**7, "large": 10**8}

_PORTFOLIOS = ("full", "powers-of-two")

#: Objective, selection, state and the three lengths of each kind of benchmark.
_KINDS: dict[str, tuple[str, str, str, tuple[int, int, int]]] = {
    "loom": ("loom", "standard", "lo-om", (16, 32, 64)),
    "loom-bits": ("loom", "strict", "bits", (8, 12, 16)),
    "lo-standard": ("lo", "standard", "lo-om", (16, 32, 64)),
    "lo-strict": ("lo", "strict", "lo-om", (16, 32, 64)),
}


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a suite.

    Attributes
    ----------
    suite, name
        Its id is ``suite/name``.
    kind
        Which of the four problems it is.
    size
        ``"small"``, ``"medium"`` or ``"large"``.
    setting
        The problem.
    budget
        Iterations a learner may spend.
    """

    suite: str
    name: str
    kind: str
    size: str
    setting: Setting
    budget: int

    @property
    def id(self) -> str:
        """``suite/name``."""
        return f"{self.suite}/{self.name}"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"id": self.id, "size": self.size, "setting": self.setting.to_dict(), "budget": self.budget}


def _version_1() -> tuple[Benchmark, ...]:
    return tuple(
        Benchmark(
            "kflip-v1",
            f"{kind}-{n}-{portfolio}",
            kind,
            size,
            Setting(n, objective, selection, state, portfolio),
            _BUDGETS[size],
        )
        for kind, (objective, selection, state, lengths) in _KINDS.items()
        for size, n in zip(SIZES, lengths, strict=True)
        for portfolio in _PORTFOLIOS
    )


#: Every suite, by name.
SUITES: dict[str, tuple[Benchmark, ...]] = {"kflip-v1": _version_1()}


def suite_named(name: str, sizes: tuple[str, ...] = SIZES) -> tuple[Benchmark, ...]:
    """The benchmarks of a suite with one of the given sizes."""
    if name not in SUITES:
        raise unknown_word("suite", name, SUITES)
    for size in sizes:
        if size not in SIZES:
            raise unknown_word("size", size, SIZES)
    return tuple(benchmark for benchmark in SUITES[name] if benchmark.size in sizes)


def benchmark_named(identity: str) -> Benchmark:
    """The benchmark with the id ``suite/name``."""
    suite, slash, _ = identity.partition("/")
    if not slash:
        raise InputError(f"a benchmark's id is suite/name, such as kflip-v1/loom-16-full, not {identity!r}")
    known = {benchmark.id: benchmark for benchmark in suite_named(suite)}
    if identity not in known:
        raise unknown_word("benchmark", identity, known)
    return known[identity]
