"""Action values against one step of the dense chain followed by the policy's values."""

from __future__ import annotations

import numpy as np
import pytest

import kflip
from kflip.analysis import action_values
from tests.oracle import Dense

KINDS = [("loom", "standard"), ("loom", "strict"), ("lo", "standard"), ("lo", "strict")]


@pytest.mark.parametrize(
    ("objective", "selection", "state"), [(*kind, "lo-om") for kind in KINDS] + [("lo", "strict", "lo")]
)
@pytest.mark.parametrize("portfolio", ["full", "2,3,6"])
def test_one_step_then_the_policy(objective: str, selection: str, state: str, portfolio: str) -> None:
    rng = np.random.default_rng(4)
    setting = kflip.Setting(6, objective, selection, state, portfolio)
    dense = Dense.of(setting)
    infinite = finite = 0
    for attempt in range(5):
        table = np.zeros(setting.shape, dtype=int)
        for s in dense.states[:-1]:
            lo = s if state == "lo" else s[0]
            allowed = [k for k in setting.radii if attempt % 2 or k <= 6 - lo]
            table[s] = rng.choice(allowed or setting.radii)
        values, _ = dense.moments(dense.chain([{int(table[s]): 1.0} for s in dense.states[:-1]]))
        ours = action_values(setting, table).array()
        assert ours.shape == (*setting.shape, len(setting.radii))
        for number, s in enumerate(dense.states[:-1]):
            for c, k in enumerate(setting.radii):
                row = dense.matrices[k][number]
                reached = row > 0
                expected = 1.0 + row[reached] @ values[reached]
                assert ours[s][c] == pytest.approx(expected, rel=1e-10)
                infinite += np.isinf(expected)
                finite += np.isfinite(expected)
        assert ours[dense.states[-1]].tolist() == [0.0] * len(setting.radii)
    assert infinite > 0
    assert finite > 0 or state == "lo"  # without radius 1, every run from a random suffix may be lost


def test_leaving_a_hopeless_state_for_certain() -> None:
    """All six bits of 000000 flipped give the optimum, though the policy itself may get lost from there."""
    setting = kflip.Setting(6, "lo", "strict", portfolio="4,6")
    row = action_values(setting, kflip.rules.constant(4)).at(0, 0)
    assert row.tolist() == [np.inf, 1.0]


@pytest.mark.parametrize(("objective", "selection"), KINDS)
def test_best_action_has_the_optimal_value(objective: str, selection: str) -> None:
    setting = kflip.Setting(30, objective, selection)
    best = kflip.solve(setting)
    values = action_values(setting, best.policy)
    np.testing.assert_allclose(values.array().min(axis=2), best.values, rtol=1e-12)
    assert values.level(7).shape == (23, 30)
    assert values.at(7, 9).tolist() == values.level(7)[2].tolist()
    np.testing.assert_array_equal(action_values(setting, best.policy, state=(7, 9)), values.at(7, 9))
    chosen = best.policy.at(7, 9)
    assert values.at(7, 9)[setting.radii.index(chosen)] == pytest.approx(best.values[7, 9], rel=1e-12)


def test_seeing_lo_alone() -> None:
    setting = kflip.Setting(9, "lo", state="lo")
    values = action_values(setting, "one-bit")
    exact = kflip.evaluate(setting, "one-bit").values
    np.testing.assert_allclose(values.array()[:, 0], exact, rtol=1e-14)
    np.testing.assert_array_equal(action_values(setting, "one-bit", state=3), values.at(3))
    with pytest.raises(kflip.InputError, match="LO alone"):
        values.at(3, 4)


def test_refusals() -> None:
    with pytest.raises(kflip.InputError, match="Markov"):
        action_values(kflip.Setting(5, state="lo"), "one-bit")
    with pytest.raises(kflip.InputError, match="bits"):
        action_values(kflip.Setting(5, state="bits"), lambda x: 1)
    values = action_values(kflip.Setting(5), "one-bit")
    for lo, om in ((0, 5), (3, 2), (6, 6), (-1, 0)):
        with pytest.raises(kflip.InputError):
            values.at(lo, om)
    with pytest.raises(kflip.InputError):
        values.level(6)
