"""Reproduce the paper: do the steps that are not done, compare, and write the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

import kflip
from kflip.errors import unknown_word
from kflip.exact.sweeps import Progress
from kflip.export import jsonable
from kflip.files import atomic_write, digest
from kflip.paper import series
from kflip.paper.claims import Finding
from kflip.paper.experiments import EXPERIMENTS, Curves, Experiment, Maps, Summary, sizes
from kflip.paper.records import Records, fingerprint
from kflip.paper.results import page_of
from kflip.paper.steps import Known, Step, claim_name, point_name, steps_of
from kflip.paper.tables import write_table
from kflip.report import NEEDED, available, render

#: Called with a step, its number from 1, how many there are, whether it was finished earlier, and the share of all work
#: done so far.
Watch: TypeAlias = Callable[[Step, int, int, bool, float], None]

NUMBER_COLUMNS = (
    "series",
    "n",
    "published",
    "ours",
    "difference",
    "as_published",
    "difference_as_published",
    "verdict",
)
CLAIM_COLUMNS = ("claim", "text", "found", "verdict", "known_erratum")


def chosen(only: Sequence[str]) -> list[Experiment]:
    """The experiments with these names, in the order of the paper; all if none is named."""
    names = [experiment.name for experiment in EXPERIMENTS]
    for name in only:
        if name not in names:
            raise unknown_word("experiment", name, names)
    return [experiment for experiment in EXPERIMENTS if not only or experiment.name in only]


def reproduce(
    out: str | Path = "reproduction", *, quick: bool = False, only: Sequence[str] = (), watch: Watch | None = None
) -> dict[str, Any]:
    """Recompute figures, tables, numbers and claims of the paper.

    Parameters
    ----------
    out
        Folder for a folder per experiment, ``numbers.csv``, ``claims.csv``, ``report.json`` and ``report.html``.  Steps
        that an earlier call finished there are not done again.
    quick
        Leave out what lies beyond the paper's sizes and takes long.
    only
        Names of experiments; the report then covers these alone.
    watch
        Called when a step begins, advances and ends.

    Returns
    -------
    What ``report.json`` holds.
    """
    folder, effort, experiments = Path(out), "quick" if quick else "full", chosen(only)
    records = Records(folder, [experiment.name for experiment in experiments])
    with records.alone():
        known = _run(steps_of(experiments, effort), records, watch)
        report = _report(experiments, effort, known)
        write_table(folder / "numbers.csv", NUMBER_COLUMNS, (_row(NUMBER_COLUMNS, item) for item in report["numbers"]))
        write_table(folder / "claims.csv", CLAIM_COLUMNS, (_row(CLAIM_COLUMNS, item) for item in report["claims"]))
        with atomic_write(folder / "report.json") as stream:
            stream.write((json.dumps(jsonable(report), indent=1) + "\n").encode())
        if available():
            page = render(page_of(report, experiments, known, folder))
            with atomic_write(folder / "report.html") as stream:
                stream.write(page.encode())
        else:
            (folder / "report.html").unlink(missing_ok=True)  # an older page would contradict report.json
    return report


def failed(report: dict[str, Any]) -> bool:
    """Whether a number differs, or a claim fails that is not known to be wrong."""
    wrong = any(item["verdict"] == "refuted" and not item["known_erratum"] for item in report["claims"])
    return wrong or any(item["verdict"] == series.DIFFERS for item in report["numbers"])


def page_note(out: str | Path) -> str:
    """One line about the page: where it is, or what it needs."""
    return f"{Path(out) / 'report.html'}" if available() else f"report.html was not written: {NEEDED}"


def _run(steps: list[Step], records: Records, watch: Watch | None) -> Known:
    known: dict[str, dict[str, Any]] = {}
    everything = sum(step.cost for step in steps)
    before = 0.0
    for number, step in enumerate(steps, start=1):
        key = digest([step.asked, {name: known[name] for name in step.needs}, fingerprint()])
        found = records.load(step.name, key)
        tell = _teller(watch, step, number, len(steps), found is not None, before / everything, step.cost / everything)
        tell(0.0)
        if found is None:
            found, written = step.work(known, records.out, tell)
            records.save(step.name, key, found, written)
        known[step.name] = found
        tell(1.0)
        before += step.cost
    return known


def _teller(
    watch: Watch | None, step: Step, number: int, steps: int, kept: bool, before: float, part: float
) -> Progress:
    def tell(share: float) -> None:
        if watch is not None:
            watch(step, number, steps, kept, before + part * share)

    return tell


def _report(experiments: list[Experiment], effort: str, known: Known) -> dict[str, Any]:
    numbers = []
    shown = {name for experiment in experiments if isinstance(experiment, Curves) for name in experiment.series}
    for entry in series.published()["series"]:
        if entry["id"] not in shown:
            continue
        for text in entry["published"]:
            point = known[point_name(entry["id"], int(text))]
            item = series.comparison(entry, int(text), point["total"], point["partial"])
            both = {"difference": item.difference, "difference_as_published": item.difference_as_published}
            numbers.append({**asdict(item), **both, "verdict": item.verdict})
    findings = []
    for name in (claim for experiment in experiments for claim in experiment.claims):
        found = Finding(**known[claim_name(name)])
        flags = {"verdict": found.verdict, "known_erratum": not found.holds and not found.surprising}
        findings.append({**asdict(found), **flags})
    return {
        "kflip": kflip.__version__,
        "effort": effort,
        "agree": sum(item["verdict"] != series.DIFFERS for item in numbers),
        "of": len(numbers),
        "claims_checked": sum(item["holds"] for item in findings),
        "claims_of": len(findings),
        "largest_n": {name: max(sizes(name, effort)) for name in sorted(shown)},
        "numbers": numbers,
        "claims": findings,
        "policies": [
            {"name": item.name, "n": item.n, **known[f"table-{item.name}"]}
            for item in experiments
            if isinstance(item, Maps)
        ],
        "summary": [row for item in experiments if isinstance(item, Summary) for row in known["table-summary"]["rows"]],
        "experiments": [{"name": item.name, "title": item.title, "figure": item.figure} for item in experiments],
    }


def _row(columns: Sequence[str], item: dict[str, Any]) -> list[Any]:
    return [item[name] for name in columns]
