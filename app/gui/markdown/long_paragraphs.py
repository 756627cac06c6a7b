"""Cuts a paragraph that is far too long to lay out in one go into several, wherever it stands. Loses no character."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from app.gui.markdown.cuts import MOST_CHARACTERS
from app.gui.markdown.values import Paragraph, Place, Run, text_of

_WORD_CHARACTERS = 200


def short_paragraphs(paragraph: Paragraph) -> Iterator[Paragraph]:
    """Return the paragraph, or where it is too long its parts: where it is cut depends on nothing behind the cut."""
    text = text_of(paragraph.runs)
    start = 0
    while len(text) - start > MOST_CHARACTERS:
        end = start + MOST_CHARACTERS
        end = text.rfind(" ", end - _WORD_CHARACTERS, end) + 1 or end
        yield _part(paragraph, start, end)
        start = end
    yield _part(paragraph, start, len(text)) if start else paragraph


def _part(paragraph: Paragraph, start: int, end: int) -> Paragraph:
    runs: list[Run] = []
    position = 0
    for run in paragraph.runs:
        inside = run.text[max(start - position, 0) : max(end - position, 0)]
        if inside:
            runs.append(replace(run, text=inside))
        position += len(run.text)
    place = paragraph.place if not start else Place(paragraph.place.frames)
    return Paragraph(tuple(runs), paragraph.level, place)
