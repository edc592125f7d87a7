"""``kflip explain``."""

from __future__ import annotations

import json

import pytest

import kflip
from kflip.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["explain", *arguments])
    captured = capsys.readouterr()
    assert stop.value.code == 0, captured.err
    return captured.out


def test_json_adds_up(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "one-bit", "--n", "24", "--json"))
    exact = kflip.evaluate(kflip.Setting(24), "one-bit")
    assert result["expected_runtime"] == exact.expected_runtime
    assert result["regret"] == pytest.approx(exact.regret)
    assert len(result["worst_states"]) == 10
    losses = [row["lost"] for row in result["worst_states"]]
    assert losses == sorted(losses, reverse=True)
    assert sum(losses) <= exact.expected_runtime - exact.optimal_runtime
    quantiles = list(result["quantiles"].values())
    assert quantiles == sorted(quantiles)
    assert 0.0 < result["hit_ratio"]["time"] < 1.0


def test_optimal_policies_lose_nothing(capsys: pytest.CaptureFixture[str], tmp_path: object) -> None:
    path = f"{tmp_path}/best.npz"
    kflip.save(path, kflip.solve(kflip.Setting(20, "lo", "strict")))
    text = run(capsys, path)
    assert "loses nothing" in text
    assert "100.00% of the states" in text


@pytest.mark.parametrize("state", ["lo", "lo-om"])
def test_stuck_policies_are_explained_too(capsys: pytest.CaptureFixture[str], state: str) -> None:
    result = json.loads(run(capsys, "constant-2", "--n", "10", "--objective", "lo", "--state", state, "--json"))
    assert result["expected_runtime"] == "inf"
    assert result["unfinished"] == pytest.approx(0.5)
    assert result["quantiles"]["0.75"] == "inf"
    assert result["worst_states"][0]["lost"] == "inf"
