"""What people wrote is shown as they wrote it: every space, tab and line, from the side that it is read from."""

from __future__ import annotations

from queue import SimpleQueue

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFont, QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui import theme
from app.gui.chat import glyphs
from app.gui.chat.glyphs import Glyphs, has_glyph
from app.gui.chat.growing_text import GrowingText
from app.gui.chat.transcript import Transcript
from app.gui.widgets.direction import runs_right_to_left
from app.services.notices import Notice
from app.services.turns import Turn
from tests.gui.transcripts import marked_text, on_screen, themes, transcript

__all__ = ["themes", "transcript"]
HEBREW, ARABIC = "שלום עולם", "مرحبا بالعالم"
LINE = theme.READING_LINE_PX


def laid_out(text: str, width: float = 500) -> GrowingText:
    made = GrowingText(theme.reading_font(theme.READING_PX), LINE, is_prose=True)
    made.set_text(text)
    made.lay_out(width)
    return made


def ink(picture: QImage, transcript: Transcript) -> tuple[QRect, list[int]]:
    """Return where the card of the first turn lies, and the columns of each of its lines that have ink in them."""
    sunken = transcript._themes.current.colour("sunken").name()
    surface = transcript._themes.current.colour("surface").name()
    top = transcript.turns.top(0) + transcript.turns.blocks[0].text_top
    card = [x for x in range(picture.width()) if picture.pixelColor(x, top - 5).name() == sunken]
    columns = [
        x
        for x in card
        if any(picture.pixelColor(x, y).name() not in (sunken, surface) for y in range(top, top + LINE))
    ]
    return QRect(card[0], top, card[-1] - card[0], LINE), columns


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x0b", "\x0c", "\x85"])
def test_every_end_of_a_line_begins_a_new_one(qapp: QApplication, end: str) -> None:
    text = laid_out(f"one{end}two{end}{end}four")
    assert text.height == 4 * LINE
    assert text.offset_at(0, 3.5 * LINE) == text.text.index("four")
    assert text.text == f"one{end}two{end}{end}four"


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_without_words_and_a_last_line_are_lines(qapp: QApplication, end: str) -> None:
    assert laid_out(f"one{end}   {end}\t{end}").height == 4 * LINE


def test_spaces_and_tabs_take_the_room_that_they_have(qapp: QApplication) -> None:
    space = laid_out("a  b").used_width - laid_out("a b").used_width
    assert space > 2
    assert laid_out("a     b").used_width == pytest.approx(laid_out("a b").used_width + 4 * space, abs=0.5)
    assert laid_out("    b").used_width == pytest.approx(laid_out("b").used_width + 4 * space, abs=0.5)
    assert laid_out("\tb").used_width == pytest.approx(laid_out("    b").used_width, abs=1)
    assert laid_out("a\tb").used_width == pytest.approx(laid_out("\tb").used_width, abs=1)


def test_what_people_wrote_is_copied_to_the_character(transcript: Transcript) -> None:
    text = "  two  spaces\n\n\tand a tab \r\n\u2028**no markdown**  \n"
    transcript.show_turns([Turn(1, "user", text)])
    transcript.select_all()
    QTest.keyClick(transcript, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == text


@pytest.mark.parametrize(
    ("text", "from_right"),
    [
        (HEBREW, True), (ARABIC, True), ("hello", False), ("日本語", False), ("", False), ("12 + 3", False),
        (f"1. {HEBREW}", True), (f"hello {HEBREW}", False), (f"{HEBREW} hello", True), (f"“{ARABIC}", True),
        (f"\u2066{HEBREW}\u2069 hello", False), (f"\u2066hello\u2069 {HEBREW}", True), (" " * 3000 + HEBREW, False),
    ],
)  # fmt: skip
def test_the_first_letter_says_which_way_a_paragraph_runs(text: str, from_right: bool) -> None:
    assert runs_right_to_left(text) is from_right
    around = f"hello\n{text}\n{HEBREW}"
    assert runs_right_to_left(around, 6) is from_right
    assert runs_right_to_left(around, 6 + len(text)) is from_right


def test_a_paragraph_that_runs_right_to_left_ends_at_the_right_edge(qapp: QApplication) -> None:
    text = laid_out(f"a line of words that is longer than the other one\n{HEBREW}")
    text.least_width = 0
    edge = text.used_width
    width = laid_out(HEBREW).used_width
    assert text.offset_at(edge - 1, 1.5 * LINE) == text.text.index("\n") + 1
    assert text.offset_at(edge - width + 1, 1.5 * LINE) == len(text.text)
    assert text.offset_at(1, 1.5 * LINE) == len(text.text)
    assert text.offset_at(1, 0.5 * LINE) == 0


def test_a_question_in_hebrew_is_painted_at_the_right_of_its_card(transcript: Transcript) -> None:
    long = "words and more words than that one has\n"
    transcript.show_turns([Turn(1, "user", f"{HEBREW}\n{long}")])
    card, columns = ink(on_screen(transcript), transcript)
    assert card.right() - columns[-1] < 20
    assert columns[0] - card.left() > 40
    transcript.show_turns([Turn(1, "user", f"hello\n{long}")])
    card, columns = ink(on_screen(transcript), transcript)
    assert columns[0] - card.left() < 20
    assert card.right() - columns[-1] > 40


def test_a_selection_in_hebrew_is_what_was_pointed_at(transcript: Transcript) -> None:
    transcript.show_turns([Turn(1, "user", f"{HEBREW}\nwords and more words than that one has")])
    transcript.grab()
    y = transcript.turns.top(0) + transcript.turns.blocks[0].text_top + LINE // 2
    _card, columns = ink(on_screen(transcript), transcript)
    view = transcript.viewport()
    QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=QPoint(columns[-1] + 2, y))
    QTest.mouseMove(view, QPoint(columns[0] - 2, y))
    QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=QPoint(columns[0] - 2, y))
    assert marked_text(transcript) == HEBREW


def test_a_long_paragraph_runs_one_way_in_all_of_its_parts(qapp: QApplication) -> None:
    text = laid_out(HEBREW + " hello" * 1500)
    text.reach(0, 100_000)
    assert all(piece.from_right for part in text._parts for piece in part.pieces or ())
    assert not laid_out(f"hello {HEBREW * 900}")._parts[-1].pieces


class Asked:
    """The fonts of a system, as the test says; and what people are told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
        self.characters: list[str] = []
        self.told: list[str] = []
        self.works: SimpleQueue[object] = SimpleQueue()
        self._missing = missing
        monkeypatch.setattr(glyphs, "has_glyph", self._has)
        monkeypatch.setattr(glyphs, "LOOK_MS", 0)

    def _has(self, _font: QFont, character: str) -> bool:
        self.characters.append(character)
        return character not in self._missing

    def take(self, notice: Notice) -> None:
        assert notice.level == "hint"
        self.told.append(notice.sentence.english())


def test_characters_that_no_font_has_are_told_once_with_the_package(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    asked = Asked(monkeypatch, "한中🙂")
    Glyphs(transcript, lambda work: work(), asked.take, "linux")
    transcript.show_turns([Turn(1, "user", "한국어 中文 に 🙂"), Turn(2, "assistant", "한 more 🙂🙂")])
    qtbot.waitUntil(lambda: len(asked.told) == 2)
    assert sorted(asked.characters) == sorted("한中に🙂")
    assert "fonts-noto-cjk" in asked.told[0]
    assert "fonts-noto-color-emoji" in asked.told[1]
    transcript.show_turns([Turn(3, "user", "한국어 中文"), Turn(4, "assistant", "😀")])
    watch = transcript.findChild(Glyphs)
    assert watch is not None
    qtbot.waitUntil(lambda: (4, len("😀")) in watch._read)
    assert len(asked.characters) == 4
    assert len(asked.told) == 2


def test_nothing_is_told_where_the_fonts_have_everything_or_nothing_is_looked_for(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    asked = Asked(monkeypatch, "")
    Glyphs(transcript, lambda work: work(), asked.take, "linux")
    transcript.show_turns([Turn(1, "user", "ascii"), Turn(2, "assistant", "Größe “–” ж א"), Turn(3, "user", "中文")])
    qtbot.waitUntil(lambda: asked.characters == ["中"])
    assert asked.told == []


def test_only_what_is_in_view_is_looked_at(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    asked = Asked(monkeypatch, "")
    Glyphs(transcript, lambda work: work(), asked.take, "linux")
    transcript.show_turns([Turn(1, "user", "中文"), *(Turn(n, "user", "かな\n" * 30) for n in range(2, 9))])
    qtbot.waitUntil(lambda: asked.characters == ["か"])
    QTest.keyClick(transcript, Qt.Key.Key_Home)
    qtbot.waitUntil(lambda: asked.characters == ["か", "中"])


def test_other_systems_are_told_of_no_package(
    transcript: Transcript, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    asked = Asked(monkeypatch, "中🙂")
    Glyphs(transcript, lambda work: work(), asked.take, "win32")
    transcript.show_turns([Turn(1, "user", "中 🙂")])
    qtbot.waitUntil(lambda: len(asked.told) == 2)
    assert not any("fonts-noto" in told for told in asked.told)


def test_a_font_is_asked_with_those_that_take_its_place(qapp: QApplication) -> None:
    font = QFont(theme.reading_font(theme.READING_PX))
    assert has_glyph(font, "a")
    assert not has_glyph(font, "\U000f1234")
