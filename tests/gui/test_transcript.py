from __future__ import annotations

from typing import Literal

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat.growing_text import GrowingText
from app.gui.chat.selection import Place, Selection
from app.gui.chat.transcript import Transcript
from app.gui.chat.turn_block import TurnBlock
from app.services.turns import Turn
from tests.gui.transcripts import grow, marked_text, on_screen, themes, transcript

__all__ = ["themes", "transcript"]

PARAGRAPH = "Sunlight is a mixture of all colours, and the air scatters the blue ones most. " * 6


def fill(transcript: Transcript, turns: int) -> Turn:
    for number in range(turns):
        turn = Turn(number, "assistant" if number % 2 else "user", f"{number}: {PARAGRAPH}", author="tiny")
        transcript.add(turn)
    return turn


def test_growing_text_equals_the_text_laid_out_at_once(qapp: QApplication) -> None:
    whole = "\n".join([PARAGRAPH, "", "\t- x", "word " * 3000, "x" * 2000, "日本語" * 50, "end"])
    at_once = GrowingText(theme.font(theme.READING_PX), theme.READING_LINE_PX)
    at_once.set_text(whole)
    at_once.lay_out(500)
    grown = GrowingText(theme.font(theme.READING_PX), theme.READING_LINE_PX)
    grown.lay_out(500)
    for start in range(0, len(whole), 7):
        grown.append(whole[start : start + 7])
    for text in (at_once, grown):
        text.reach(0, 1_000_000)
    assert grown.text == whole
    assert grown.height == at_once.height
    assert grown.offset_at(0, at_once.height - 1) == whole.rindex("end")
    assert grown.offset_at(10_000, theme.READING_LINE_PX * 1.5) in range(1, len(PARAGRAPH))
    for y in range(0, int(at_once.height), 97):
        assert grown.offset_at(120, y) == at_once.offset_at(120, y)


def test_only_the_open_end_of_a_long_paragraph_is_laid_out_again(qapp: QApplication) -> None:
    text = GrowingText(theme.font(theme.READING_PX), theme.READING_LINE_PX)
    text.lay_out(500)
    for _ in range(400):
        text.append("many words in one paragraph without an end ")
    assert text.height - text.open_top < 60 * theme.READING_LINE_PX < text.height


def test_the_end_stays_in_view_while_an_answer_grows(transcript: Transcript) -> None:
    turn = fill(transcript, 10)
    for _ in range(30):
        grow(transcript, turn, PARAGRAPH + "\n")
        assert transcript.is_at_end


def test_a_reader_who_scrolled_up_stays_where_they_are(transcript: Transcript, qtbot: QtBot) -> None:
    turn = fill(transcript, 10)
    QTest.keyClick(transcript, Qt.Key.Key_PageUp)
    bar = transcript.verticalScrollBar()
    value = bar.value()
    assert not transcript.is_at_end
    for _ in range(30):
        grow(transcript, turn, PARAGRAPH + "\n")
    assert bar.value() == value
    QTest.keyClick(transcript, Qt.Key.Key_End)
    assert transcript.is_at_end


@pytest.mark.parametrize("turns_before", [0, 3])
def test_what_is_painted_while_growing_equals_what_is_painted_anew(transcript: Transcript, turns_before: int) -> None:
    for number in range(turns_before):
        transcript.add(Turn(number, "user", PARAGRAPH))
    turn = Turn(99, "assistant", "Some. ", author="tiny")
    transcript.add(turn)
    on_screen(transcript)
    for _ in range(6):
        grow(transcript, turn, "More words that wrap sooner or later. ")
        on_screen(transcript)
    grown = on_screen(transcript)
    transcript.viewport().update()
    assert on_screen(transcript) == grown


def test_a_narrower_window_wraps_the_text_anew_and_keeps_the_end(transcript: Transcript) -> None:
    fill(transcript, 10)
    tall = transcript.verticalScrollBar().maximum()
    transcript.resize(400, 400)
    assert transcript.is_at_end
    transcript.verticalScrollBar().setValue(0)
    transcript.grab()
    transcript.verticalScrollBar().setValue(transcript.verticalScrollBar().maximum())
    assert transcript.verticalScrollBar().maximum() > tall


def test_ten_thousand_turns_are_shown_without_laying_out_all_of_them(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid_out: list[TurnBlock] = []
    lay_out = TurnBlock.lay_out

    def note(block: TurnBlock, width: float) -> None:
        laid_out.append(block)
        lay_out(block, width)

    monkeypatch.setattr(TurnBlock, "lay_out", note)
    transcript.show_turns([Turn(number, "user", f"{number}: {PARAGRAPH}") for number in range(10_000)])
    transcript.grab()
    assert transcript.is_at_end
    assert len(laid_out) < 50
    assert transcript.verticalScrollBar().maximum() > 1_000_000


def test_text_is_selected_with_the_mouse_over_several_turns(transcript: Transcript, qtbot: QtBot) -> None:
    transcript.add(Turn(1, "user", "first question"))
    transcript.add(Turn(2, "assistant", "second answer", author="tiny"))
    view = transcript.viewport()
    bottom = QPoint(view.width() - 5, view.height() - 5)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(5, 5))
    QTest.mouseMove(view, bottom)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=bottom)
    assert marked_text(transcript) == "first question\n\nsecond answer"
    transcript.grab()


def test_a_double_click_selects_a_word() -> None:
    selection = Selection()
    selection.word(Place(0, 7), "Hello, world's end")
    assert "".join(selection.pieces(lambda _block: iter(["Hello, ", "world's end"]))) == "world's"


def test_a_selection_can_run_backwards() -> None:
    selection = Selection()
    selection.start(Place(1, 2))
    selection.extend(Place(0, 3))
    assert "".join(selection.pieces([iter(["abcd", "ef"]), iter(["uvwxyz"])].__getitem__)) == "def\n\nuv"
    selection.clear()
    assert selection.is_empty


def test_the_first_text_of_an_answer_is_reported_once_when_it_is_painted(
    transcript: Transcript, qtbot: QtBot
) -> None:
    painted: list[tuple[Turn, int]] = []
    transcript.first_text_painted.connect(lambda turn, at_ns: painted.append((turn, at_ns)))
    turn = Turn(1, "assistant", "", state="writing")
    transcript.add(turn)
    transcript.grab()
    assert painted == []
    grow(transcript, turn, "Hello")
    transcript.grab()
    grow(transcript, turn, " there")
    transcript.grab()
    assert [each for each, _ in painted] == [turn]
    assert painted[0][1] > 2**31


def test_of_answers_whose_first_texts_are_painted_at_once_each_is_reported(transcript: Transcript) -> None:
    painted: list[Turn] = []
    transcript.first_text_painted.connect(lambda turn, _at_ns: painted.append(turn))
    turns = [Turn(number, "assistant", "", state="writing") for number in (1, 2)]
    for turn in turns:
        transcript.add(turn)
        grow(transcript, turn, "Yes")
    transcript.grab()
    assert painted == turns


def test_a_reader_who_selects_is_not_carried_to_the_end(transcript: Transcript, qtbot: QtBot) -> None:
    turn = fill(transcript, 10)
    view, bar = transcript.viewport(), transcript.verticalScrollBar()
    value = bar.value()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(100, 100))
    QTest.mouseMove(view, QPoint(300, 150))
    selected = marked_text(transcript)
    grow(transcript, turn, PARAGRAPH * 3)
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(300, 150))
    grow(transcript, turn, PARAGRAPH * 3)
    assert bar.value() == value
    assert marked_text(transcript) == selected != ""
    transcript.go_to_end()
    grow(transcript, turn, PARAGRAPH * 3)
    assert transcript.is_at_end


def test_what_is_at_the_top_stays_there_when_the_width_changes(transcript: Transcript) -> None:
    words = " ".join(f"{number:04}" for number in range(900))
    for number in range(6):
        transcript.add(Turn(number, "assistant", words, author="tiny"))
    bar = transcript.verticalScrollBar()
    bar.setValue(transcript.turns.top(3) + transcript.turns.blocks[3].height // 2)
    before = transcript._place_at(QPoint(60, 0))
    for width in (450, 600, 700):
        transcript.resize(width, 400)
        place = transcript._place_at(QPoint(60, 0))
        assert place.block == before.block == 3
        assert abs(place.offset - before.offset) < 300


def test_the_place_is_kept_when_the_theme_changes(transcript: Transcript, themes: theme.Themes) -> None:
    fill(transcript, 10)
    transcript.verticalScrollBar().setValue(200)
    before = on_screen(transcript)
    themes.toggle()
    assert transcript.verticalScrollBar().value() == 200
    assert on_screen(transcript) != before


def test_blocks_far_from_the_reader_give_their_lines_back(transcript: Transcript) -> None:
    transcript.show_turns([Turn(number, "user", f"{number}: {PARAGRAPH}") for number in range(1000)])
    bar = transcript.verticalScrollBar()
    for share in range(150):
        bar.setValue(bar.maximum() * share // 150)
    assert sum(block.is_exact for block in transcript.turns.blocks) < 150


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_what_is_selected_behind_an_emoji_is_what_is_copied(
    transcript: Transcript, role: Literal["user", "assistant"]
) -> None:
    transcript.add(Turn(1, role, "🙂🙂🙂 first words here"))
    view = transcript.viewport()
    middle = transcript.turns.blocks[0].text_top + transcript.turns.top(0) + 12
    line = [transcript._place_at(QPoint(x, middle)).offset for x in range(view.width())]
    start, end = line.index(4), line.index(9)
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(start + 2, middle))
    QTest.mouseMove(view, QPoint(end + 2, middle))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(end + 2, middle))
    assert marked_text(transcript) == "first"
    assert max(line) == len("🙂🙂🙂 first words here")
    transcript.grab()


def test_text_that_came_out_of_view_says_nothing_of_the_time_to_the_first_text(transcript: Transcript) -> None:
    painted: list[object] = []
    transcript.first_text_painted.connect(lambda turn, _at_ns: painted.append(turn))
    fill(transcript, 10)
    turn = Turn(99, "assistant", "", state="waiting", author="tiny")
    transcript.add(turn)
    transcript.verticalScrollBar().setValue(0)
    on_screen(transcript)
    painted.clear()
    grow(transcript, turn, "Here")
    QTest.keyClick(transcript, Qt.Key.Key_End)
    on_screen(transcript)
    assert painted == []
