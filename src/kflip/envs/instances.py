"""Instances: the sizes and starts that an environment goes through, one for each episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TypeAlias

from kflip.envs.records import IN_LEVEL
from kflip.errors import InputError
from kflip.setting import Setting
from kflip.simulate.bit_level import string_index
from kflip.simulate.starts import AT_STRING, StartLike, start_of


@dataclass(frozen=True)
class Instance:
    """Where episodes begin.

    Parameters
    ----------
    n
        Length of the string; None for that of the environment's setting.
    start
        None for a uniformly random string, a whole number for a random string with that LO, a tuple ``(lo, om)`` for
        a random string of that state, a string of bits as text, list or array for that one.  The last needs state
        ``"bits"``; a given OM needs a state that shows it.
    """

    n: int | None = None
    start: StartLike | int = None


InstanceLike: TypeAlias = Instance | int


@dataclass(frozen=True)
class Beginning:
    """A checked instance: its setting, and the kind of start with its LO, OM and string."""

    setting: Setting
    kind: int
    lo: int = 0
    om: int = 0
    string: int = 0


def beginnings(setting: Setting, instances: Sequence[InstanceLike] | None) -> tuple[Beginning, ...]:
    """Check instances; None stands for one, a random start of the setting."""
    if instances is None:
        instances = [Instance()]
    if isinstance(instances, (str, bytes)) or not isinstance(instances, Sequence) or not instances:
        raise InputError(f"instances are a list of lengths or of kflip.envs.Instance, at least one, not {instances!r}")
    checked = tuple(_beginning(setting, instance) for instance in instances)
    sizes = {b.setting.n for b in checked}
    if len(sizes) > 1 and setting.state == "bits":
        raise InputError(f"strings of different lengths {sorted(sizes)} do not share an observation space")
    counts = {b.setting.n: len(b.setting.radii) for b in checked}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{count} for n = {n}" for n, count in sorted(counts.items()))
        raise InputError(
            f"the portfolio {setting.portfolio} has different numbers of radii ({told}), so the instances do not share"
            " an action space: give a list of radii, or a portfolio of fixed size such as initial-segment-M"
        )
    return checked


def _beginning(setting: Setting, instance: InstanceLike) -> Beginning:
    if isinstance(instance, Integral) and not isinstance(instance, bool):
        instance = Instance(int(instance))
    if not isinstance(instance, Instance):
        raise InputError(f"an instance is a length or a kflip.envs.Instance, not {instance!r}")
    if instance.n is not None:
        setting = replace(setting, n=instance.n)
    n, start = setting.n, instance.start
    if isinstance(start, Integral) and not isinstance(start, bool):
        lo = int(start)
        if not 0 <= lo <= n:
            raise InputError(f"a start has LO in 0..{n}, not {lo}")
        return Beginning(setting, IN_LEVEL, lo)
    given = start_of(n, start)
    if given.kind == AT_STRING and setting.state != "bits":
        raise InputError(f"a start at a given string needs state 'bits', not {setting.state!r}")
    if start is not None and setting.state == "lo":
        raise InputError("where LO is all the policy sees, a start is None or a whole number LO, not (lo, om)")
    string = int(string_index(given.bits)) if given.kind == AT_STRING else 0
    return Beginning(setting, given.kind, given.lo, given.om, string)
