"""``kflip sweep``."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from kflip import cli, rules
from kflip.cli import common
from kflip.cli.sweep_progress import watching
from kflip.errors import InputError

if TYPE_CHECKING:
    from kflip.sweep import Benchmark, Outcome


def sweep(
    suite: Annotated[str | None, typer.Argument(help="Such as kflip-v1.", show_default=False)] = None,
    out: Annotated[Path, typer.Option(help="Folder for the records, one file for each finished task.")] = Path(
        "results"
    ),
    size: Annotated[
        list[str] | None, typer.Option(help="small, medium or large; may be repeated.", show_default="all")
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="Only benchmarks like this, such as 'lo-strict-*'.", show_default="all")
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(help="A rule or a learner; may be repeated.", show_default="all that can be used here"),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Learners are trained with the seeds 1 to this number.")] = 5,
    workers: Annotated[
        int | None, typer.Option(help="Processes of this machine.", show_default="one for each core")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Run on a Dask cluster: tcp://host:port of its scheduler, or dask for what Dask's configuration says.",
            show_default="this machine",
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--list", help="Print the benchmarks instead of running.")] = False,
    as_json: common.JsonOption = False,
) -> None:
    """Run every method on every benchmark of a suite, and record exact scores.

    May be stopped at any moment, even killed: the same command goes on where it ended. Exit code 1 if a task failed.

    Example: [bold]kflip sweep kflip-v1 --size small --out results[/bold]
    """
    # learners take longer to load than most commands to run
    from kflip.sweep import Store, tasks_of
    from kflip.sweep import sweep as run

    chosen = _benchmarks(suite, show, tuple(size or ()), benchmark)
    if show:
        _print_list(chosen, as_json)
        return
    if seeds < 1:
        raise InputError(f"--seeds must be at least 1, not {seeds}")
    tasks = tasks_of(chosen, _methods() if method is None else method, range(1, seeds + 1))
    begin = perf_counter()
    try:
        with watching() as progress:
            outcome = run(tasks, Store(out), workers=workers, cluster=cluster, progress=progress)
    except KeyboardInterrupt:
        typer.echo(f"kflip: finished tasks are recorded in {out}; the same command goes on from there", err=True)
        raise
    _report(outcome, suite, out, perf_counter() - begin, as_json)
    if outcome.failures:
        raise typer.Exit(cli.FAILED)


def _benchmarks(suite: str | None, show: bool, sizes: tuple[str, ...], pattern: str | None) -> list[Benchmark]:
    from kflip.sweep.suite import SIZES, SUITES, suite_named

    if suite is None and not show:
        raise InputError(f"name a suite: {', '.join(SUITES)}")
    names = list(SUITES) if suite is None else [suite]
    found = [one for name in names for one in suite_named(name, sizes or SIZES)]
    if pattern is not None:
        found = [one for one in found if fnmatchcase(one.id, pattern) or fnmatchcase(one.name, pattern)]
    if not found:
        raise InputError(f"no benchmark is like {pattern!r}; see kflip sweep --list")
    return found


def _methods() -> list[str]:
    """All rules without parameters, and all learners that can be used here."""
    from kflip.learn import LEARNERS, learner_named

    usable, left_out = [], []
    for name in LEARNERS:
        try:
            learner_named(name)
        except InputError:
            left_out.append(name)
        else:
            usable.append(name)
    if left_out:
        typer.echo(f"kflip: without {', '.join(left_out)}, which need pip install 'kflip[learn]'", err=True)
    return [*rules.REGISTRY, *usable]


def _print_list(benchmarks: list[Benchmark], as_json: bool) -> None:
    if as_json:
        common.print_json({"benchmarks": [one.to_dict() for one in benchmarks]})
        return
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("benchmark", "size", "n", "portfolio", "budget"):
        table.add_column(heading, justify="right" if heading in ("n", "budget") else "left", no_wrap=True)
    for one in benchmarks:
        table.add_row(one.id, one.size, str(one.setting.n), str(one.setting.portfolio), str(one.budget))
    common.console().print(table)


def _report(outcome: Outcome, suite: str | None, out: Path, seconds: float, as_json: bool) -> None:
    if as_json:
        common.print_json(
            {
                "suite": suite,
                "out": str(out),
                "tasks": outcome.total,
                "kept": outcome.kept,
                "done": outcome.done,
                "failed": [
                    {"task": failure.task.to_dict(), "name": str(failure.task), "error": failure.error}
                    for failure in outcome.failures
                ],
                "seconds": round(seconds, 3),
            }
        )
        return
    typer.echo(
        f"{outcome.total} tasks: {outcome.kept} recorded before, {outcome.done} done now in {seconds:.0f} s, "
        f"{len(outcome.failures)} failed. Records: {out}"
    )
    for failure in outcome.failures:
        typer.echo(f"failed: {failure}")
    if outcome.failures:
        typer.echo("The same command tries failed tasks again.")
