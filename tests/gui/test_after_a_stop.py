"""What an answer that was stopped or scrolled away from leaves behind: no message changes another one, or jumps."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from app.gui.chat.transcript import Transcript
from tests.gui.conftest import Stage

PARAGRAPH = "Sunlight is a mixture of all colours, and the air scatters the blue ones most. " * 8


def shown(transcript: Transcript, index: int) -> str:
    return "".join(transcript.turns.blocks[index].texts(at_once=True))


@pytest.mark.parametrize("fence", ["```py\n", "~~~\n", "````\n```\n", "- ```\n  ", "> ```\n> "])
def test_a_fence_that_was_never_closed_stays_in_its_own_message(ready: Stage, fence: str) -> None:
    ready.sends("Write code")
    ready.engine.prompt()
    ready.engine.write(f"{fence}print(*1*")
    ready.settle()
    ready.clicks("stop_button")
    ready.engine.finish("cancelled")
    ready.settle()
    ready.sends("And now?")
    ready.desk.answer("Plain *words*.")
    ready.settle()
    transcript = ready.window.parts.chat_page.transcript
    assert "print(*1*" in shown(transcript, 1)
    assert "Plain words." in shown(transcript, 3)
    assert "And now?" in shown(transcript, 2)


def test_what_was_said_stays_when_its_model_is_unloaded(ready: Stage) -> None:
    ready.sends("Why?")
    ready.desk.answer("Because.")
    ready.settle()
    said = ready.transcript_text()
    assert "Because." in said
    ready.desk.program.session.unload()
    ready.settle()
    assert ready.transcript_text() == said
    kept = ready.desk.program.chat.conversation_id
    ready.triggers("new_chat_action")
    ready.desk.program.conversations.open(kept)
    ready.settle()
    assert ready.transcript_text() == said


def wheel(transcript: Transcript, steps: int) -> None:
    view = transcript.viewport()
    place = QPointF(view.rect().center())
    event = QWheelEvent(
        place,
        QPointF(view.mapToGlobal(place.toPoint())),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(view, event)


@pytest.mark.parametrize("way", ["wheel", "bar", "key"])
def test_whoever_reads_above_stays_there_and_one_button_leads_back(ready: Stage, way: str) -> None:
    for _ in range(3):
        ready.sends("Go on")
        ready.desk.answer(PARAGRAPH, "\n\n" + PARAGRAPH)
    ready.sends("More")
    ready.engine.prompt()
    ready.engine.write(PARAGRAPH)
    ready.settle()
    transcript = ready.window.parts.chat_page.transcript
    bar = transcript.verticalScrollBar()
    latest = next(
        each for each in transcript.findChildren(QAbstractButton) if each.accessibleName() == "Go to the latest text"
    )
    assert (transcript.is_at_end, latest.isVisible()) == (True, False)
    match way:
        case "wheel":
            wheel(transcript, 3)
        case "bar":
            bar.setValue(bar.maximum() // 2)
        case "key":
            QTest.keyClick(transcript, Qt.Key.Key_PageUp)
    read, top = bar.value(), bar.maximum()
    assert (read < top, latest.isVisible()) == (True, True)
    for _ in range(5):
        ready.engine.write("\n\n" + PARAGRAPH)
        ready.settle()
    assert (bar.value(), bar.maximum() > top) == (read, True)
    QTest.mouseClick(latest, Qt.MouseButton.LeftButton)
    assert (transcript.is_at_end, latest.isVisible()) == (True, False)
    ready.engine.write("\n\n" + PARAGRAPH)
    ready.settle()
    assert transcript.is_at_end
