"""Where characters of an answer's Markdown stand in what is read of it, as far as that is certain.

What is read leaves out marks, so it is a part of its source in the same order. A character is placed only where every way
to find the one in the other places it alike: between two equal letters, of which one is a mark, nothing is guessed.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from app.gui.markdown.cuts import fence_opening
from app.gui.markdown.sources import Sources
from app.gui.markdown.values import Block, Code

NOWHERE = -1
Range = tuple[int, int]


class Found(NamedTuple):
    """Where a stretch of the source is read."""

    ranges: tuple[Range, ...]
    """Stretches of what is read; none for marks alone."""
    is_certain: bool
    """Whether nothing of the stretch may be read elsewhere."""
    near: int
    """A character that is read close to its beginning, for a mark beside the line."""


class PlainPlaces:
    """The way from one answer's Markdown to what is read of it."""

    def __init__(self, markdown: str) -> None:
        self._plain_of = [NOWHERE] * len(markdown)
        self._doubts = bytearray(len(markdown))
        self._plain: list[str] = []
        self._text = ""
        self._known: list[int] = []
        self._steps = self._read(markdown)
        self.is_ready = False
        """Whether all of it is read."""

    @property
    def text(self) -> str:
        """What is read."""
        self.read_until(None)
        return self._text

    def read_until(self, end_ns: int | None) -> bool:
        """Read up to a moment (`perf_counter_ns`), or to the end; return whether all of it is read."""
        while not self.is_ready and (end_ns is None or time.perf_counter_ns() < end_ns):
            self.is_ready = next(self._steps, None) is None
        return self.is_ready

    def find(self, start: int, end: int) -> Found:
        """Return where the characters of the source from one to another are read."""
        self.read_until(None)
        start, end = max(start, 0), min(end, len(self._plain_of))
        ranges: list[Range] = []
        for plain in self._plain_of[start:end]:
            if plain == NOWHERE:
                continue
            if ranges and (ranges[-1][1] == plain or self._text[ranges[-1][1] : plain].isspace()):
                ranges[-1] = (ranges[-1][0], plain + 1)
            else:
                ranges.append((plain, plain + 1))
        return Found(tuple(ranges), not any(self._doubts[start:end]), self._near(start))

    def _near(self, start: int) -> int:
        """Return the first character that is certainly read from a place on, or the last one before it."""
        place = bisect_left(self._known, start)
        if place < len(self._known):
            return self._plain_of[self._known[place]]
        return self._plain_of[self._known[-1]] + 1 if self._known else 0

    def _read(self, markdown: str) -> Iterator[bool]:
        """Read a little more with each step."""
        sources = Sources(markdown)
        while sources.read_on():
            yield True
        blocks, first, position = sources.blocks, 0, 0
        while first < len(blocks):
            last = sources.alike(first)[-1]
            start, end = sources.place_of(first, last)
            plain: list[int] = []
            letters: list[str] = []
            for block in blocks[first : last + 1]:
                position += len(block.place.gap)
                shift = len(block.place.prefix)
                self._plain += [block.place.gap, block.text]
                for number, letter in enumerate(block.text[shift:], position + shift):
                    if not letter.isspace():
                        letters.append(letter)
                        plain.append(number)
                position += len(block.text)
            start = min(start + _head(blocks[first], markdown[start:end]), end)
            self._place(markdown, (start, end), letters, plain)
            first = last + 1
            yield True
        self._text = "".join(self._plain)
        self._known = [place for place, letter in enumerate(self._plain_of) if letter != NOWHERE]

    def _place(self, markdown: str, part: Range, letters: list[str], plain: list[int]) -> None:
        """Place the letters that are read of a part of the source where that can be done in one way alone."""
        start, end = part
        earliest = _matches(letters, markdown, range(start, end))
        if earliest is None:
            self._doubts[start:end] = b"\1" * (end - start)
            return
        latest = _matches(letters[::-1], markdown, range(end - 1, start - 1, -1)) or []
        for letter, early, late in zip(plain, earliest, latest[::-1], strict=True):
            if early == late:
                self._plain_of[early] = letter
            else:
                self._doubts[early : late + 1] = b"\1" * (late + 1 - early)


def _matches(letters: list[str], source: str, places: range) -> list[int] | None:
    """Return the first places at which letters follow on one another; None where they do not."""
    found: list[int] = []
    wanted = iter(letters)
    letter = next(wanted, None)
    for place in places:
        if letter is None:
            break
        if source[place] == letter:
            found.append(place)
            letter = next(wanted, None)
    return found if letter is None else None


def _head(block: Block, lines: str) -> int:
    """Return how long the line is that opens code: none of it is read."""
    first = lines.find("\n") + 1
    is_fenced = isinstance(block, Code) and first > 0 and fence_opening(lines[: first - 1]) is not None
    return first if is_fenced else 0
