"""Which characters of the transcript are selected, over one turn or several. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

END = 2**62
"""An offset behind the last character of any text."""


class Place(NamedTuple):
    """A character: number of the block, and offset in its text."""

    block: int
    offset: int


class Selection:
    """From where the mouse went down to where it is."""

    def __init__(self) -> None:
        self._anchor: Place | None = None
        self._end: Place | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is selected."""
        return self._anchor is None or self._anchor == self._end

    def start(self, place: Place) -> None:
        """Begin at a place."""
        self._anchor = self._end = place

    def extend(self, place: Place) -> None:
        """Select up to a place."""
        if self._anchor is None:
            self._anchor = place
        self._end = place

    def clear(self) -> None:
        """Select nothing."""
        self._anchor = self._end = None

    def word(self, place: Place, text: str) -> None:
        """Select the word at a place."""
        start = end = min(place.offset, len(text))
        while start > 0 and _is_word(text[start - 1]):
            start -= 1
        while end < len(text) and _is_word(text[end]):
            end += 1
        self._anchor, self._end = Place(place.block, start), Place(place.block, end)

    def range_in(self, block: int, length: int = END) -> tuple[int, int] | None:
        """Return what is selected of a block; without its length the end may lie behind its text."""
        if self._anchor is None or self._end is None:
            return None
        first, last = sorted((self._anchor, self._end))
        if not first.block <= block <= last.block or first == last:
            return None
        start = first.offset if block == first.block else 0
        end = last.offset if block == last.block else length
        return start, end

    def text(self, text_of: Callable[[int], str]) -> str:
        """Return the selected text, given what a block's text is; turns are an empty line apart."""
        if self._anchor is None or self._end is None:
            return ""
        first, last = sorted((self._anchor, self._end))
        parts = []
        for number in range(first.block, last.block + 1):
            text = text_of(number)
            chosen = self.range_in(number, len(text))
            if chosen is not None:
                parts.append(text[chosen[0] : chosen[1]])
        return "\n\n".join(parts)


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_'’"
