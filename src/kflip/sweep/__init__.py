"""Sweeps: many methods on many benchmarks, on one machine or a cluster, with a record for every finished task."""

from kflip.sweep.drive import Failure, Outcome, Status, sweep
from kflip.sweep.records import Store
from kflip.sweep.suite import SUITES, Benchmark, benchmark_named, suite_named
from kflip.sweep.tasks import Task, tasks_of

__all__ = [
    "SUITES",
    "Benchmark",
    "Failure",
    "Outcome",
    "Status",
    "Store",
    "Task",
    "benchmark_named",
    "suite_named",
    "sweep",
    "tasks_of",
]
