"""Which characters of the transcript are selected, over one turn or several. Knows no widget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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

    @property
    def blocks(self) -> range:
        """The blocks that something is selected of, in order."""
        if self._anchor is None or self._end is None or self._anchor == self._end:
            return range(0)
        first, last = sorted((self._anchor, self._end))
        return range(first.block, last.block + 1)

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

    def range_in(self, block: int) -> tuple[int, int] | None:
        """Return what is selected of a block; the end may lie behind its text."""
        if self._anchor is None or self._end is None:
            return None
        first, last = sorted((self._anchor, self._end))
        if not first.block <= block <= last.block or first == last:
            return None
        return first.offset if block == first.block else 0, last.offset if block == last.block else END

    def pieces(self, texts_of: Callable[[int], Iterator[str]]) -> Iterator[str]:
        """Return the selected text piece by piece, given a block's text in pieces; turns are an empty line apart."""
        if self._anchor is None or self._end is None or self._anchor == self._end:
            return
        first, last = sorted((self._anchor, self._end))
        for number in range(first.block, last.block + 1):
            if number > first.block:
                yield "\n\n"
            start = first.offset if number == first.block else 0
            end = last.offset if number == last.block else END
            position = 0
            for text in texts_of(number):
                yield text[max(start - position, 0) : max(end - position, 0)]
                position += len(text)
                if position >= end:
                    break


def _is_word(character: str) -> bool:
    return character.isalnum() or character in "_'’"
