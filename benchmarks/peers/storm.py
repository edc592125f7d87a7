"""Storm, through stormpy: minimal expected cost until the optimum on its sparse engine.

What makes Storm fast here:

* the model arrives as a UMB archive (:mod:`benchmarks.peers.umb`);
* a hint says that every state but the optimum has a finite, positive value and that there are no end components, which
  is true of this process and spares Storm its graph analyses, which take longer than solving;
* the topological method solves strongly connected components one after the other.  Acyclic processes need one pass;
  the levels of LeadingOnes with standard selection are solved by policy iteration with a sparse LU decomposition.

Tried and no faster, or not within a relative error of 1e-9: value iteration, plain, sound, optimistic and guessing, on
the whole process or per component; policy iteration on the whole process; other linear solvers inside policy iteration.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import stormpy
from stormpy import developer
from stormpy.developer import storage

from .model import FloatArray, Size, build
from .umb import COST, GOAL, write_umb

NAME = "storm"
METHOD = "topological, policy iteration with sparse LU on cyclic components"
OPTIONS = "--minmax:method topological --topological:minmax pi --eqsolver eigen --eigen:method sparselu"


def version() -> str:
    """Version of stormpy, which ships Storm itself."""
    return str(stormpy.__version__)


def prepare(setting: str, n: int, every_radius: bool) -> Any:
    """Build the process and hand it to Storm."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "process.umb"
        # not kept in a variable: its memory is free again before Storm takes as much
        write_umb(build(setting, n, np.int64, every_radius), path)
        options = storage.UmbImportOptions()
        options.build_state_valuations = False
        return stormpy.build_model_from_umb(path, options=options)


def size(mdp: Any) -> Size:
    """Size of the model as Storm counts it."""
    return Size(mdp.nr_states, mdp.nr_choices, mdp.nr_transitions)


def solve(mdp: Any) -> FloatArray:
    """Minimal expected number of iterations from every state."""
    states = mdp.nr_states
    unknown = storage.BitVector(states, True)
    unknown.set(states - 1, False)
    hint = stormpy.ExplicitModelCheckerHint[float]()
    hint.set_maybe_states(unknown)
    hint.set_result_hint([0.0] * states)
    hint.set_compute_only_maybe_states(True)
    hint.set_no_end_components_in_maybe_states(True)
    goal = stormpy.parse_properties(f'R{{"{COST}"}}min=? [F "{GOAL}"]')[0]
    result = stormpy.model_checking(mdp, goal, environment=_environment(), hint=hint)
    return np.array(result.get_value_vector())


@cache
def _environment() -> Any:
    """Solver settings; Storm accepts them once per process."""
    developer.set_from_exploded_string(OPTIONS.split())
    return developer.EnvironmentBuilder.build_environment()
