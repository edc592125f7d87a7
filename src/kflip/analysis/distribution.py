"""The whole law of the runtime, not only its mean: what 2,000 runs estimate, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from kflip._typing import FloatArray
from kflip.analysis.request import LoChain, LoOmChain, StartLike, chain_of, known_policy
from kflip.analysis.visits import stuck_mass
from kflip.compilation import announce
from kflip.errors import InputError, TooLargeError
from kflip.exact import law
from kflip.exact.law import follow_lo, follow_lo_om, packed_levels
from kflip.exact.occupancy import visits_lo, visits_lo_om
from kflip.exact.sweeps import Progress
from kflip.policy import AnyPolicy, PolicyLike
from kflip.rules import Rule
from kflip.setting import Setting

#: Longest law made without being asked for: 128 MiB.
LONGEST = 2**24

#: Share of ``tail`` that may be given up in levels that almost no run is still in.
FORGOTTEN = 1e-3


@dataclass(frozen=True, eq=False)
class RuntimeDistribution:
    """Exact law of the iterations until the optimum is first generated.

    Attributes
    ----------
    setting, policy, start
        What was followed, and from where; ``start`` None stands for a uniformly random string.
    pmf
        ``pmf[t]`` is the probability of a runtime of ``t`` iterations, shape ``(end + 1,)``.
    tail
        At most this probability of finishing after more than ``end`` iterations.  No probability is off by more, apart
        from rounding of about 1e-16 per iteration.
    unfinished
        Probability that the run never ends: it reaches a state that it can never leave.
    complete
        Whether ``tail`` is as small as asked for; otherwise the law was cut at ``limit``.
    """

    setting: Setting
    policy: AnyPolicy
    start: StartLike
    pmf: FloatArray
    tail: float
    unfinished: float
    complete: bool

    def __post_init__(self) -> None:
        self.pmf.flags.writeable = False

    @property
    def end(self) -> int:
        """The last iteration that ``pmf`` covers."""
        return self.pmf.size - 1

    @cached_property
    def _cumulated(self) -> FloatArray:
        return np.minimum(np.cumsum(self.pmf), 1.0)

    def cdf(self, t: ArrayLike) -> FloatArray:
        """Probability of a runtime of at most ``t`` iterations, in the shape of ``t``; tends to ``1 - unfinished``."""
        times = np.floor(np.asarray(t, dtype=np.float64))
        if np.isnan(times).any():
            raise InputError("a time is a number, not NaN")
        if not self.complete and (times > self.end).any():
            raise InputError(
                f"the law was cut after {self.end} iterations, where {self.tail:.3g} of the runs still go on:"
                f" nothing is known of t = {times.max():.0f}"
            )
        index = np.clip(times, 0, self.end).astype(np.int64)
        return np.where(times < 0, 0.0, self._cumulated[index])

    def solved(self, budgets: ArrayLike) -> FloatArray:
        """Expected share of runs that have generated the optimum within each budget of iterations.

        What :meth:`kflip.simulate.Runs.ecdf` estimates.
        """
        return self.cdf(budgets)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Smallest ``t`` with ``cdf(t) >= q``, in the shape of ``q``; ``inf`` if so many runs never finish.

        A ``q`` above ``1 - unfinished - tail`` is refused: make the law with a smaller tail.
        """
        shares = np.asarray(q, dtype=np.float64)
        if not ((shares >= 0) & (shares <= 1)).all():
            raise InputError(f"a quantile needs a probability in [0, 1], not {q!r}")
        reached = self._cumulated[-1]
        hidden = (shares > reached) & (shares < 1.0) & (shares <= reached + self.tail)
        if hidden.any():
            raise InputError(
                f"the quantile at {shares[hidden].max()!r} lies in the tail of {self.tail:.3g} that was not followed:"
                " ask for a smaller tail"
            )
        index = np.searchsorted(self._cumulated, shares, side="left")
        return np.where(shares > reached, np.inf, index.astype(np.float64))

    @cached_property
    def mean(self) -> float:
        """Expected runtime: ``inf`` if a run may never end, NaN if the law was cut at the limit."""
        if self.unfinished > 0.0:
            return float("inf")
        return float(self.pmf @ np.arange(self.pmf.size)) if self.complete else float("nan")

    @cached_property
    def std(self) -> float:
        """Standard deviation of the runtime; infinite or NaN together with :attr:`mean`."""
        if not np.isfinite(self.mean):
            return self.mean
        return float(np.sqrt(self.pmf @ (np.arange(self.pmf.size) - self.mean) ** 2))

    def __repr__(self) -> str:
        return f"RuntimeDistribution({self.policy.name} on {self.setting}; t = 0..{self.end}, tail {self.tail:.1e})"


def runtime_distribution(
    setting: Setting,
    policy: PolicyLike | Rule,
    start: StartLike = None,
    *,
    tail: float = 1e-12,
    limit: int | None = None,
    progress: Progress | None = None,
) -> RuntimeDistribution:
    """Follow the law of the state from iteration to iteration until almost all runs have ended.

    Parameters
    ----------
    setting
        The benchmark, seeing ``"lo"`` or ``"lo-om"``.
    policy
        Whatever :func:`kflip.evaluate` takes.
    start
        None for a uniformly random string, ``(lo, om)`` for a random one of that state; a setting that sees LO
        alone takes ``lo`` as well.
    tail
        Stop when at most this probability is left.
    limit
        Stop after this many iterations at the latest.  Without one, policies that take more than 2**24 iterations on
        average are refused.
    progress
        Called now and then with the finished fraction.

    Examples
    --------
    >>> from kflip.setting import Setting
    >>> law = runtime_distribution(Setting(8), "one-bit")
    >>> round(law.mean, 6), float(law.quantile(0.5)), law.cdf([0, 10]).round(6).tolist()
    (16.200856, 15.0, [0.003906, 0.282404])
    """
    if not 0 < tail < 1:
        raise InputError(f"tail is a probability strictly between 0 and 1, not {tail!r}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 0):
        raise InputError(f"limit is a number of iterations, not {limit!r}")
    chosen = known_policy(setting, policy)
    chain = chain_of(setting, chosen, start)
    announce(law.advance_lo if isinstance(chain, LoChain) else law.advance)
    expected, unfinished, blocks = _prepare(chain, tail)
    if limit is None and expected > LONGEST:
        raise TooLargeError(
            f"a run of this policy takes {expected:.3g} iterations on average, too many to follow one by one:"
            f" give limit=... to get the law up to there"
        )
    longest = LONGEST if limit is None else int(limit)
    at_once = float(chain.start[(-1,) * chain.start.ndim])
    pieces, done, left = [np.array([at_once])], 0, 1.0 - at_once
    while left > tail and done < longest:
        finished, left = next(blocks)
        pieces.append(finished)
        done += finished.size
        if progress is not None:
            progress(_share(done, expected, left, tail))
    pmf = np.concatenate(pieces)
    # what is left after t iterations, summed from the end: no cancellation
    survival = left + np.append(np.cumsum(pmf[:0:-1])[::-1], 0.0)
    end = min(int(np.argmax(survival <= tail)) if left <= tail else done, longest)
    if progress is not None:
        progress(1.0)
    return RuntimeDistribution(
        setting, chosen, start, pmf[: end + 1].copy(), float(survival[end]), unfinished, bool(survival[end] <= tail)
    )


def _prepare(chain: LoChain | LoOmChain, tail: float) -> tuple[float, float, Iterator[tuple[FloatArray, float]]]:
    """Expected iterations until a run ends or gets stuck, the chance of the latter, and the blocks of the law."""
    if isinstance(chain, LoChain):
        expected, probability = visits_lo(chain.p, chain.first)
        blocks = follow_lo(chain.p, chain.start[:-1], FORGOTTEN * tail)
    else:
        policy = chain.n, chain.mode, chain.table, chain.radii, chain.probabilities, chain.start
        expected, probability, _ = visits_lo_om(*policy)
        blocks = follow_lo_om(chain.n, packed_levels(*policy), FORGOTTEN * tail)
    return float(expected[np.isfinite(expected)].sum()), stuck_mass(expected, probability), blocks


def _share(done: int, expected: float, left: float, tail: float) -> float:
    falling = np.log(left) / np.log(tail) if left > 0.0 else 1.0
    return float(0.5 * min(1.0, done / max(expected, 1.0)) + 0.5 * min(1.0, max(0.0, falling)))
