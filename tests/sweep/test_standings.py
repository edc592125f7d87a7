"""Standings against numbers worked out by hand, and records that cannot stand in one table."""

from __future__ import annotations

from math import inf, isnan, nan
from typing import Any

import pytest

from kflip.errors import FileFormatError, InputError
from kflip.export import jsonable
from kflip.setting import Setting
from kflip.sweep.standings import SEEDS, Spread, median_of, standings_of
from tests.sweep.synthetic import record, rule, submission

LOOM, STRICT = "kflip-v1/loom-16-full", "kflip-v1/lo-strict-16-powers-of-two"
BITS, MEDIUM = "kflip-v1/loom-bits-8-full", "kflip-v1/loom-32-full"


@pytest.mark.parametrize(
    ("values", "expected"),
    [([3.0], 3.0), ([1.0, 2.0], 1.5), ([1.0, inf, 2.0], 2.0), ([1.0, inf], inf), ([inf, inf, 1.0], inf)],
)
def test_medians(values: list[float], expected: float) -> None:
    assert median_of(values) == expected


def test_no_median() -> None:
    assert isnan(median_of([]))
    assert isnan(median_of([1.0, nan, 2.0]))


def test_one_method_on_one_benchmark() -> None:
    numbers = [
        # raw, guarded, hits, time, area, seconds
        (0.30, 0.03, 0.5, 0.90, 0.20, 4.0),
        (inf, 0.01, 0.9, 0.80, 0.10, 1.0),
        (0.20, 0.08, 0.7, 0.70, 0.60, 3.0),
        (inf, 0.02, 0.6, 1.00, 0.30, 2.0),
        (0.10, 0.05, 0.8, 0.95, 0.40, 9.0),
    ]
    names = ("raw", "guarded", "hits", "time", "area", "seconds")
    standings = standings_of(record(seed=s, **dict(zip(names, row, strict=True))) for s, row in enumerate(numbers))
    cell = standings.at(LOOM, "learner")
    assert cell is not None
    assert cell.measures == {
        "raw": Spread(0.30, inf),
        "guarded": Spread(0.03, 0.08),
        "hits": Spread(0.7, 0.5),
        "time": Spread(0.90, 0.70),
        "area": Spread(0.30, 0.60),
    }
    assert (cell.kind, cell.seeds, cell.enough, cell.rank) == ("learner", 5, True, 1.0)
    assert (cell.spent, cell.seconds) == (1_000_000, 3.0)
    (column,) = standings.benchmarks
    assert (column.id, column.setting, column.size, column.best) == (LOOM, Setting(16), "small", "learner")
    assert (column.budget, column.official, column.optimal_runtime) == (1_000_000, True, 40.0)
    (method,) = standings.methods
    assert (method.won, method.benchmarks, method.unfinished, method.enough) == (1, 1, 1, True)


def test_few_seeds_are_marked_but_only_of_learners() -> None:
    made = [record("few", seed=s) for s in range(SEEDS - 1)] + [record("many", seed=s) for s in range(SEEDS)]
    standings = standings_of([*made, rule(), submission()])
    assert {item.method: item.enough for item in standings.methods} == {
        "few": False,
        "many": True,
        "rule": True,
        "theirs": True,
    }
    assert {item.method: item.kind for item in standings.methods} == {
        "few": "learner",
        "many": "learner",
        "rule": "rule",
        "theirs": "submission",
    }
    cell = standings.at(LOOM, "rule")
    assert cell is not None
    assert cell.curve is None
    assert isnan(cell.measures["area"].median)


def test_places_and_winners_over_several_benchmarks() -> None:
    standings = standings_of(
        [
            rule("a", LOOM, regret=0.2), rule("b", LOOM, regret=0.1), rule("c", LOOM, regret=0.2),
            rule("a", STRICT, regret=inf), rule("b", STRICT, regret=0.5), rule("c", STRICT, regret=0.5 + 1e-15),
            rule("a", BITS, regret=0.0), rule("d", BITS, regret=inf),
        ]
    )  # fmt: skip
    # the order of the suite, not of the alphabet
    assert [(column.id, column.best) for column in standings.benchmarks] == [(LOOM, "b"), (BITS, "a"), (STRICT, "b")]
    ranks = {key: cell.rank for key, cell in standings.cells.items()}
    assert ranks == {
        (LOOM, "b"): 1.0, (LOOM, "a"): 2.5, (LOOM, "c"): 2.5,
        (STRICT, "b"): 1.5, (STRICT, "c"): 1.5, (STRICT, "a"): 3.0,
        (BITS, "a"): 1.0, (BITS, "d"): 2.0,
    }  # fmt: skip
    # without a record: fourth of four on loom and strict for d, the mean of the third and fourth on bits for b and c
    means = {item.method: item.rank for item in standings.methods}
    assert means == pytest.approx({"b": 6.0 / 3, "a": 6.5 / 3, "c": 7.5 / 3, "d": 10.0 / 3})
    assert [item.method for item in standings.methods] == ["b", "a", "c", "d"]
    overall = {item.method: item for item in standings.methods}
    assert (overall["a"].guarded, overall["a"].raw, overall["a"].unfinished, overall["a"].won) == (0.2, 0.2, 1, 1)
    assert (overall["d"].guarded, overall["d"].benchmarks) == (inf, 1)
    assert [cell.method for cell in standings.on(LOOM)] == ["b", "a", "c"]
    assert [len(columns) for columns in standings.kinds()] == [1, 1, 1]


def test_who_leads_in_which_measure() -> None:
    standings = standings_of([rule("a", regret=inf, hits=0.9), rule("b", regret=0.1, hits=0.2), rule("c", regret=0.1)])
    leads = {
        (name, measure): standings.leads(standings.cells[LOOM, name], measure)
        for name in "abc"
        for measure in ("raw", "hits", "area")
    }
    assert {key for key, leading in leads.items() if leading} == {("b", "raw"), ("c", "raw"), ("a", "hits")}
    stuck = standings_of([rule("a", regret=inf)])
    assert not stuck.leads(stuck.cells[LOOM, "a"], "raw")


def test_rounding_below_zero_is_no_advantage() -> None:
    standings = standings_of([rule("b", regret=-2e-16), rule("a", regret=0.0), rule("c", regret=3e-16)])
    assert standings.benchmarks[0].best == "a"
    assert {cell.rank for cell in standings.cells.values()} == {2.0}


def test_curves_over_seeds() -> None:
    curves = [
        [(10, inf, 0.4), (20, 0.5, 0.3), (30, 0.4, 0.2)],
        [(12, 0.9, 0.8), (22, inf, 0.1)],  # ended before the others
        [(11, 0.7, 0.6), (21, inf, 0.2), (33, 0.1, 0.5)],
    ]
    standings = standings_of(record(seed=s, curve=curve) for s, curve in enumerate(curves))
    curve = standings.cells[LOOM, "learner"].curve
    assert curve is not None
    assert curve.iterations == (11, 21, 31.5)
    assert curve.guarded.median == (0.6, 0.2, 0.2)
    assert curve.guarded.low == (0.4, 0.1, 0.1)
    assert curve.guarded.high == (0.8, 0.3, 0.5)
    assert curve.raw.median == (0.9, inf, 0.4)
    assert curve.raw.low == (0.7, 0.5, 0.1)
    assert curve.raw.high == (inf, inf, inf)


def test_plain_values() -> None:
    plain = jsonable(standings_of([record(raw=inf, hits=nan)]).to_dict())
    assert plain["benchmarks"][0]["setting"] == Setting(16).to_dict()
    (cell,) = plain["standings"]
    assert cell["raw"] == {"median": "inf", "worst": "inf"}
    assert cell["hits"] == {"median": None, "worst": None}
    assert (cell["benchmark"], cell["method"], cell["rank"]) == (LOOM, "learner", 1.0)
    assert "curve" not in cell


def test_another_budget_than_the_suites_is_told() -> None:
    standings = standings_of([record(budget=500), rule("r", MEDIUM)])
    assert [column.official for column in standings.benchmarks] == [False, True]
    assert [column.budget for column in standings.benchmarks] == [500, None]


def test_settings_outside_the_suites() -> None:
    own = {"setting": Setting(8, portfolio=[1, 3]), "budget": 70}
    standings = standings_of([record(benchmark="mine", **own), record(benchmark="also", **own), record()])
    assert [column.id for column in standings.benchmarks] == [LOOM, "also", "mine"]
    assert [column.size for column in standings.benchmarks] == ["small", "", ""]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], "no records"),
        (
            [record(options={"rate": 0.1}), record(seed=1, options={"rate": 0.2})],
            r"different options .* 'learner' on kflip-v1/loom-16-full seed 0 \(.*json\) has rate 0.1, .* has rate 0.2",
        ),
        ([record(options={"rate": 0.1}), record(options={"rate": 0.2})], "different options"),
        ([record(options={"version": 1}), record(benchmark=MEDIUM, options={"version": 2})], "different options"),
        ([record(), record(seed=1, budget=10)], "different budgets .* has 1000000, .* has 10;"),
        ([record("a"), record("b", budget=10)], "different budgets"),
        ([record("a"), rule("a")], "different kinds .* has learner, .* has rule"),
        ([submission("a"), submission("a", options={"policy_sha256": "1"})], "different options"),
        ([record(), record()], "two records of one task"),
        ([record("a"), record("b", optimum=41.0)], "two optimal runtimes of kflip-v1/loom-16-full: 40.0 in .*, 41.0"),
        ([record(setting=Setting(17))], r"n = 17, but the benchmark is .* n = 16"),
        (
            [record("a", "mine", setting=Setting(4)), record("b", "mine", setting=Setting(5))],
            "different settings",
        ),
    ],
)
def test_records_that_do_not_fit_together(records: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        standings_of(records)


def test_a_submission_may_have_one_policy_for_each_benchmark() -> None:
    standings = standings_of([submission("a"), submission("a", MEDIUM, options={"policy_sha256": "1"})])
    assert standings.methods[0].benchmarks == 2


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("task", "method"), 3, "3 is not a name"),
        (("task", "budget"), "many", "'many' is not a whole number"),
        (("task", "setting"), {"n": -1}, "n must be at least 1"),
        (("task", "options"), 3, "."),
        (("result", "score"), {}, "no 'regret'"),
        (("result", "area"), "fast", "'fast' is not a number"),
        (("result", "area"), True, "True is not a number"),
        (("result", "curve"), [3], "."),
        (("task",), None, "."),
    ],
)
def test_records_that_make_no_sense(where: tuple[str, ...], value: Any, message: str) -> None:
    broken = record()
    inner = broken
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    with pytest.raises(FileFormatError, match=rf"record {broken['key'][:12]}\.json cannot be used: .*{message}"):
        standings_of([broken])
