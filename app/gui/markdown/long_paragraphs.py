"""Cuts a paragraph that is far too long to lay out in one go into several, wherever it stands. Loses no character."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from app.gui.markdown.cuts import MOST_CHARACTERS, MOST_MARKS
from app.gui.markdown.values import Block, Paragraph, Place, Run, Runs, Table, text_of

_WORD_CHARACTERS = 200
_LONGEST = MOST_CHARACTERS + _WORD_CHARACTERS
"""A part may be so long: what is cut while it is written ends behind a word, and no part is a word or two."""


def short_paragraphs(paragraph: Paragraph) -> Iterator[Paragraph]:
    """Return the paragraph, or where it is too long its parts: where it is cut depends on nothing behind the cut."""
    text = text_of(paragraph.runs)
    if len(text) <= _LONGEST and len(paragraph.runs) <= MOST_MARKS:
        yield paragraph
        return
    rest, start = list(reversed(paragraph.runs)), 0
    while start < len(text):
        end = len(text)
        if end - start > _LONGEST:
            end = start + MOST_CHARACTERS
            end = text.rfind(" ", end - _WORD_CHARACTERS, end) + 1 or end
        end = min(end, start + sum(len(run.text) for run in rest[-MOST_MARKS:]))
        end += text[end : end + 1] == " "
        end = _not_inside(rest, start, end)
        place = paragraph.place if not start else Place(paragraph.place.frames)
        yield Paragraph(_first(rest, end - start), paragraph.level, place)
        start = end


def without_guard(block: Block, *, at_end: bool = False) -> Block:
    """Return a block without the one character at its start, or its end, that was put there where it was cut."""
    if isinstance(block, Paragraph):
        return replace(block, runs=_without_one(block.runs, at_end=at_end))
    if isinstance(block, Table) and not at_end and block.rows[0]:
        first, *others = block.rows[0]
        return replace(block, rows=((_without_one(first, at_end=False), *others), *block.rows[1:]))
    return block


def _without_one(runs: Runs, *, at_end: bool) -> Runs:
    if not runs:
        return runs
    if at_end:
        last = replace(runs[-1], text=runs[-1].text[:-1])
        return (*runs[:-1], last) if last.text else runs[:-1]
    first = replace(runs[0], text=runs[0].text[1:])
    return (first, *runs[1:]) if first.text else runs[1:]


def _not_inside(rest: Runs | list[Run], start: int, end: int) -> int:
    """Return a cut before or behind a run that is one thing: a formula, or the number of a footnote."""
    position = start
    for run in reversed(rest):
        behind = position + len(run.text)
        if behind >= end:
            is_one = bool(run.formula) or run.raised
            return end if not is_one or behind == end else position if position > start else behind
        position = behind
    return end


def _first(rest: list[Run], length: int) -> Runs:
    """Take the first characters away from runs, of which the last is the first in the text."""
    taken: list[Run] = []
    while rest and length > 0:
        run = rest.pop()
        if len(run.text) > length:
            rest.append(replace(run, text=run.text[length:]))
            run = replace(run, text=run.text[:length])
        taken.append(run)
        length -= len(run.text)
    return tuple(taken)
