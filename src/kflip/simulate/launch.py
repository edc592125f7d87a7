"""Simulate: check the request, cut the runs into pieces, and let threads make them.

Every run ends.  In a state with ``LO = i`` a radius up to ``n - i`` improves LO with positive probability, and a
larger one always flips a bit of the prefix and is rejected.  So the states that can never be left are exactly
those whose every possible radius is above ``n - LO``, whatever the policy sees and whichever selection: a run stops
as stuck when it enters one.  From every other state the next improvement is almost surely finitely far away.  It may
still be very far: give ``max_iterations`` to policies that use large radii late.  A rule with memory is stuck once
failures lead to no radius up to ``n - LO`` any more.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from numbers import Integral
from typing import Any

import numpy as np

from kflip._typing import IntArray
from kflip.errors import InputError, unknown_word
from kflip.memory import require
from kflip.policy import AnyPolicy, PolicyLike
from kflip.rules import AdaptiveRule, Rule, as_adaptive, resolve
from kflip.setting import Setting
from kflip.simulate.adaptive import run_states_adaptive, run_strings_adaptive, steps_of
from kflip.simulate.bit_level import run_strings
from kflip.simulate.choices import choices_of
from kflip.simulate.outcomes import FINISHED, STUCK
from kflip.simulate.runs import Runs, Trajectories
from kflip.simulate.starts import AT_STRING, StartLike, start_of
from kflip.simulate.state_level import run_states
from kflip.simulate.streams import hash_seed

LEVELS = ("state", "bits")
RECORDS = ("trajectories",)

#: Iterations after which a run is cut if nothing smaller is asked for; runtimes must fit into 64 bits.
NO_LIMIT = 2**62

#: Pieces per thread: enough to keep all threads busy to the end, few enough to cost nothing.
PIECES = 16


def simulate(
    setting: Setting,
    policy: PolicyLike | Rule | AdaptiveRule,
    runs: int,
    seed: int | None = None,
    *,
    level: str = "state",
    record: str | None = None,
    max_iterations: int | None = None,
    start: StartLike = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Runs:
    """Make independent runs of a policy.

    Parameters
    ----------
    setting, policy
        What to run: a policy, a table, a callable, a rule or its name, as for :func:`kflip.evaluate`.
    runs
        How many, at least 1.
    seed
        A whole number, not negative.  Run ``r`` depends on it, on ``r``, and on what is run: never on ``runs``,
        ``threads`` or ``record``.  None takes a fresh one, kept in the result.
    level
        ``"state"`` jumps in (LO, OM); ``"bits"`` flips real bits, iteration by iteration.  Both have the same
        law; a policy that sees the whole string, or a start at a given string, needs ``"bits"``.
    record
        ``"trajectories"`` keeps the start and every change of (LO, OM); the runs are made twice, first to count.
    max_iterations
        Runs that have not finished by then are cut; None stands for ``2**62``.
    start
        None for a uniformly random string; a tuple ``(lo, om)`` for a random string of that state; a string
        of bits as text, list or array for that one.
    threads
        How many; None takes one for each available processor.
    progress
        Called from this thread with the finished fraction.

    Examples
    --------
    >>> from kflip.setting import Setting
    >>> runs = simulate(Setting(8, state="lo"), lambda lo: 1, runs=100, seed=1)
    >>> runs.runtimes.shape, bool(runs.finished.all())
    ((100,), True)
    """
    runs = _whole("runs", runs, 1)
    limit = NO_LIMIT if max_iterations is None else _whole("max_iterations", max_iterations, 0)
    if limit > NO_LIMIT:
        raise InputError(f"max_iterations goes up to 2**62, not {limit}")
    workers = available_processors() if threads is None else _whole("threads", threads, 1)
    seed = secrets.randbits(63) if seed is None else _whole("seed", seed, 0)
    if level not in LEVELS:
        raise unknown_word("level", level, LEVELS)
    if record is not None and record not in RECORDS:
        raise unknown_word("record", record, RECORDS)
    rule = as_adaptive(policy)
    if level == "state" and setting.state == "bits" and rule is None:
        raise InputError("a policy that sees the whole string needs level='bits'")
    begin = start_of(setting.n, start)
    if level == "state" and begin.kind == AT_STRING:
        raise InputError("a start at a given string needs level='bits'; give (lo, om) for a random one")
    chosen: AnyPolicy | AdaptiveRule
    choices: Any
    kernel: Any
    if rule is not None:
        memory = rule.memory_of(setting)
        chosen, choices = rule, steps_of(memory.radius, memory.after_success, memory.after_failure, memory.start)
        kernel = run_strings_adaptive if level == "bits" else run_states_adaptive
    else:
        chosen = resolve(setting, policy)
        choices = choices_of(chosen)
        kernel = run_strings if level == "bits" else run_states
    key = hash_seed(seed)
    stop = np.zeros(1, dtype=np.int64)
    runtimes = np.zeros(runs, dtype=np.int64)
    endings = np.zeros(runs, dtype=np.uint8)

    def make(ends: IntArray, changes: IntArray, done: float, share: float) -> None:
        def piece(first: int, last: int) -> None:
            what = (setting.n, key, least_gain(setting), choices, begin, limit, stop)
            kernel(first, last, *what, runtimes, endings, ends, changes)

        def report(fraction: float) -> None:
            if progress is not None:
                progress(done + share * fraction)

        _in_pieces(runs, workers, piece, stop, report)

    counts = np.zeros(runs, dtype=np.int64)
    make(counts, np.empty((4, 0), dtype=np.int64), 0.0, 1.0 if record is None else 0.5)
    trajectories = None
    if record is not None:
        ends = np.cumsum(counts)
        rows = int(ends[-1])
        require(32 * rows, f"recording {rows} changes of {runs} runs")
        changes = np.empty((4, rows), dtype=np.int64)
        make(ends - counts, changes, 0.5, 0.5)
        iteration, k, lo, om = changes
        trajectories = Trajectories(iteration, k, lo, om, ends)
    return Runs(
        setting,
        chosen.name,
        level,
        seed,
        max_iterations,
        runtimes,
        endings == FINISHED,
        endings == STUCK,
        trajectories,
    )


def least_gain(setting: Setting) -> int:
    """What OM must gain for an offspring with the parent's LO to be accepted; ``n + 1`` if none is."""
    n = setting.n
    if setting.objective == "lo":
        return -n if setting.selection == "standard" else n + 1
    return 0 if setting.selection == "standard" else 1


def available_processors() -> int:
    """Processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_pieces(
    runs: int,
    workers: int,
    piece: Callable[[int, int], None],
    stop: IntArray,
    report: Callable[[float], None],
) -> None:
    size = -(-runs // (workers * PIECES))
    with ThreadPoolExecutor(workers) as pool:
        try:
            pieces = [pool.submit(piece, first, min(first + size, runs)) for first in range(0, runs, size)]
            for done, future in enumerate(as_completed(pieces), start=1):
                future.result()
                report(done / len(pieces))
        except BaseException:
            # a kernel does not hear an interrupt: tell those at work, and never begin the rest
            stop[0] = 1
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)
