"""Formulas in answers: copied, scrolled, and coming later while nothing above them moves."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.chat.transcript import Transcript
from app.gui.markdown.values import Run
from app.services.turns import Turn
from tests.gui.formula_pictures import HIGH, LETTER, LINE_PX, WIDE, rich
from tests.gui.transcripts import copied_whole, finish, grow, marked_text, on_screen, spots, themes, transcript

__all__ = ["themes", "transcript"]

PAGE = "Words above.\n\nMore with $x^2$ here.\n\n$$\\frac{a}{b}$$\n\nWords below."


def test_everything_is_copied_as_its_source(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "assistant", PAGE, author="tiny")])
    copied = copied_whole(transcript)
    assert "More with $x^2$ here." in copied
    assert r"$$\frac{a}{b}$$" in copied


def test_a_drag_over_a_formula_copies_its_source(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.show_turns([Turn(1, "assistant", "Let $x^2$ be.", author="tiny")])
    on_screen(transcript)
    view, shape, block = transcript.viewport(), transcript._shape(), transcript.turns.blocks[0]
    top = transcript.turns.top(0) + block.text_top + LINE_PX // 2
    left = int(shape.left)
    right = left + round(rich(Run("Let "), Run("$x^2$", formula="x^2")).natural_width)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(left, top))
    for x in (left + 30, right):
        QTest.mouseMove(view, QPoint(x, top))
    assert marked_text(transcript) == "Let $x^2$"
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(right, top))
    transcript.copy()
    qtbot.waitUntil(lambda: "$x^2$" in QGuiApplication.clipboard().text(), timeout=60_000)


def test_what_is_read_aloud_has_the_source(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "assistant", PAGE, author="tiny")])
    text = "".join(transcript.turns.blocks[0].texts(at_once=True))
    assert "$x^2$" in text
    assert r"$$\frac{a}{b}$$" in text


def test_the_wheel_scrolls_a_wide_formula(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "assistant", f"$${WIDE}$$", author="tiny")])
    (bar,) = spots(transcript, "scroll")
    at = bar.rect.center() - QPointF(0, 12)
    place = QPointF(transcript.viewport().mapToGlobal(at.toPoint()))
    event = QWheelEvent(
        at,
        place,
        QPoint(),
        QPoint(-120, 0),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(transcript.viewport(), event)
    assert bar.sideways is not None
    assert bar.sideways.offset > 0


class Later:
    """Draws formulas when the test says so."""

    def __init__(self, transcript: Transcript) -> None:
        self.asked: list[Callable[[], None]] = []
        transcript.formulas.use(self.asked.append)
        self._transcript = transcript

    def draw(self) -> None:
        while self.asked:
            self.asked.pop(0)()
            self._transcript._paint_again()


def test_formulas_come_later_and_nothing_above_them_moves(transcript: Transcript) -> None:
    later = Later(transcript)
    transcript.show_turns([Turn(1, "assistant", PAGE, author="tiny")])
    source = on_screen(transcript)
    block = transcript.turns.blocks[0]
    assert block.is_unfinished
    assert transcript._again.isActive()
    height = block.height
    later.draw()
    drawn = on_screen(transcript)
    assert not block.is_unfinished
    assert block.height > height
    transcript.show_turns([Turn(2, "assistant", PAGE, author="tiny")])
    assert on_screen(transcript) == drawn
    above = round((transcript.turns.top(0) + block.text_top + LINE_PX) * source.devicePixelRatio())
    assert source.copy(0, 0, source.width(), above) == drawn.copy(0, 0, drawn.width(), above)
    assert source != drawn


def test_while_an_answer_is_written_a_formula_that_comes_moves_nothing_above_it(transcript: Transcript) -> None:
    later = Later(transcript)
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    grow(transcript, turn, "Words above that stay.\n\nThe sum ")
    for piece in (r"$\sum_{i", r"=1}^n i$ is ", "large.\n\n", "$$\\frac{a", "}{b}", "$$\n\n", "Then more."):
        before = on_screen(transcript)
        grow(transcript, turn, piece)
        later.draw()
        first_line = transcript.turns.top(0) + transcript.turns.blocks[0].text_top + LINE_PX
        after = on_screen(transcript)
        assert before.copy(0, 0, before.width(), first_line) == after.copy(0, 0, after.width(), first_line)
        transcript.viewport().update()
        assert on_screen(transcript) == after, "all of it painted anew looks the same"
    finish(transcript, turn)
    later.draw()
    streamed = on_screen(transcript)
    transcript.show_turns([Turn(2, "assistant", turn.text, author="tiny")])
    assert on_screen(transcript).copy(0, 40, 700, 200) == streamed.copy(0, 40, 700, 200)


def test_the_whole_last_line_is_painted_anew_when_its_formula_moves_on(transcript: Transcript) -> None:
    turn = Turn(1, "assistant", "", state="writing", author="tiny")
    transcript.add(turn)
    grow(transcript, turn, "word " * 25 + HIGH.text)
    on_screen(transcript)
    for _ in range(12):
        grow(transcript, turn, "o")
        painted_on = on_screen(transcript)
        transcript.viewport().update()
        assert on_screen(transcript) == painted_on


def test_formulas_that_are_out_of_sight_keep_nobody_busy(transcript: Transcript) -> None:
    later = Later(transcript)
    text = "\n\n".join([f"Words {number} are here." for number in range(40)] + ["$$x^2$$"])
    transcript.show_turns([Turn(1, "assistant", text, author="tiny"), Turn(3, "assistant", "short", author="tiny")])
    transcript.verticalScrollBar().setValue(0)
    on_screen(transcript)
    transcript._again.stop()
    transcript.viewport().update()
    on_screen(transcript)
    assert not transcript._again.isActive()
    later.draw()
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().maximum())
    on_screen(transcript)
    assert not transcript.turns.blocks[0].is_unfinished


def test_a_table_is_measured_anew_when_its_formulas_come(transcript: Transcript) -> None:
    later = Later(transcript)
    table = f"| a | b |\n|---|---|\n| one | {HIGH.text} |\n| two | {LETTER.text} |\n"
    transcript.show_turns([Turn(1, "assistant", table, author="tiny")])
    on_screen(transcript)
    assert transcript.turns.blocks[0].is_unfinished
    later.draw()
    drawn = on_screen(transcript)
    assert not transcript.turns.blocks[0].is_unfinished
    transcript.show_turns([Turn(2, "assistant", table, author="tiny")])
    assert on_screen(transcript) == drawn
