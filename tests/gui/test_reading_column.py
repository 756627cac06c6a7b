"""What people read and where they write are one column: the transcript and the composer begin and end at the same pixel."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

from app.gui.chat.composer import Composer
from tests.gui.conftest import Stage


def span(stage: Stage, widget: QWidget, left: int, width: int) -> tuple[int, int]:
    """Return where something in a widget begins and ends in the window."""
    begin = widget.mapTo(stage.window, QPoint(left, 0)).x()
    return begin, begin + width


@pytest.mark.parametrize("answer", ["short", "word " * 3000])
def test_the_transcript_and_the_composer_begin_and_end_at_the_same_pixel(ready: Stage, answer: str) -> None:
    ready.sends("One")
    ready.desk.answer(answer)
    transcript = ready.window.parts.chat_page.transcript
    (composer,) = ready.window.findChildren(Composer)
    for width in (900, 901, 1000, 1101, 1280, 1281, 1920):
        ready.window.resize(width, 700)
        ready.settle()
        place = transcript.places.turn(1)
        assert transcript.verticalScrollBar().isVisible() is (answer != "short")
        shown = span(ready, transcript.viewport(), place.left(), place.width())
        assert shown == span(ready, composer, 0, composer.width()), width
