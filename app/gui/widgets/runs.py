"""Where a text can be cut: between what people take for characters, which may be several of the computer's."""

from __future__ import annotations

import re
from itertools import pairwise

from PySide6.QtCore import QTextBoundaryFinder

_LONGEST_RUN, _PART = 24, 8
"""Characters: longer ones are no words, and may break after each so many."""
_BREAK = "\u200b"
_RUNS = re.compile(r"\s+|\S+")


def end_of_text(text: str, most: int) -> str:
    """Return the end of a text, at most so many characters, from where one begins."""
    ahead = len(text) - most
    if ahead <= 0:
        return text
    return text[next((place for place in boundaries(text) if place >= ahead), ahead) :]


def boundaries(text: str) -> list[int]:
    """Return the places in a text where one of its characters begins, and its end."""
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    # Qt counts in UTF-16.
    units, places = 0, {0: 0}
    for place, character in enumerate(text, start=1):
        units += 2 if ord(character) > 0xFFFF else 1
        places[units] = place
    found = [0]
    while (unit := finder.toNextBoundary()) >= 0:
        found.append(places[unit])
    return found


def breakable(text: str) -> str:
    """Return a text whose long runs without a space may go on in another line: a label breaks lines at words alone."""
    return "".join(_parted(run) if len(run) > _LONGEST_RUN else run for run in _RUNS.findall(text))


def _parted(run: str) -> str:
    places = boundaries(run)
    ends = [*places[_PART::_PART], len(run)]
    return _BREAK.join(run[start:end] for start, end in pairwise((0, *ends)) if end > start)
