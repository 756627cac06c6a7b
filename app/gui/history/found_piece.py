"""Lays out what stands around a match in a few lines, so that the match is always in sight.

How much has room is measured: forty wide letters before a match are more than two lines, forty narrow ones are one.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left

from PySide6.QtCore import QPointF
from PySide6.QtGui import QFont, QFontMetrics, QTextCharFormat, QTextLayout, QTextOption

from app.core.literal_text import Snippet
from app.gui.widgets.code_units import units

LINES = 2
_ELLIPSIS = "…"


def laid_out(snippet: Snippet, font: QFont, look: QTextCharFormat, width: float) -> QTextLayout:
    """Return the lines of what is to be seen of a snippet, its matches in `look`; `width` is in pixels."""
    whole = _layout(snippet, font, look, width)
    if not snippet.marks or _shows(whole, snippet):
        return whole
    first = snippet.marks[0][0]
    places = [place for place in range(1, first + 1) if place == first or _begins_word(snippet.text, place)]
    at = bisect_left(places, True, key=lambda place: _begins_above(snippet, place, (font, look, width)))
    return _layout(_from(snippet, places[min(at, len(places) - 1)]), font, look, width)


def _begins_above(snippet: Snippet, place: int, drawn: tuple[QFont, QTextCharFormat, float]) -> bool:
    """Return whether the first match begins in the first line and is seen, where the snippet begins at a place."""
    piece = _from(snippet, place)
    layout = _layout(piece, *drawn)
    top = layout.lineAt(0)
    return units(piece.text[: piece.marks[0][0]]) < top.textLength() and _shows(layout, piece)


def _shows(layout: QTextLayout, piece: Snippet) -> bool:
    """Return whether the first match is seen up to its end."""
    last = layout.lineAt(layout.lineCount() - 1)
    return units(piece.text[: piece.marks[0][1]]) <= last.textStart() + last.textLength()


def _begins_word(text: str, place: int) -> bool:
    """Return whether a line may begin there: behind a blank, and at letters that are words of their own."""
    return text[place - 1] == " " or unicodedata.east_asian_width(text[place]) in "WF"


def _from(snippet: Snippet, place: int) -> Snippet:
    """Return a snippet without what stands before a place, and the marks where they are then."""
    moved = len(_ELLIPSIS) - place
    marks = tuple((begin + moved, end + moved) for begin, end in snippet.marks)
    return Snippet(_ELLIPSIS + snippet.text[place:], marks)


def _layout(piece: Snippet, font: QFont, look: QTextCharFormat, width: float) -> QTextLayout:
    layout, option, metrics = QTextLayout(piece.text, font), QTextOption(), QFontMetrics(font)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.setFormats([_marked(piece.text, begin, end, look) for begin, end in piece.marks])
    layout.beginLayout()
    for number in range(LINES):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        # Letters of another font may be higher than the line: all stand on the line of the font that was asked for.
        line.setPosition(QPointF(0, number * metrics.lineSpacing() + metrics.ascent() - line.ascent()))
    layout.endLayout()
    return layout


def _marked(text: str, begin: int, end: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    """Return where a match is; places are characters, and Qt counts halves of rare ones."""
    chosen = QTextLayout.FormatRange()
    chosen.start, chosen.length, chosen.format = units(text[:begin]), units(text[begin:end]), look
    return chosen
