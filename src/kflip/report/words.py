"""The sentences of the page: the result first."""

from __future__ import annotations

from html import escape
from typing import Any

DIFFERS = "differs"
AGREES = "agrees"


def everything_agrees(content: dict[str, Any]) -> bool:
    """Whether no number differs and no claim fails unexpectedly."""
    unexpected = any(not item["holds"] and not item["known_erratum"] for item in content["claims"])
    return content["agree"] == content["of"] and not unexpected


def headline(content: dict[str, Any]) -> str:
    """The result in one line."""
    if content["of"]:
        return f"{content['agree']} of {content['of']} published runtimes agree"
    if content["claims_of"]:
        return f"{content['claims_checked']} of {content['claims_of']} published claims hold"
    return "; ".join(f"{item['title']}: {item['runtime']:.2f} expected iterations" for item in content["maps"])


def findings(content: dict[str, Any]) -> list[str]:
    """What else there is to know, as HTML."""
    said = []
    if content["of"]:
        plain = sum(item["verdict"] == AGREES for item in content["numbers"])
        dropped = content["agree"] - plain
        said.append(
            f"<b>{plain}</b> as printed, <b>{dropped}</b> once the start states with OM = LO are dropped as the paper"
            " did. These are the strings 1…10…0; they matter up to n = 32, and our numbers include them."
        )
        differing = [item for item in content["numbers"] if item["verdict"] == DIFFERS]
        if differing:
            listed = ", ".join(f"{escape(item['series'])} at n = {item['n']}" for item in differing)
            said.append(f"<b class='bad'>{len(differing)} differ</b>: {listed}.")
        largest = max(min(abs(item["difference"]), abs(item["difference_as_published"])) for item in content["numbers"])
        said.append(f"The largest relative difference is <b>{largest:.0e}</b>.".replace("e-", "e‑"))
    if content["claims_of"]:
        refuted = [item for item in content["claims"] if not item["holds"]]
        text = f"<b>{content['claims_checked']} of {content['claims_of']}</b> claims made in words hold."
        if refuted:
            text += " Refuted: " + "; ".join(f"“{escape(item['text'])}” ({escape(item['found'])})" for item in refuted)
            text += "."
        said.append(text)
    reached = {item["series"]: item["n"] for item in content["numbers"]}  # ascending: the last is the largest
    beyond = [n for name, n in content["largest_n"].items() if n > reached[name]]
    if beyond:
        said.append(
            f"<b>{len(beyond)} of {len(reached)}</b> curves go on beyond the paper, to n = <b>{max(beyond)}</b>."
        )
    return said


def colophon(content: dict[str, Any]) -> str:
    """Where the page comes from, as HTML."""
    command = "kflip reproduce" + (" --quick" if content["effort"] == "quick" else "")
    return (
        f"Made by <code>{command}</code>, kflip {escape(content['kflip'])}. The published numbers are those of Covini,"
        " Antipov and Doerr, <i>Enhancing Parameter Control Policies with State Information</i> (FOGA 2025). A runtime"
        " counts iterations until the optimum is first generated, from a uniformly random string."
    )
