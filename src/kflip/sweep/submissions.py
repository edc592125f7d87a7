"""Submissions: a third party's policy enters the records as a file.

Nothing in the file is executed, and nothing it says about itself is believed: the table is checked by
:func:`kflip.files.load_policy` and evaluated exactly here.  A file is entered for the benchmark whose setting it
declares.  Under an explicitly named benchmark any policy that is admissible there may enter: one that sees less, or
that uses fewer radii.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from time import perf_counter
from typing import Any

from kflip import rules
from kflip.errors import InputError
from kflip.exact.sweeps import Progress
from kflip.export import jsonable
from kflip.files import digest, load_policy
from kflip.learn import LEARNERS
from kflip.policy import as_policy
from kflip.setting import Setting
from kflip.sweep.records import Store, record_of
from kflip.sweep.suite import SUITES, Benchmark, benchmark_named
from kflip.sweep.tasks import policy_digest, untrained

#: Characters of a name.
LONGEST_NAME = 60


def submit(
    path: str | Path, store: Store, *, name: str, benchmark: str | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Check a policy file, evaluate it exactly and write its record.

    Parameters
    ----------
    path
        An ``.npz`` file written by :func:`kflip.save`.
    store
        Where the record goes.  The same policy under the same name is entered once.
    name
        What to call it: 1 to 60 printable characters, no name of a learner or rule of kflip.
    benchmark
        Id of a benchmark; by default the one whose setting the file declares.
    progress
        Called with the finished fraction.

    Returns
    -------
    The record.
    """
    check_name(name)
    declared, loaded = load_policy(path)
    where = _declared(declared) if benchmark is None else benchmark_named(benchmark)
    try:
        policy = as_policy(where.setting, loaded)
    except InputError as error:
        raise InputError(f"{path} cannot enter {where.id}: {error}") from None
    task = {
        "benchmark": where.id,
        "setting": where.setting.to_dict(),
        "budget": None,
        "method": name,
        "options": {"policy_sha256": policy_digest(policy)},
        "seed": None,
    }
    found = _entered(store, where.id, name, digest(task))
    if found is not None:
        return found
    begun = perf_counter()
    result = jsonable(untrained(where.setting, policy, progress))
    record = record_of(task, result, perf_counter() - begun)
    store.add(record)
    return record


def check_name(name: str) -> None:
    """Raise an error unless a submission may have this name."""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise InputError(f"a name has 1 to {LONGEST_NAME} printable characters and no space around, not {name!r}")
    # full-width or capital letters would look like the original in a table
    plain = unicodedata.normalize("NFKC", name).casefold()
    if plain in LEARNERS or _is_rule(plain):
        raise InputError(f"{name!r} is the name of a method of kflip: choose another")


def _is_rule(name: str) -> bool:
    try:
        rules.by_name(name)
    except InputError:
        return False
    return True


def _declared(setting: Setting) -> Benchmark:
    """The benchmark of that setting; a list of radii is as good as the name of the same portfolio."""

    def essence(some: Setting) -> tuple[object, ...]:
        return some.n, some.objective, some.selection, some.state, some.radii

    found = [item for suite in SUITES.values() for item in suite if essence(item.setting) == essence(setting)]
    if not found:
        raise InputError(f"{setting} is no benchmark of {', '.join(SUITES)}; name the one that is meant with its id")
    if len(found) > 1:
        raise InputError(f"{setting} is several benchmarks, {', '.join(item.id for item in found)}: name one")
    return found[0]


def _entered(store: Store, benchmark: str, name: str, key: str) -> dict[str, Any] | None:
    """The record if it exists; an error if the name has another policy there."""
    if not store.folder.is_dir():
        return None
    for record in store:
        if record["key"] == key:
            return record
        task = record["task"]
        if (task["benchmark"], task["method"]) == (benchmark, name):
            raise InputError(f"{name!r} has entered {benchmark} with another policy: choose another name")
    return None
