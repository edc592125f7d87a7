"""The law of the runtime as a picture: exact steps, quartiles, and simulated runs beside them."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import kflip
from kflip.analysis import runtime_distribution
from kflip.errors import InputError
from kflip.figures import distribution


def curves(ax: Axes) -> list[Line2D]:
    return [line for line in ax.lines if line.get_gid() != "quartile"]


def test_exact_and_simulated() -> None:
    setting = kflip.Setting(8)
    law = runtime_distribution(setting, "one-bit")
    ax = distribution(setting, "one-bit", runs=200, seed=4).axes[0]
    exact, simulated = curves(ax)
    times = np.asarray(exact.get_xdata())
    assert (np.diff(times) == 1).all()
    np.testing.assert_array_equal(exact.get_ydata(), law.cdf(times))
    runs = kflip.simulate(setting, "one-bit", 200, 4)
    np.testing.assert_array_equal(simulated.get_ydata(), runs.ecdf(times))
    assert exact.get_drawstyle() == simulated.get_drawstyle() == "steps-post"
    assert ax.get_xlim() == (times[0], times[-1])
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == [
        f"exact: mean {law.mean:.1f}, std {law.std:.1f}",
        "200 simulated runs",
    ]
    assert "one-bit policy" in ax.get_title()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iterations", "runs that have finished")


def test_quartiles() -> None:
    setting = kflip.Setting(16, "lo", "strict")
    best = kflip.solve(setting).policy
    law = runtime_distribution(setting, best)
    ax = distribution(setting, best).axes[0]
    assert len(curves(ax)) == 1
    marks = [line for line in ax.lines if line.get_gid() == "quartile"]
    expected = [float(law.quantile(q)) for q in (0.25, 0.5, 0.75)]
    assert [float(np.asarray(line.get_xdata())[0]) for line in marks] == expected
    assert [text.get_text() for text in ax.texts] == [
        f"{name}: {time:.0f}" for name, time in zip(("25%", "median", "75%"), expected, strict=True)
    ]


def test_runs_that_never_finish() -> None:
    setting = kflip.Setting(6, portfolio=[2, 4])
    law = runtime_distribution(setting, "constant-2")
    assert 0.0 < law.unfinished < 1.0
    ax = distribution(setting, "constant-2", runs=100).axes[0]
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_texts()[0].get_text() == f"exact: {law.unfinished:.2%} never finish"
    assert np.asarray(curves(ax)[0].get_ydata())[-1] <= 1.0 - law.unfinished + 1e-12
    reached = float(law.cdf(law.end))
    assert [text.get_text().split(":")[0] for text in ax.texts] == ["25%", "median"][: 1 + (reached >= 0.5)]


def test_long_laws_are_thinned() -> None:
    line = curves(distribution(kflip.Setting(128, "lo", state="lo"), "one-bit").axes[0])[0]
    times = np.asarray(line.get_xdata())
    assert times.size <= 2_000
    assert (times == np.round(times)).all()
    assert times[-1] > 8_000


def test_one_bit_of_one() -> None:
    assert distribution(kflip.Setting(1), "one-bit").axes[0].get_xlim()[0] == 0.0


def test_refused() -> None:
    with pytest.raises(InputError, match="runs must be at least 0, not -1"):
        distribution(kflip.Setting(4), "one-bit", runs=-1)
    with pytest.raises(InputError, match="state 'bits' is not supported"):
        distribution(kflip.Setting(4, state="bits"), "one-bit")
