"""What is on the screen is what would be painted anew, however it got there: moved pixels lie where their text is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.chat.transcript import Transcript
from app.services.turns import Turn
from tests.gui.transcripts import LONG_ANSWER, grow, on_screen, themes, transcript

__all__ = ["themes", "transcript"]
TURNS, STEPS = 40, 60


def at_rest(transcript: Transcript, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not (transcript._again.isActive() or transcript._reading.isActive()), timeout=60_000)


def seen(transcript: Transcript) -> tuple[QImage, QImage]:
    """Return what is on the screen, and what is painted anew."""
    kind = QImage.Format.Format_RGB32
    now = on_screen(transcript).convertToFormat(kind)
    return now, transcript.grab().toImage().convertToFormat(kind)


def turn_wheel(transcript: Transcript, by: int = 120) -> None:
    at = QPointF(100, 100)
    button, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    turned = QWheelEvent(at, at, QPoint(), QPoint(0, by), button, Qt.KeyboardModifier.NoModifier, phase, False)
    QApplication.sendEvent(transcript.viewport(), turned)


@pytest.mark.parametrize("way", ["keys", "wheel"])
def test_nothing_is_torn_while_a_chat_is_scrolled_that_was_never_seen(
    transcript: Transcript, qtbot: QtBot, way: str
) -> None:
    lengths = [300 + 3000 * (number % 3) for number in range(TURNS)]
    roles = ("user", "assistant")
    transcript.show_turns(
        [Turn(number, roles[number % 2], LONG_ANSWER[:length], author="m") for number, length in enumerate(lengths)]  # type: ignore[arg-type]
    )
    at_rest(transcript, qtbot)
    began = transcript.verticalScrollBar().value()
    for step in range(STEPS):
        if way == "keys":
            QTest.keyClick(transcript, Qt.Key.Key_Up if step % 3 else Qt.Key.Key_PageUp)
        else:
            turn_wheel(transcript)
        at_rest(transcript, qtbot)
        now, anew = seen(transcript)
        assert now == anew, f"step {step}"
    assert transcript.verticalScrollBar().value() < began


def test_nothing_is_torn_while_an_answer_streams_and_is_scrolled(transcript: Transcript, qtbot: QtBot) -> None:
    turn = Turn(1, "assistant", "", state="writing", author="m")
    transcript.show_turns([Turn(0, "user", LONG_ANSWER[:3000]), turn])
    for step in range(STEPS):
        grow(transcript, turn, LONG_ANSWER[step * 90 : (step + 1) * 90])
        if step % 4 == 1:
            turn_wheel(transcript, 120 if step % 8 == 1 else -240)
        at_rest(transcript, qtbot)
        now, anew = seen(transcript)
        assert now == anew, f"step {step}"
