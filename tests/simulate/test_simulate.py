"""What simulate promises: reproducible runs, clear endings, recorded changes, and refusals that say why."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kflip import evaluate
from kflip.errors import InputError, TooLargeError
from kflip.policy import Policy, StochasticPolicy
from kflip.setting import Setting
from kflip.simulate import Runs, bit_level, launch, simulate, state_level
from kflip.simulate.choices import choices_of
from kflip.simulate.outcomes import PATIENCE, STOPPED
from kflip.simulate.starts import start_of
from kflip.simulate.streams import hash_seed

LEVELS = ("bits", "state")


def same(left: Runs, right: Runs) -> bool:
    if left.trajectories is None or right.trajectories is None:
        raise AssertionError("compare recorded runs")
    pairs = [(left.runtimes, right.runtimes), (left.finished, right.finished), (left.stuck, right.stuck)]
    pairs += [(getattr(left.trajectories, c), getattr(right.trajectories, c)) for c in ("iteration", "k", "lo", "om")]
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("policy", ["one-bit", "random-radius"])
def test_threads_and_pieces_do_not_matter(level: str, policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting(20, portfolio=[1, 2, 3])

    def make(threads: int, pieces: int) -> Runs:
        monkeypatch.setattr(launch, "PIECES", pieces)
        return simulate(setting, policy, 101, 5, level=level, threads=threads, record="trajectories")

    reference = make(1, 1)
    assert all(same(reference, make(threads, pieces)) for threads, pieces in [(2, 16), (1, 7), (3, 2), (2, 1000)])


@pytest.mark.parametrize("level", LEVELS)
def test_more_runs_extend_fewer_and_recording_changes_nothing(level: str) -> None:
    setting = Setting(20, "lo", "standard", "lo")
    short = simulate(setting, "lo-optimal", 10, 2, level=level)
    long = simulate(setting, "lo-optimal", 55, 2, level=level, record="trajectories")
    np.testing.assert_array_equal(short.runtimes, long.runtimes[:10])
    assert len(np.unique(long.runtimes)) > 20


def test_integer_streams_give_the_same_runs_everywhere() -> None:
    runs = simulate(Setting(16), "one-bit", 8, 12345, level="bits")
    assert runs.runtimes.tolist() == [27, 21, 29, 16, 93, 30, 16, 26]


def test_seeds_of_any_size_differ_and_a_fresh_seed_is_kept() -> None:
    setting = Setting(30)
    seeds: list[int | None] = [0, 1, 2**63, 2**64, 2**100, None, None]
    batches = [simulate(setting, "one-bit", 20, seed) for seed in seeds]
    assert len({tuple(b.runtimes.tolist()) for b in batches}) == len(seeds)
    fresh = batches[-1]
    np.testing.assert_array_equal(simulate(setting, "one-bit", 20, fresh.seed).runtimes, fresh.runtimes)


@pytest.mark.parametrize("level", LEVELS)
def test_a_start_at_the_optimum_takes_no_iteration(level: str) -> None:
    runs = simulate(Setting(6), "one-bit", 5, 1, level=level, start=(6, 6), record="trajectories", max_iterations=0)
    assert runs.finished.all()
    assert runs.runtimes.tolist() == [0] * 5
    assert [column.tolist() for column in runs.trajectory(4)] == [[0], [0], [6], [6]]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("stochastic", [False, True])
def test_runs_stop_in_states_they_can_never_leave(level: str, stochastic: bool) -> None:
    # radius 2 is rejected for good once only the last bit is wrong
    policy: Any = [2] * 8 + [0]
    if stochastic:
        policy = StochasticPolicy(8, "lo", np.array([1, 2, 3]), np.tile([0.0, 0.4, 0.6], (9, 1)))
    setting = Setting(8, "lo", "strict", "lo")
    runs = simulate(setting, policy, 500, 1, level=level, record="trajectories")
    assert evaluate(setting, policy).expected_runtime == np.inf
    assert runs.stuck.any()
    assert runs.finished.any()
    assert (runs.stuck ^ runs.finished).all()
    assert runs.mean == np.inf
    assert np.isnan(runs.std)
    ends = np.array([runs.trajectory(r).lo[-1] for r in range(500)])
    assert set(ends[runs.stuck]) == {7}
    assert set(ends[runs.finished]) == {8}
    last = np.array([runs.trajectory(r).iteration[-1] for r in range(500)])
    np.testing.assert_array_equal(runs.runtimes, last)


@pytest.mark.parametrize("selection", ["standard", "strict"])
def test_a_policy_on_strings_that_wanders_still_ends(selection: str) -> None:
    # radius 2 between strings of equal LO, and a trap at 0111: all runs end at the optimum or in a trap
    table = np.full(16, 2)
    table[0b0111] = 4
    table[-1] = 0
    setting = Setting(4, "lo", selection, "bits")
    runs = simulate(setting, table, 2000, 1, level="bits", record="trajectories")
    assert (runs.finished ^ runs.stuck).all()
    assert 0 < runs.finished.sum() < 2000
    ends = {int(runs.trajectory(r).lo[-1]) for r in range(2000) if runs.stuck[r]}
    assert ends == {3}


@pytest.mark.parametrize("level", LEVELS)
def test_runs_are_cut_at_the_limit_and_agree_with_longer_ones(level: str) -> None:
    setting = Setting(30)
    free = simulate(setting, "one-bit", 300, 3, level=level)
    limit = int(np.median(free.runtimes))
    cut = simulate(setting, "one-bit", 300, 3, level=level, max_iterations=limit)
    np.testing.assert_array_equal(cut.finished, free.runtimes <= limit)
    np.testing.assert_array_equal(cut.runtimes, np.minimum(free.runtimes, limit))
    assert not cut.stuck.any()
    assert np.isnan(cut.mean)
    assert cut.ecdf(10 * limit) == cut.finished.mean()


def test_a_wait_beyond_64_bits_is_cut() -> None:
    # 1000 flips must miss 1000 of 2000 bits: less likely than any double can tell
    runs = simulate(Setting(2000, "lo", "strict", "lo"), "constant-1000", 3, 1, start=(1000, 1500))
    assert not runs.finished.any()
    assert not runs.stuck.any()
    assert (runs.runtimes == launch.NO_LIMIT).all()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("objective", ["lo", "loom"])
def test_trajectories_list_every_change(level: str, objective: str) -> None:
    setting = Setting(15, objective)
    runs = simulate(setting, "lo-optimal", 200, 8, level=level, record="trajectories")
    assert runs.trajectories is not None
    assert len(runs.trajectories) == 200
    np.testing.assert_array_equal(np.unique(runs.trajectories.run), np.arange(200))
    for r in (0, 7, -1):
        iteration, k, lo, om = runs.trajectory(r)
        assert (iteration[0], k[0]) == (0, 0)
        assert (iteration[-1], lo[-1], om[-1]) == (runs.runtimes[r], 15, 15)
        assert (np.diff(iteration) > 0).all()
        assert (k[1:] == 15 // (lo[:-1] + 1)).all()
        pairs = list(zip(lo.tolist(), om.tolist(), strict=True))
        assert all(a != b for a, b in pairwise(pairs))
        if objective == "loom":
            assert pairs == sorted(pairs)
        else:
            assert (np.diff(lo) >= 0).all()
    with pytest.raises(IndexError):
        runs.trajectory(200)


def test_statistics_of_the_runtimes() -> None:
    runs = simulate(Setting(12), "one-bit", 50, 1)
    times = runs.runtimes
    assert len(runs) == 50
    assert runs.mean == times.mean()
    assert runs.std == pytest.approx(np.sqrt(((times - times.mean()) ** 2).sum() / 49))
    assert runs.standard_error == pytest.approx(runs.std / np.sqrt(50))
    low, high = runs.confidence_interval()
    # Student's quantile for 49 degrees of freedom
    assert (high - low) / 2 == pytest.approx(2.0095752 * runs.standard_error, rel=1e-7)
    assert (high + low) / 2 == pytest.approx(runs.mean)
    narrow = runs.confidence_interval(0.5)
    assert low < narrow[0] < narrow[1] < high
    budgets = [[0, int(times.min())], [int(np.median(times)), int(times.max())]]
    expected = [[(times <= b).mean() for b in row] for row in budgets]
    np.testing.assert_array_equal(runs.ecdf(budgets), expected)
    one = simulate(Setting(12), "one-bit", 1, 1)
    assert np.isnan(one.std)
    assert np.isnan(one.confidence_interval()).all()
    with pytest.raises(ValueError, match="read-only"):
        runs.runtimes[0] = 0


def test_tables_of_every_integer_type_give_the_same_runs() -> None:
    setting = Setting(10)
    tables = [np.tile(np.arange(1, 12)[:, None], (1, 11)).clip(1, 3).astype(kind) for kind in ("int64", "u1", "u8")]
    tables.append(np.asfortranarray(tables[0]))
    results = {tuple(simulate(setting, Policy(10, "lo-om", table), 20, 1).runtimes.tolist()) for table in tables}
    assert len(results) == 1


def test_progress_rises_to_one_in_the_calling_thread() -> None:
    seen: list[float] = []
    here: set[int] = set()

    def note(fraction: float) -> None:
        seen.append(fraction)
        here.add(threading.get_ident())

    simulate(Setting(8), "one-bit", 100, 1, record="trajectories", progress=note)
    assert seen == sorted(seen)
    assert (seen[-1], len(seen) > 4) == (1.0, True)
    assert here == {threading.get_ident()}


@pytest.mark.parametrize("level", LEVELS)
def test_a_kernel_told_to_stop_ends_in_the_middle_of_a_run(level: str) -> None:
    n = 3000  # about n^2 / 2 iterations, a quarter of n^2 jumps
    setting = Setting(n, "lo", "standard", "lo")
    policy = Policy(n, "lo", np.array([1] * n + [0]))
    what = (n, hash_seed(1), launch.least_gain(setting), choices_of(policy), start_of(n, (0, 1000)))
    runtimes, counts = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    endings = np.zeros(3, dtype=np.uint8)
    kernel = bit_level.run_strings if level == "bits" else state_level.run_states
    told = np.ones(1, dtype=np.int64)
    kernel(0, 3, *what, 2**62, told, runtimes, endings, counts, np.empty((4, 0), dtype=np.int64))
    assert endings[0] == STOPPED
    assert runtimes[0] >= PATIENCE
    assert runtimes[1:].tolist() == [0, 0]


def test_an_interrupt_stops_runs_that_would_take_hours() -> None:
    # runs that begin with 10 are stuck at once; the others soon have to miss 20 of 40 bits with 20 flips
    radii = [40, 40, *(40 - lo for lo in range(2, 40)), 0]
    setting = Setting(40, "lo", "strict", "lo")
    before = threading.active_count()

    def interrupt(fraction: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(setting, radii, 8, 1, level="bits", threads=8, progress=interrupt)
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"runs": 0}, "runs must be a whole number of at least 1, not 0"),
        ({"runs": 2.5}, "not 2.5"),
        ({"runs": True}, "not True"),
        ({"seed": -1}, "seed must be a whole number of at least 0, not -1"),
        ({"seed": 1.0}, "not 1.0"),
        ({"threads": 0}, "threads must be"),
        ({"max_iterations": -1}, "max_iterations must be"),
        ({"max_iterations": 2**63}, r"up to 2\*\*62"),
        ({"level": "bit"}, "unknown level 'bit'; choose one of state, bits. Did you mean 'bits'?"),
        ({"record": "trajectory"}, "Did you mean 'trajectories'?"),
        ({"start": (3, 2)}, "no state has lo = 3 and om = 2 for n = 6"),
        ({"start": (3, 6)}, "no state has lo = 3 and om = 6"),
        ({"start": (1, 2, 3)}, "a pair"),
        ({"start": (1.0, 2)}, "a pair"),
        ({"start": "01011", "level": "bits"}, "has 6 bits"),
        ({"start": "010112", "level": "bits"}, "only 0 and 1"),
        ({"start": [0, 1, 0, 1, 1, 2], "level": "bits"}, "only 0 and 1"),
        ({"start": "010110"}, "needs level='bits'"),
        ({"setting": Setting(6, state="bits")}, "needs level='bits'"),
        ({"policy": "two-bit"}, "unknown rule"),
        ({"policy": lambda lo, om: 9}, "radius 9"),
    ],
)
def test_requests_that_make_no_sense(change: dict[str, Any], message: str) -> None:
    request: dict[str, Any] = {"setting": Setting(6), "policy": "one-bit", "runs": 3, "seed": 1} | change
    with pytest.raises(InputError, match=message.replace("?", r"\?")):
        simulate(**request)


def test_a_tuple_of_two_is_a_state_even_for_two_bits() -> None:
    runs = simulate(Setting(2), "one-bit", 50, 1, level="bits", start=(1, 1), record="trajectories")
    assert {int(runs.trajectory(r).om[0]) for r in range(50)} == {1}


def test_trajectories_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kflip.memory.available_bytes", lambda: 1000)
    with pytest.raises(TooLargeError, match="recording"):
        simulate(Setting(20), "one-bit", 100, 1, record="trajectories")


def test_unrecorded_runs_have_no_trajectory_and_confidences_are_checked() -> None:
    runs = simulate(Setting(5), "one-bit", 3, 1)
    with pytest.raises(InputError, match="record='trajectories'"):
        runs.trajectory(0)
    with pytest.raises(InputError, match="strictly between 0 and 1"):
        runs.confidence_interval(1.0)
