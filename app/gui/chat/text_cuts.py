"""Where a long text is cut, so that each part can be laid out without the others.

Where a paragraph is cut depends only on the paragraph from its start on: a text that grows is cut as if it were there at once.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

PART_CHARACTERS = 2000
"""No part is longer; inside a paragraph of more a line ends early where a part does."""
PART_LINES = 48
_BREAK_WITHIN = 200
_NO_START = "\u200d\ufe0e\ufe0f"
_MANY_LINES = re.compile(rf"(?:[^\n]*+\n){{{PART_LINES}}}")


def cuts(text: str, start: int) -> Iterator[tuple[int, int]]:
    """Return from where to where each part goes; only the last one can still grow."""
    while len(text) - start > PART_CHARACTERS:
        end = text.rfind("\n", start, start + PART_CHARACTERS) + 1 or break_before(text, start, PART_CHARACTERS)
        yield from _by_lines(text, start, end, is_open=False)
        start = end
    yield from _by_lines(text, start, len(text), is_open=True)


def break_before(text: str, start: int, length: int) -> int:
    """Return where a line can be broken near the end of a length, between words where there are any."""
    end = start + length
    space = text.rfind(" ", end - _BREAK_WITHIN, end)
    if space > start:
        return space + 1
    while end > start + length // 2 and (unicodedata.combining(text[end]) or text[end] in _NO_START):
        end -= 1
    return end


def _by_lines(text: str, start: int, end: int, *, is_open: bool) -> Iterator[tuple[int, int]]:
    if text.count("\n", start, end) > PART_LINES:
        while (found := _MANY_LINES.match(text, start, end)) is not None:
            yield start, found.end()
            start = found.end()
    if start < end or is_open:
        yield start, end
