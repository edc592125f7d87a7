"""The paper's claims in words: five hold, one does not, and a changed claim does not pass."""

from __future__ import annotations

from typing import Any

import pytest

from kflip.paper import claims, series
from kflip.paper.claims import CHECKS, KNOWN_WRONG, check, string_differences, wording


def test_every_claim_can_be_decided() -> None:
    assert list(CHECKS) == [entry["id"] for entry in series.published()["claims"]]


@pytest.mark.parametrize("name", CHECKS)
def test_verdicts(name: str) -> None:
    finding = check(name, "quick")
    assert finding.holds == (name not in KNOWN_WRONG)
    assert finding.verdict == ("refuted" if name in KNOWN_WRONG else "checked")
    assert not finding.surprising
    assert finding.found


def test_what_was_found() -> None:
    assert check("bits-n16-different-states").found == "4 states: (0, 7), (0, 8), (3, 5), (3, 7)"
    assert check("lo-strict-n128-worst").found == "(41, 41): 7469.5062 iterations"
    assert "4, 5, 6, 7, 11 iterations for n = 8, 16, 32, 64, 128" in check("policy-iteration-5", "quick").found


@pytest.mark.parametrize("change", [{"worst_state": [3, 4]}, {"expected_runtime": 6362.69}, {"selection": "strict"}])
def test_a_changed_claim_is_refuted(change: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    data = series.published()
    changed = [{**entry, **change} if entry["id"] == "lo-standard-n128-worst" else entry for entry in data["claims"]]
    monkeypatch.setattr(claims, "published", lambda: {**data, "claims": changed})
    finding = check("lo-standard-n128-worst")
    assert finding.verdict == "refuted"
    assert finding.surprising


def test_claims_are_sentences() -> None:
    texts = [wording(entry) for entry in series.published()["claims"]]
    assert "lo strict n=128: the worst state is LO=41, OM=41, 7469.51 iterations" in texts


def test_strings_want_what_their_state_wants_for_small_n() -> None:
    assert string_differences(6) == []
