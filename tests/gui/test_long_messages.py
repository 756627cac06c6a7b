from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat.answer_text import AnswerText
from app.gui.chat.block_places import TIGHT_GAP_PX
from app.gui.chat.growing_text import GrowingText
from app.gui.chat.piece import Piece
from app.gui.chat.plain_text import FOLDED_CHARACTERS, FOLDED_LINES
from app.gui.chat.rich_text import RichText
from app.gui.chat.stack import Stack
from app.gui.chat.text_cuts import PART_CHARACTERS, cuts
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import Shape, TurnBlock
from app.gui.markdown.colouring import Lexers
from app.gui.markdown.document import Document
from app.services.turns import Turn
from app.services.units import count
from tests.gui.transcripts import LONG_ANSWER, copied_whole, grow, marked_text, on_screen, spots, themes, transcript

__all__ = ["themes", "transcript"]

LONG = {
    "one line": "x" * 400_000,
    "short lines": "line\n" * 111_000,
    "words": "several words of a text " * 41_000,
    "wide characters": "日本語の文" * 40_000,
    "nothing but line ends": "\n" * 200_000,
}
FAR_TOO_MANY = 100_000


class Made:
    """Counts the characters that are laid out."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.characters = 0
        piece, made = GrowingText._piece, RichText._made

        def note_piece(text: GrowingText, paragraph: str, *rest: object) -> Piece:
            self._add(len(paragraph) + 1)
            return piece(text, paragraph, *rest)  # type: ignore[arg-type]  # what was given is handed on

        def note_made(text: RichText, *rest: object) -> object:
            self._add(len(text.text) + 1)
            return made(text, *rest)  # type: ignore[arg-type]  # what was given is handed on

        patch.setattr(GrowingText, "_piece", note_piece)
        patch.setattr(RichText, "_made", note_made)

    def _add(self, characters: int) -> None:
        self.characters += characters
        assert self.characters < FAR_TOO_MANY, "so much at once would stand still for seconds"

    def taken(self) -> int:
        """Return how many there were since this was last asked."""
        taken, self.characters = self.characters, 0
        return taken


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    return Made(monkeypatch)


@pytest.fixture
def large_font(qapp: QApplication) -> Iterator[None]:
    before = qapp.font()
    large = QFont(before)
    large.setPixelSize(20)
    qapp.setFont(large)
    yield
    qapp.setFont(before)


def unfold(transcript: Transcript) -> None:
    """Show the whole of the only long message, by keyboard."""
    with_focus(transcript)
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().maximum())
    QTest.keyClick(transcript, Qt.Key.Key_Tab)
    QTest.keyClick(transcript, Qt.Key.Key_Return)


def with_focus(transcript: Transcript) -> None:
    transcript.activateWindow()
    transcript.setFocus()


def read_whole(transcript: Transcript, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not transcript._reading.isActive(), timeout=60_000)


@pytest.mark.parametrize("shape", LONG)
def test_of_a_very_long_message_only_what_is_in_view_is_laid_out(
    transcript: Transcript, made: Made, shape: str
) -> None:
    bar = transcript.verticalScrollBar()
    transcript.add(Turn(1, "user", LONG[shape]))
    assert bar.maximum() < 2000
    assert 0 < made.taken() < 10_000
    unfold(transcript)
    assert bar.maximum() > 20_000
    assert made.taken() < 20_000
    for value in (bar.maximum() // 2, bar.maximum() // 2 + 90, bar.maximum() // 3):
        bar.setValue(value)
        transcript.grab()
        assert made.taken() < 10_000
    transcript.resize(500, 400)
    transcript.grab()
    assert made.taken() < 20_000
    transcript._themes.toggle()
    transcript.select_all()
    transcript.grab()
    assert made.taken() < 10_000
    QTest.keyClick(transcript, Qt.Key.Key_End)
    assert transcript.is_at_end
    assert made.taken() < 20_000
    assert marked_text(transcript) == LONG[shape]


@pytest.mark.parametrize("text", [*LONG.values(), "", "\n", "a\n" * 48, "a\n" * 96 + "b", "x" * 2000 + "\n" * 99])
def test_the_parts_of_a_text_are_the_whole_text_and_none_is_long(text: str) -> None:
    parts = list(cuts(text, 0))
    assert "".join(text[start:end] for start, end in parts) == text
    assert all(start < end for start, end in parts[:-1])
    assert max(end - start for start, end in parts) <= PART_CHARACTERS


def test_after_scrolling_through_it_a_long_text_lies_as_if_laid_out_whole(qapp: QApplication) -> None:
    chance = random.Random(5)
    words = ["word ", "longer-word ", "日本語", "\n", "x" * 300, "\n\n", "\tindent "]
    text = "".join(chance.choice(words) for _ in range(3000))
    whole, scrolled = (GrowingText(theme.font(theme.READING_PX), theme.READING_LINE_PX) for _ in range(2))
    for each in (whole, scrolled):
        each.set_text(text)
        each.lay_out(500)
    whole.reach(0, 10_000_000)
    y = scrolled.height
    while y > -400:
        y += scrolled.reach(y, y + 400) - chance.randint(10, 600)
    scrolled.reach(0, 400)
    for y in range(0, int(whole.height), 211):
        scrolled.reach(y, y + 300)
    assert scrolled.height == whole.height
    for y in range(5, int(whole.height), 97):
        assert scrolled.offset_at(100, y) == whole.offset_at(100, y)


@pytest.mark.parametrize("height", [10.0, 30.0, 250.0])
def test_everything_in_view_is_measured_however_wrong_the_estimates_were(height: float) -> None:
    stack = Stack()
    stack.extend([100.0] * 20)
    measured: set[int] = set()

    def prepare(index: int) -> float:
        measured.add(index)
        return height

    reached = stack.reach(950, 1150, prepare, lambda index, _top, _bottom: (stack.height(index), 0.0))
    top, bottom = 950 + reached.moved, 1150 + reached.moved
    seen = {n for n in range(20) if stack.top(n) < bottom and stack.top(n) + stack.height(n) > top}
    assert seen <= measured == set(range(reached.first, reached.end))
    assert stack.total == sum(stack.height(n) for n in range(20))


@pytest.mark.parametrize("shape", ["one line", "short lines", "wide characters"])
def test_what_is_read_moves_only_as_far_as_it_is_scrolled(transcript: Transcript, shape: str) -> None:
    transcript.add(Turn(1, "user", LONG[shape]))
    unfold(transcript)
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    for step in (-40, -200, 90, -350, -350, -350, 120, -300):
        before = transcript._place_at(QPoint(320, 200))
        bar.setValue(bar.value() + step)
        y = 200 - step
        if 0 <= y < 400:
            assert transcript._place_at(QPoint(320, y)) == before
        else:
            assert transcript._place_at(QPoint(320, y)).offset == before.offset


def test_a_very_long_message_shows_its_beginning_until_the_rest_is_wanted(transcript: Transcript) -> None:
    lines = "".join(f"line {number}\n" for number in range(1000))
    transcript.add(Turn(1, "user", lines))
    transcript.resize(700, 1200)
    folded = transcript.turns.total
    assert folded < (FOLDED_LINES + 6) * theme.READING_LINE_PX
    (spot,) = spots(transcript, "fold")
    assert spot.value == f"Show all {count(len(lines))} characters"
    unfold(transcript)
    assert transcript.turns.total > 1000 * theme.READING_LINE_PX
    assert not transcript.is_at_end
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().maximum())
    assert [spot.value for spot in spots(transcript, "fold")] == ["Show less"]
    unfold(transcript)
    assert transcript.turns.total == folded
    assert copied_whole(transcript) == lines


def test_a_click_shows_the_rest_and_a_selection_goes_over_the_fold(transcript: Transcript) -> None:
    transcript.resize(700, 1200)
    transcript.add(Turn(1, "user", "word " * 3000))
    (spot,) = spots(transcript, "fold")
    view, middle = transcript.viewport(), spot.rect.center().toPoint()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(130, 30))
    QTest.mouseMove(view, middle + QPoint(250, 0))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=middle + QPoint(250, 0))
    assert marked_text(transcript).endswith("word ")
    assert len(marked_text(transcript)) > FOLDED_CHARACTERS * 5
    QTest.mouseMove(view, middle)
    assert view.cursor().shape() is Qt.CursorShape.PointingHandCursor
    before = on_screen(transcript)
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=middle)
    assert transcript.turns.total > 3000
    assert on_screen(transcript) != before


@pytest.mark.parametrize("text", ["word " * 700, "line\n" * 80, ""])
def test_a_message_of_ordinary_length_has_no_fold(qapp: QApplication, text: str) -> None:
    block = TurnBlock(Turn(1, "user", text))
    block.lay_out(600)
    assert block.spots(Shape(0, 600), 0, 100_000) == []
    assert text == "" or block.height > text.count("\n") * theme.READING_LINE_PX


def test_a_long_answer_is_read_bit_by_bit_and_laid_out_where_somebody_looks(
    transcript: Transcript, made: Made, qtbot: QtBot
) -> None:
    transcript.show_turns([Turn(1, "user", "Why?"), Turn(2, "assistant", LONG_ANSWER)])
    assert transcript.turns.blocks[1].is_unread
    assert made.taken() < 10_000
    read_whole(transcript, qtbot)
    transcript.grab()
    assert not transcript.turns.blocks[1].is_unread
    assert transcript.is_at_end
    assert made.taken() < 30_000
    bar = transcript.verticalScrollBar()
    assert bar.maximum() > 30_000
    for value in (bar.maximum() // 2, 0):
        bar.setValue(value)
        transcript.grab()
        assert 0 < made.taken() < 10_000
    whole = Document(LONG_ANSWER)
    shown = "".join(block.place.gap + block.text for block in whole.blocks)
    assert copied_whole(transcript) == f"Why?\n\n{shown}"


def test_after_scrolling_through_it_a_long_answer_lies_as_if_laid_out_whole(qapp: QApplication) -> None:
    whole, scrolled = (AnswerText(Lexers(), theme.READING_LINE_PX) for _ in range(2))
    for each in (whole, scrolled):
        each.set_text(LONG_ANSWER, is_open=False)
        each.lay_out(500)
        while each.is_unread:
            each.lay_out(500)
    whole.reach(0, 10_000_000)
    y = 0.0
    while y < scrolled.height:
        scrolled.reach(y, y + 400)
        y += 350
    assert scrolled.height == whole.height
    for y in range(5, int(whole.height), 197):
        assert scrolled.offset_at(100, y) == whole.offset_at(100, y)
    before = scrolled.height
    scrolled.release()
    scrolled.lay_out(500)
    assert scrolled.height == before
    assert not scrolled.is_unread


def test_an_answer_that_grows_while_its_beginning_is_still_read_loses_nothing(
    transcript: Transcript, qtbot: QtBot
) -> None:
    turn = Turn(2, "assistant", LONG_ANSWER, state="writing")
    transcript.show_turns([turn])
    assert transcript.turns.blocks[0].is_unread
    grow(transcript, turn, "And **more**.")
    read_whole(transcript, qtbot)
    assert copied_whole(transcript).endswith("quoted 249\n\nAnd more.")
    turn.state = "done"
    transcript.refresh(turn)
    assert copied_whole(transcript).endswith("quoted 249\n\nAnd more.")
    assert transcript.is_at_end


def test_a_long_table_and_long_code_are_laid_out_where_somebody_looks(
    transcript: Transcript, made: Made, qtbot: QtBot
) -> None:
    table = "| a | b |\n|---|---|\n" + "".join(f"| cell {number} | other words |\n" for number in range(2000))
    code = "```python\n" + "".join(f"value = call({number})\n" for number in range(4000)) + "```\n"
    transcript.show_turns([Turn(1, "assistant", f"{table}\n{code}")])
    read_whole(transcript, qtbot)
    assert made.taken() < 20_000
    bar = transcript.verticalScrollBar()
    for share in range(8):
        bar.setValue(bar.maximum() * share // 8)
        transcript.grab()
        assert made.taken() < 10_000
    copied = copied_whole(transcript)
    assert "cell 1999\tother words\n\nvalue = call(0)\n" in copied
    assert copied.endswith("value = call(3999)")


def test_the_place_of_a_reader_is_remembered_for_each_conversation(transcript: Transcript) -> None:
    first = [Turn(number, "assistant", f"{number} " + "words of it " * 60) for number in range(30)]
    second = [Turn(number, "user", f"other {number}") for number in range(60)]
    transcript.show_turns(first, "first")
    transcript.verticalScrollBar().setValue(1234)
    before = on_screen(transcript)
    transcript.show_turns(second, "second")
    assert transcript.is_at_end
    transcript.show_turns(first, "first")
    assert on_screen(transcript) == before
    transcript.show_turns(second, "second")
    assert transcript.is_at_end
    transcript.show_turns([], "third")
    transcript.show_turns(first[:2], "first")
    assert transcript.is_at_end


@pytest.mark.usefixtures("large_font")
def test_with_a_large_font_the_name_stays_clear_of_the_first_line(qapp: QApplication) -> None:
    block = TurnBlock(Turn(1, "assistant", "Hello", author="tiny"))
    block.lay_out(600)
    assert block.text_top + TIGHT_GAP_PX > QFontMetricsF(theme.font(theme.BASE_PX, bold=True)).height()
    line = QFontMetricsF(theme.font(theme.READING_PX)).height()
    assert block.footer_top - block.text_top >= line * 1.2
