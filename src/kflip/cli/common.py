"""What the commands share: options, the progress bar, and the two ways of printing."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from kflip import files, rules
from kflip.errors import InputError
from kflip.exact.sweeps import Progress as ProgressHook
from kflip.export import jsonable
from kflip.policy import PolicyLike
from kflip.setting import OBJECTIVES, SELECTIONS, STATES, Setting

NOption = Annotated[int | None, typer.Option("--n", help="Length of the bit string.", show_default=False)]
ObjectiveOption = Annotated[
    str, typer.Option("--objective", help=f"What is maximised: {' or '.join(OBJECTIVES)}; loom is (LO, OM).")
]
SelectionOption = Annotated[
    str, typer.Option("--selection", help=f"{' accepts not-worse, '.join(SELECTIONS)} only better offspring.")
]
StateOption = Annotated[str, typer.Option("--state", help=f"What the policy sees: {', '.join(STATES)}.")]
PortfolioOption = Annotated[
    str,
    typer.Option(
        "--portfolio",
        help="Radii allowed: full, powers-of-two, initial-segment-M, evenly-spread-M, or a list such as 1,2,5.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one machine-readable JSON object instead of text.")]
#: Names of all rules, and of those that are tables.
RULES = f"{', '.join(rules.REGISTRY)}, constant-K, self-adjusting-F-S"
TABLES = ", ".join((*(name for name, rule in rules.REGISTRY.items() if isinstance(rule, rules.Rule)), "constant-K"))
RuleArgument = Annotated[
    str, typer.Argument(help=f"A rule ({RULES}) or an .npz file with a solution or policy.", show_default=False)
]
PolicyArgument = Annotated[
    str, typer.Argument(help=f"A rule ({TABLES}) or an .npz file with a solution or policy.", show_default=False)
]
FileArgument = Annotated[Path, typer.Argument(help="A file written by kflip solve --out.", show_default=False)]


#: Columns of text that is not printed on a terminal.
PIPE_WIDTH = 160


def make_setting(n: int | None, objective: str, selection: str, state: str, portfolio: str) -> Setting:
    """Build the setting that the options describe."""
    if n is None:
        raise InputError("give the length of the bit string with --n")
    return Setting(n, objective, selection, state, portfolio)


def setting_and_policy(
    context: typer.Context, policy: str, n: int | None, objective: str, selection: str, state: str, portfolio: str
) -> tuple[Setting, PolicyLike]:
    """A file brings its own setting; a rule needs the options that describe one."""
    if not policy.endswith(".npz"):
        return make_setting(n, objective, selection, state, portfolio), policy
    refuse_setting(context, "a policy file brings its own setting")
    return files.load_policy(policy)


def refuse_setting(context: typer.Context, reason: str) -> None:
    """Raise an error if an option of the setting was given."""
    for option in ("n", "objective", "selection", "state", "portfolio"):
        source = context.get_parameter_source(option)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError(f"{reason}: leave out --{option}")


def check_writable(path: Path) -> None:
    """Complain before hours of work, not after."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: no folder {path.parent}")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it exists and is not a regular file")
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None


@contextmanager
def progress_bar(title: str) -> Iterator[ProgressHook | None]:
    """Show a bar on a terminal, nothing in a pipe."""
    if not on_terminal(sys.stderr):
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=1.0)
        yield lambda done: bar.update(task, completed=done)


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object on one line."""
    typer.echo(json.dumps(jsonable(content)))


def print_facts(title: str, facts: dict[str, str]) -> None:
    """Print a short list of named facts."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        table.add_row(name, Text(fact))  # as it stands: a file name may hold [brackets]
    out = console()
    out.print(Text(title))
    out.print(table)


def console() -> Console:
    """Standard output; in a pipe wide enough that no number is cut, unless COLUMNS says otherwise."""
    return Console() if on_terminal(sys.stdout) or "COLUMNS" in os.environ else Console(width=PIPE_WIDTH)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at the stream."""
    return stream is not None and stream.isatty()  # Python has None for a closed stream


def number(value: float) -> str:
    """Twelve significant digits, enough to compare with any other exact computation."""
    return f"{value:.12g}"
