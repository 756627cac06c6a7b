"""Finds the texts of control and user-defined tokens in a prompt.

Knows nothing of messages. llama.cpp turns such a text into its token wherever it stands; who may write one is decided
elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Occurrence:
    """A stretch of a text, in characters, that names a token."""

    start: int
    end: int
    token: int
    is_control: bool


class SpecialTexts:
    """The control and user-defined tokens of a vocabulary by their texts."""

    def __init__(self, listed: Iterable[tuple[int, str, bool]]) -> None:
        self._texts: dict[int, str] = {}
        self._known: dict[str, tuple[int, bool]] = {}
        lengths: dict[str, set[int]] = {}
        for token, text, is_control in listed:
            self._texts[token] = text
            # White space and single characters that a converter called user-defined are ordinary text.
            if text and (is_control or (len(text) > 1 and not text.isspace())):
                self._known.setdefault(text, (token, is_control))
                lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {first: tuple(sorted(each)) for first, each in lengths.items()}
        self._first = re.compile("[" + re.escape("".join(self._lengths)) + "]") if self._lengths else None

    def __contains__(self, token: int) -> bool:
        return token in self._texts

    def text(self, token: int | None) -> str:
        """Return a special token's text; nothing for any other."""
        return "" if token is None else self._texts.get(token, "")

    def find(self, text: str) -> Iterator[Occurrence]:
        """Yield every place where the text names a special token, also where two overlap."""
        if self._first is None:
            return
        for place in self._first.finditer(text):
            start = place.start()
            for length in self._lengths[place.group()]:
                known = self._known.get(text[start : start + length])
                if known is not None:
                    yield Occurrence(start, start + length, *known)
