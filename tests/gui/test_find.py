"""Finding a text in the chat that is shown: how many matches there are, which is looked at, and that all are marked."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from app.core.attached_files import framed
from app.gui.chat.finder import Finder
from app.gui.chat.thoughtful_text import ThoughtfulText
from app.gui.chat.transcript import Transcript
from tests.gui.conftest import Stage


@pytest.fixture
def chat(ready: Stage) -> Stage:
    """Return a window with a chat of three turns with their answers."""
    ready.desk.program.conversations.start()
    ready.settle()
    for question, answer in (
        ("Tell me of LLAMAS", "They **spit**, a lla*ma* does."),
        ("And alpacas?", "Like a llama:\n\n```\nllama = 1\n```\n\n" + "word " * 900 + "\n\nllama"),
        ("Why?", "So."),
    ):
        ready.sends(question)
        ready.desk.answer(answer)
        ready.settle()
    return ready


def line(stage: Stage) -> QLineEdit:
    return stage.find_as(QLineEdit, "find_line")


def transcript(stage: Stage) -> Transcript:
    return stage.window.parts.chat_page.transcript


def told(stage: Stage) -> str:
    return stage.find_as(QLabel, "find_count").text()


def find(stage: Stage, text: str, told_then: str) -> None:
    stage.triggers("find_action")
    assert line(stage).hasFocus()
    QTest.keyClicks(line(stage), text)
    stage.bot.waitUntil(lambda: told(stage) == told_then, timeout=60_000)


def amber(stage: Stage) -> int:
    """Return how many pixels of the view are marked: neither ground nor text nor card."""
    viewport = transcript(stage).viewport()
    image = viewport.grab(QRect(0, 0, viewport.width(), viewport.height())).toImage()
    colours = [image.pixelColor(x, y) for x in range(0, image.width(), 2) for y in range(0, image.height(), 2)]
    return sum(colour.red() - colour.blue() > 40 for colour in colours)


def test_matches_are_counted_and_stepped_through_round_and_round(chat: Stage) -> None:
    find(chat, "llama", "5 of 5")
    seen = []
    for key in (Qt.Key.Key_F3,) * 6:
        QTest.keyClick(chat.window, key)
        seen.append(told(chat))
    assert seen == [f"{number} of 5" for number in (1, 2, 3, 4, 5, 1)]
    QTest.keyClick(chat.window, Qt.Key.Key_F3, Qt.KeyboardModifier.ShiftModifier)
    assert told(chat) == "5 of 5"
    QTest.keyClick(line(chat), Qt.Key.Key_Return)
    QTest.keyClick(line(chat), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert told(chat) == "5 of 5"


def test_the_match_that_is_looked_at_is_in_view_and_marked(chat: Stage) -> None:
    assert amber(chat) == 0
    find(chat, "llamas", "1 of 1")
    assert transcript(chat).verticalScrollBar().value() < 60
    assert amber(chat) > 20
    QTest.keyClick(line(chat), Qt.Key.Key_Escape)
    assert amber(chat) == 0 and not chat.sees("find_bar")
    assert chat.composer.hasFocus()


def test_what_is_nowhere_is_said_to_be(chat: Stage) -> None:
    find(chat, "zebra", "Nothing found")
    QTest.keyClick(line(chat), Qt.Key.Key_Return)
    assert told(chat) == "Nothing found"


def test_text_that_comes_while_it_is_written_is_found(chat: Stage) -> None:
    find(chat, "vicuna", "Nothing found")
    assert chat.desk.program.chat.send("More?")
    chat.engine.prompt()
    chat.engine.write("A vicu")
    chat.engine.write("na and another VICUNA")
    chat.settle()
    chat.bot.waitUntil(lambda: told(chat).endswith("of 2"), timeout=60_000)
    chat.engine.finish("end")
    chat.settle()
    assert told(chat).endswith("of 2")


def test_text_that_comes_out_of_view_is_counted(chat: Stage) -> None:
    assert chat.desk.program.chat.send("More?")
    chat.engine.prompt()
    chat.engine.write("First")
    chat.settle()
    find(chat, "llamas", "1 of 1")
    QTest.keyClick(chat.window, Qt.Key.Key_F3)
    assert transcript(chat).verticalScrollBar().value() < 60
    chat.engine.write(", then llamas")
    chat.settle()
    chat.bot.waitUntil(lambda: told(chat) == "1 of 2", timeout=60_000)
    assert transcript(chat).verticalScrollBar().value() < 60


def test_another_chat_is_searched_for_the_same(chat: Stage) -> None:
    find(chat, "llama", "5 of 5")
    chat.desk.program.conversations.new()
    chat.sends("One llama")
    chat.desk.answer("yes")
    chat.settle()
    chat.bot.waitUntil(lambda: told(chat).endswith("of 1"), timeout=60_000)


def test_a_hit_of_the_search_over_all_chats_is_marked_in_its_chat(chat: Stage) -> None:
    chat.triggers("search_action")
    search = chat.find_as(QLineEdit, "search_line")
    QTest.keyClicks(search, "llamas")
    QTest.keyClick(search, Qt.Key.Key_Return)
    chat.settle()
    chat.bot.waitUntil(lambda: told(chat) == "1 of 1", timeout=60_000)
    assert line(chat).text() == "llamas" and chat.sees("find_bar")


def test_the_end_of_a_very_long_message_is_shown_where_it_holds_what_is_looked_for(ready: Stage) -> None:
    assert ready.desk.program.chat.send("line\n" * 200 + "a llama at the end")
    ready.desk.answer("yes")
    ready.settle()
    find(ready, "llama", "1 of 1")
    assert amber(ready) > 20


def test_thinking_that_is_folded_is_found_and_opens_once_it_is_looked_at(ready: Stage) -> None:
    ready.sends("Why?")
    ready.desk.answer("<think>\nA llama, or two llamas\n</think>\n\nOne llama.")
    ready.settle()
    body = transcript(ready).turns.blocks[1].body
    assert isinstance(body, ThoughtfulText) and body.thinking is not None and body.thinking.is_folded
    find(ready, "llama", "1 of 3")
    assert not body.thinking.is_folded
    assert amber(ready) > 60
    QTest.keyClick(line(ready), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert told(ready) == "3 of 3"
    ready.clicks("find_close_button")
    assert amber(ready) == 0 and not body.thinking.is_folded


def test_the_marks_stay_right_where_thinking_is_folded_and_unfolded_by_hand(ready: Stage) -> None:
    ready.sends("Why?")
    ready.desk.answer("<think>\nA llama, or two llamas\n</think>\n\nOne llama.")
    ready.settle()
    find(ready, "One llama", "1 of 1")
    block = transcript(ready).turns.blocks[1]
    marked = [block.text[start:end] for start, end in spans(ready)]
    transcript(ready).unfold(block.turn.number)
    ready.settle()
    assert [block.text[start:end] for start, end in spans(ready)] == marked == ["One llama"]


def spans(stage: Stage) -> list[tuple[int, int]]:
    """Return what is marked in the answer."""
    (finder,) = transcript(stage).findChildren(Finder)
    found = finder.found_in(transcript(stage).turns.blocks[1].turn)
    return list(found)


@pytest.mark.parametrize(
    "wide",
    [
        "```\n" + "word " * 90 + "alpaca\nshort\n```",
        "|" + "a|" * 60 + "\n|" + "---|" * 60 + "\n|" + "words|" * 59 + "alpaca|",
    ],
    ids=["code", "table"],
)
def test_what_is_far_to_the_right_of_a_wide_block_is_scrolled_into_view(ready: Stage, wide: str) -> None:
    ready.sends("Show me")
    ready.desk.answer(f"Word alpaca and a wide block:\n\n{wide}")
    find(ready, "alpaca", "1 of 2")
    view = transcript(ready)
    (finder,) = view.findChildren(Finder)
    _, match = finder.found_in(ready.desk.program.chat.turns[1])
    assert view.rects(1, *match) == []
    QTest.keyClick(line(ready), Qt.Key.Key_Return)
    (place,) = view.rects(1, *match)
    assert view.viewport().rect().contains(place.toRect()) and place.width() > 20
    QTest.keyClick(line(ready), Qt.Key.Key_Return)
    assert told(ready) == "1 of 2"


def test_what_waits_for_room_on_the_disk_is_found(chat: Stage) -> None:
    work = chat.desk.store.work
    connection = work.database.connection
    assert connection is not None
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    chat.sends("A guanaco")
    chat.desk.answer("Another guanaco. " + "long " * 20_000)
    assert work.behind  # else it were on disk
    find(chat, "guanaco", "1 of 2")
    connection.execute("PRAGMA max_page_count = 1000000")


def test_matches_in_the_files_of_a_message_are_counted_and_their_rows_marked(ready: Stage) -> None:
    ready.desk.program.conversations.start()
    files = framed("a.txt", "nothing"), framed("b.txt", "a vicuna and a vicuna")
    ready.window.parts.chat_page.composer.give_back("\n\n".join((*files, "What of the vicuna?")))
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("It has wool.\n\n" + "word\n\n" * 200 + "vicuna")
    before = amber(ready)
    find(ready, "vicuna", "4 of 4")
    for number in (1, 2, 3):
        QTest.keyClick(line(ready), Qt.Key.Key_Return)
        assert told(ready) == f"{number} of 4"
        rects = transcript(ready).file_rects(ready.desk.program.chat.turns[0].number)
        assert transcript(ready).viewport().rect().contains(rects[1].toRect())
    assert amber(ready) > before + rects[1].width() * rects[1].height() / 8
    line(ready).setText("b.txt")
    ready.bot.waitUntil(lambda: told(ready) == "1 of 1", timeout=60_000)
