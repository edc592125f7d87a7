"""Errors a caller may want to tell apart, and the sentence that suggests the nearest known word."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """A setting, portfolio, policy or option that makes no sense; the message says what would."""


class FileFormatError(ValueError):
    """A file that is truncated, altered, foreign or newer than this version understands."""


class TooLargeError(InputError):
    """A request that would not fit into memory; the message gives the estimate."""


def unknown_word(kind: str, word: object, known: Iterable[str]) -> InputError:
    """Build the error for a word outside a fixed vocabulary, naming the nearest match."""
    options = list(known)
    near = get_close_matches(str(word), options, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return InputError(f"unknown {kind} {word!r}; choose one of {', '.join(options)}.{hint}")
