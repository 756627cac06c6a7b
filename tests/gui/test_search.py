"""The search over all chats as people use it: by key, typed, stepped through, and left again."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QDate, QLocale, Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QListView

from app.core.literal_text import Snippet
from app.core.search import FoundMessage
from app.gui import theme
from app.gui.history.found_model import FoundModel, FoundRole
from tests.gui.conftest import Stage


@pytest.fixture
def chats(ready: Stage) -> Stage:
    """Return a window with three chats, of which the newest is shown."""
    ready.desk.program.conversations.start()
    ready.settle()
    for question, answer in (("Tell me of LLAMAS", "They spit."), ("And alpacas?", "Like a llama."), ("Why?", "So.")):
        ready.desk.program.conversations.new()
        ready.sends(question)
        ready.desk.answer(answer)
        ready.settle()
    return ready


def line(stage: Stage) -> QLineEdit:
    return stage.find_as(QLineEdit, "search_line")


def results(stage: Stage) -> QListView:
    return stage.find_as(QListView, "search_results")


def said(stage: Stage) -> list[str]:
    """Return what is read aloud of each hit."""
    model = results(stage).model()
    return [str(model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)) for row in range(model.rowCount())]


def search(stage: Stage, text: str) -> None:
    stage.triggers("search_action")
    assert line(stage).hasFocus()
    QTest.keyClicks(line(stage), text)
    stage.settle()


def test_hits_take_the_place_of_the_list_with_their_number_until_esc(chats: Stage) -> None:
    search(chats, "llama")
    assert said(chats) == [
        "And alpacas?, an answer, today: Like a llama.",
        "Tell me of LLAMAS, your message, today: Tell me of LLAMAS",
    ]
    assert chats.find_as(QLabel, "search_state").text() == "2 messages"
    assert chats.sees("search_results") and not chats.sees("conversation_list")
    QTest.keyClick(line(chats), Qt.Key.Key_Escape)
    assert line(chats).text() == ""
    assert chats.sees("conversation_list") and not chats.sees("search_results")
    assert chats.find("conversation_list").hasFocus()


def test_enter_opens_the_newest_hit_and_arrows_choose_another(chats: Stage) -> None:
    chat = chats.desk.program.chat
    search(chats, "llama")
    QTest.keyClick(line(chats), Qt.Key.Key_Return)
    chats.settle()
    assert chat.turns[1].text == "Like a llama."
    assert chats.window.parts.chat_page.transcript.at_hand is chat.turns[1]
    line(chats).setFocus()
    QTest.keyClick(line(chats), Qt.Key.Key_Down)
    QTest.keyClick(line(chats), Qt.Key.Key_Return)
    chats.settle()
    assert chats.window.parts.chat_page.transcript.at_hand is chat.turns[0]
    assert chat.turns[0].text == "Tell me of LLAMAS"


def test_a_click_opens_a_hit_from_another_page_in_the_chat(chats: Stage) -> None:
    chats.triggers("planner_action")
    search(chats, "spit")
    found = results(chats)
    place = found.visualRect(found.model().index(0, 0)).center()
    QTest.mouseClick(found.viewport(), Qt.MouseButton.LeftButton, pos=place)
    chats.settle()
    assert chats.window.page == "chat"
    assert chats.window.parts.chat_page.transcript.at_hand is chats.desk.program.chat.turns[1]
    assert [turn.text for turn in chats.desk.program.chat.turns] == ["Tell me of LLAMAS", "They spit."]


def test_what_is_nowhere_is_said_to_be(chats: Stage) -> None:
    search(chats, "zebra")
    assert said(chats) == []
    assert (
        chats.find_as(QLabel, "search_state").text() == "No message and no title holds this text, letter for letter."
    )


def test_esc_in_the_search_stops_no_answer(chats: Stage) -> None:
    chats.sends("Go on")
    chats.engine.prompt()
    search(chats, "llama")
    QTest.keyClick(line(chats), Qt.Key.Key_Escape)
    assert chats.desk.program.chat.busy


def test_the_search_opens_the_list_where_it_is_away(chats: Stage) -> None:
    chats.window.panes.want("left", shown=False)
    search(chats, "llama")
    assert chats.window.panes.shows("left") and len(said(chats)) == 2


def test_matches_look_different_from_the_text_around_them(chats: Stage) -> None:
    search(chats, "llama")
    found = results(chats)
    marked = found.grab(found.visualRect(found.model().index(0, 0))).toImage()
    accent = chats.themes.current.colour("accent")
    places = [(x, y) for x in range(marked.width()) for y in range(marked.height())]
    assert any(marked.pixelColor(x, y) == accent for x, y in places)


def test_the_day_leaves_most_of_the_line_to_the_title_and_is_read_aloud_whole(chats: Stage) -> None:
    model = FoundModel()
    at = QDate(2024, 9, 18).startOfDay().toMSecsSinceEpoch()
    model.show_hits((FoundMessage(1, 1, "Old", False, at, Snippet("Text", ())),))
    row = model.index(0, 0)
    assert QLocale().toString(QDate(2024, 9, 18), QLocale.FormatType.LongFormat) in row.data(
        Qt.ItemDataRole.AccessibleTextRole
    )
    taken = QFontMetrics(theme.font(theme.SMALL_PX)).horizontalAdvance(row.data(FoundRole.DAY))
    assert taken < results(chats).viewport().width() * 0.4


def test_a_title_is_found_and_opens_its_chat_from_another_page(chats: Stage) -> None:
    conversations = chats.desk.program.conversations
    first = conversations.heads[-1].id
    conversations.rename(first, "Animals that spit")
    chats.triggers("planner_action")
    search(chats, "spit")
    assert said(chats) == [
        "Title of a chat, today: Animals that spit",
        "Animals that spit, an answer, today: They spit.",
    ]
    assert chats.find_as(QLabel, "search_state").text().replace("\xa0", " ") == "1 title · 1 message"
    QTest.keyClick(line(chats), Qt.Key.Key_Return)
    chats.settle()
    assert (chats.window.page, conversations.open_id) == ("chat", first)
    search(chats, "animals")
    assert chats.find_as(QLabel, "search_state").text() == "1 title"
    QTest.keyClick(line(chats), Qt.Key.Key_Return)
    chats.settle()
    assert conversations.open_id == first and chats.window.parts.chat_page.transcript.hasFocus()
