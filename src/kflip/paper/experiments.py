"""Every figure and table of the paper, as a declaration: what is computed and what is drawn."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kflip.paper.series import by_id


@dataclass(frozen=True)
class Maps:
    """Maps over the states of one policy: LO upwards, OM to the right.

    Attributes
    ----------
    name, title, figure
        What ``--only`` and the folder are called, the heading, and where the paper shows it.
    objective, selection, policy, n
        The policy: ``"optimal"`` or a rule of :mod:`kflip.rules`, seeing (LO, OM).
    drawn
        What is mapped; ``"trajectories"`` are ten runs over the map ``over``.
    annotate, crosses
        Write the numbers into the cells; mark the states that hold strings with another optimal radius.
    claims
        Claims of the paper about this policy.
    """

    name: str
    title: str
    figure: str
    objective: str
    selection: str = "standard"
    policy: str = "optimal"
    n: int = 128
    drawn: tuple[str, ...] = ("radius", "value", "trajectories")
    over: str = "radius"
    annotate: bool = False
    crosses: bool = False
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class Curves:
    """Normalised expected runtime over n; ``series`` maps the published series to what the legend calls them."""

    name: str
    title: str
    figure: str
    series: dict[str, str] = field(hash=False)
    claims: tuple[str, ...] = ()

    @property
    def normaliser(self) -> str:
        """What runtimes are divided by."""
        return str(by_id(next(iter(self.series)))["normaliser"])


@dataclass(frozen=True)
class Benchmark:
    """One row of the summary: ``series`` holds our runtimes, or None where the policy sees the string.

    ``paper_n`` is the largest n that the paper computed.
    """

    title: str
    objective: str
    selection: str
    state: str
    paper_n: int
    series: str | None


@dataclass(frozen=True)
class Summary:
    """The table of the benchmarks with the largest n computed."""

    name: str
    title: str
    figure: str
    benchmarks: tuple[Benchmark, ...]
    claims: tuple[str, ...] = ()


Experiment: TypeAlias = Maps | Curves | Summary

EXPERIMENTS: tuple[Experiment, ...] = (
    Maps(
        "example",
        "(LeadingOnes, OneMax), optimal radii: the example",
        "Figure 1",
        "loom",
        n=8,
        drawn=("radius", "value"),
        annotate=True,
        claims=("loom-n8-easiest",),
    ),
    Maps("loom", "(LeadingOnes, OneMax), optimal radii", "Figure 2", "loom"),
    Maps(
        "loom-one-bit",
        "(LeadingOnes, OneMax), always one bit",
        "Figure 3",
        "loom",
        policy="one-bit",
        drawn=("value", "trajectories"),
        over="value",
    ),
    Maps(
        "loom-lo-optimal",
        "(LeadingOnes, OneMax), radii optimal for LeadingOnes",
        "Figure 4",
        "loom",
        policy="lo-optimal",
    ),
    Maps(
        "strings",
        "(LeadingOnes, OneMax), strict selection: where single strings want another radius",
        "Figure 6",
        "loom",
        "strict",
        n=16,
        drawn=("radius",),
        crosses=True,
        claims=("bits-n16-different-states",),
    ),
    Maps("lo-lo-optimal", "LeadingOnes, best radii given LO", "Figure 7", "lo", policy="lo-optimal"),
    Maps("lo", "LeadingOnes, optimal radii", "Figure 8", "lo", claims=("lo-standard-n128-worst",)),
    Maps(
        "lo-strict",
        "LeadingOnes, strict selection, optimal radii",
        "Figure 9",
        "lo",
        "strict",
        claims=("lo-strict-n128-worst", "lo-strict-n128-one-bit-zone"),
    ),
    Curves(
        "loom-runtimes",
        "(LeadingOnes, OneMax): three policies",
        "Figure 5",
        {
            "loom-one-bit": "always one bit",
            "loom-lo-optimal": "radii optimal for LeadingOnes",
            "loom-optimal": "optimal",
        },
    ),
    Curves(
        "lo-runtimes",
        "LeadingOnes: what OM adds to LO",
        "Figure 10",
        {"lo-standard-lo-optimal": "optimal, seeing LO", "lo-standard-optimal": "optimal, seeing (LO, OM)"},
        claims=("policy-iteration-5",),
    ),
    Curves(
        "lo-selection",
        "LeadingOnes: standard against strict selection",
        "Figure 11",
        {"lo-standard-optimal": "standard selection", "lo-strict-optimal": "strict selection"},
    ),
    Curves(
        "portfolios",
        "(LeadingOnes, OneMax): limited portfolios",
        "Figure 12",
        {
            "loom-optimal": "all radii",
            "loom-powers-of-two": "powers of two",
            "loom-initial-segment-3": "1, 2, 3",
            "loom-evenly-spread-3": "1, n/3, 2n/3",
        },
    ),
    Summary(
        "summary",
        "The benchmarks, with the largest n computed",
        "Table 2",
        (
            Benchmark("(LeadingOnes, OneMax), standard, (LO, OM)", "loom", "standard", "lo-om", 256, "loom-optimal"),
            Benchmark("(LeadingOnes, OneMax), strict, string", "loom", "strict", "bits", 16, None),
            Benchmark("LeadingOnes, standard, (LO, OM)", "lo", "standard", "lo-om", 256, "lo-standard-optimal"),
            # the table prints 16, but the figure goes to 256
            Benchmark("LeadingOnes, strict, (LO, OM)", "lo", "strict", "lo-om", 256, "lo-strict-optimal"),
        ),
    ),
)

#: Largest n of the curves and of the policies that see the string; a published number is computed at any n.
LARGEST = {"quick": 512, "full": 2048}
LARGEST_STRING = {"quick": 16, "full": 22}


def sizes(series: str, effort: str) -> tuple[int, ...]:
    """The n at which a series is computed: powers of two, and wherever a number was published."""
    powers = {1 << e for e in range(2, LARGEST[effort].bit_length())}
    return tuple(sorted(powers | {int(n) for n in by_id(series)["published"]}))
