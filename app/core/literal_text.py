"""Finds text as it was typed, whatever the case of its letters: where it is, and what stands around it.

Pure. Nothing in what is typed means anything but itself; letters are compared as Unicode folds them, one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import msgspec

from app.core.chat import clean_text

Span = tuple[int, int]
"""Where something begins and ends in a text, in characters."""

BEFORE, AFTER = 40, 120
"""So many characters a snippet shows before a match and from its beginning on."""
_ELLIPSIS = "…"


class Snippet(msgspec.Struct, frozen=True):
    """A line out of a text, and where in it the matches are."""

    text: str
    marks: tuple[Span, ...]


def fold(text: str) -> str:
    """Return a text without the differences of case; some letters become two."""
    return text.casefold()


def needle(typed: str) -> str:
    """Return what is looked for where this was typed, folded; empty where that is nothing but white space."""
    return fold(clean_text(typed)).strip()


def matches(text: str, wanted: str, most: int | None = None) -> list[Span]:
    """Return where a text holds what `needle` returned, from the left, none over another; at most so many."""
    if not wanted:
        return []
    folded = fold(text)
    found: list[Span] = []
    begin = folded.find(wanted)
    while begin >= 0 and (most is None or len(found) < most):
        found.append((begin, begin + len(wanted)))
        begin = folded.find(wanted, begin + len(wanted))
    # No letter folds to nothing: equally long means that each folded to one.
    return found if len(folded) == len(text) else _in_original(text, found)


def _in_original(text: str, found: list[Span]) -> list[Span]:
    """Return the places of matches in the text before it was folded: a letter that is hit in part is hit."""
    ends = list(accumulate(len(letter.casefold()) for letter in text))
    spans: list[Span] = []
    for begin, end in found:
        first, last = bisect_right(ends, begin), bisect_right(ends, end - 1)
        if not spans or first >= spans[-1][1]:
            spans.append((first, last + 1))
    return spans


def snippet_of(text: str, wanted: str) -> Snippet:
    """Return one line around the first match, with every match in it marked; the beginning where there is none."""
    first = matches(text, wanted, 1)
    begin = _word_start(text, max(first[0][0] - BEFORE, 0)) if first else 0
    end = min((first[0][0] if first else 0) + AFTER, len(text))
    if first:
        end = max(end, min(first[0][1], first[0][0] + 2 * AFTER))
    shown = "".join(" " if letter.isspace() or not letter.isprintable() else letter for letter in text[begin:end])
    head = _ELLIPSIS if begin > 0 else ""
    tail = _ELLIPSIS if end < len(text) else ""
    marks = matches(text[begin:end], wanted)
    if first and not marks:
        marks = [(first[0][0] - begin, end - begin)]
    return _squeezed(head, shown, tail, marks)


def _word_start(text: str, begin: int) -> int:
    """Return where the word behind a place begins, if one does soon."""
    if begin == 0:
        return 0
    space = next(
        (place for place in range(begin, min(begin + BEFORE // 2, len(text))) if text[place].isspace()), None
    )
    return begin if space is None else space + 1


def _squeezed(head: str, shown: str, tail: str, marks: list[Span]) -> Snippet:
    """Return a line in which no two blanks stand side by side, and the marks where they are then."""
    kept: list[str] = list(head)
    places: list[int] = []
    for letter in shown:
        places.append(len(kept))
        if letter != " " or (kept and kept[-1] != " "):
            kept.append(letter)
    places.append(len(kept))
    spans = ((places[begin], places[end]) for begin, end in marks)
    return Snippet("".join(kept) + tail, tuple((begin, end) for begin, end in spans if begin < end))
