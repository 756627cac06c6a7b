"""Combining marks above and below letters: all of their ink is painted, in every kind of block."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from app.gui.chat.answer_text import AnswerText
from app.gui.markdown.colouring import Lexers
from app.gui.theme import Theme, Themes
from tests.gui.transcripts import themes  # noqa: F401  a fixture

WIDTH, AIR = 300, 40
ABOVE, BELOW = "\u0302\u0301", "\u0323\u0331"
KINDS = {
    "words": "{x} one",
    "an item": "- {x} one",
    "a quote": "> {x} one",
    "a heading": "# {x} one",
    "code": "```\n{x} one\n```",
    "a cell": "| {x} |\n|---|\n| {x} |",
    "lines": "one\n{x}\ntwo",
}


def painted(text: str, look: Theme) -> tuple[QImage, int]:
    """Return a picture of a text that may paint far beyond its own height, and that height."""
    answer = AnswerText(Lexers(), 23)
    answer.set_text(text, is_open=False)
    answer.lay_out(WIDTH)
    height = round(answer.height)
    image = QImage(WIDTH, height + 2 * AIR, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    answer.draw(painter, QPointF(0, AIR), QRectF(image.rect()), look, None)
    painter.end()
    return image, height


def rows_of_difference(one: QImage, other: QImage) -> list[int]:
    return [
        y
        for y in range(min(one.height(), other.height()))
        if any(one.pixel(x, y) != other.pixel(x, y) for x in range(WIDTH))
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_the_marks_of_a_letter_lie_inside_of_what_is_painted_anew(kind: str, themes: Themes) -> None:  # noqa: F811
    plain, height = painted(KINDS[kind].format(x="E"), themes.current)
    marked, marked_height = painted(KINDS[kind].format(x=f"E{ABOVE}{BELOW}"), themes.current)
    rows = rows_of_difference(plain, marked)
    assert rows
    assert rows[0] >= AIR
    assert rows[-1] < AIR + max(height, marked_height)
