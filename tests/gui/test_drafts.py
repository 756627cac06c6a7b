"""What is written and not sent: it outlives the window and a kill, belongs to its chat, and goes when it is sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFrame
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.core.attached_files import framed
from app.core.draft import MAX_CHARACTERS, NEW_CHAT
from app.core.events import Event
from app.core.store_commands import KeepDraft, KeepQuestion, StoreCommand
from app.core.store_events import ConversationRead, StoreOpened
from app.gui.chat.draft import LONG_LINE, MAX_LINES, MIN_LINES
from app.gui.chat.draft_keeper import KEPT_MS
from app.store.opening import FILE_NAME
from tests.desk import Desk
from tests.gui.conftest import Stage

LONG = "x" * (LONG_LINE + 1)


@pytest.fixture
def kept(ready: Stage) -> Stage:
    """Return the stage with a model and the chats of earlier, of which there are none."""
    ready.desk.program.conversations.start()
    return ready


@pytest.fixture
def again(
    kept: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, qapp: QApplication
) -> Iterator[Callable[[], Stage]]:
    """Return what closes the window and opens another one in the same home, with nothing read yet."""
    opened: list[Stage] = []

    def start() -> Stage:
        kept.window.close()
        kept.desk.program.stop()
        opened.append(Stage(Desk(tmp_path / "home", monkeypatch), qtbot, qapp))
        return opened[-1]

    yield start
    for stage in opened:
        if isValid(stage.window):
            stage.window.close()
            stage.window.deleteLater()
        stage.desk.program.stop()


def on_disk(stage: Stage) -> dict[int, str]:
    """Return the drafts as whoever opens the file after a kill would find them."""
    with closing(sqlite3.connect(stage.desk.program.paths.data / FILE_NAME)) as connection:
        return dict(connection.execute("SELECT conversation, text FROM draft"))


def pastes(stage: Stage, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    stage.composer.insertFromMimeData(data)


def rows(stage: Stage) -> int:
    shown = stage.window.findChildren(QFrame, "pasted_text")
    return sum(row.isVisibleTo(stage.window) for row in shown)


def noted(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> list[StoreCommand]:
    """Return the commands that go to the store from now on."""
    sent: list[StoreCommand] = []
    send = stage.desk.store.send

    def note(command: StoreCommand) -> None:
        sent.append(command)
        send(command)

    monkeypatch.setattr(stage.desk.store, "send", note)
    return sent


def talk(stage: Stage, question: str) -> int:
    """Have a question answered in the chat that is shown; return the chat."""
    stage.sends(question)
    stage.desk.answer("Hello")
    return stage.desk.program.conversations.open_id


def test_a_draft_is_on_disk_a_moment_after_the_last_key(kept: Stage) -> None:
    assert KEPT_MS <= 1_000
    kept.types("half a thought")
    assert on_disk(kept) == {}
    kept.bot.waitUntil(lambda: on_disk(kept) == {NEW_CHAT: "half a thought"}, timeout=60_000)


def test_whoever_writes_without_a_pause_has_it_kept_too(kept: Stage) -> None:
    kept.types("o")
    due = kept.window.parts.chat_page._drafts._due
    before = due.remainingTime()
    kept.types("n and on")
    assert due.isActive() and due.remainingTime() <= before
    kept.bot.waitUntil(lambda: on_disk(kept) == {NEW_CHAT: "on and on"}, timeout=60_000)


def test_a_long_draft_is_written_once_for_many_keys(kept: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    sent = noted(kept, monkeypatch)
    pastes(kept, "line\n" * (MAX_CHARACTERS // 6))
    kept.types("What is this about?")
    kept.bot.waitUntil(lambda: on_disk(kept) == {NEW_CHAT: "What is this about?"}, timeout=60_000)
    assert sum(isinstance(command, KeepDraft) for command in sent) == 1


@pytest.mark.parametrize("begun", [False, True])
def test_a_draft_is_there_again_after_a_restart_with_what_was_pasted(
    kept: Stage, again: Callable[[], Stage], begun: bool
) -> None:
    if begun:
        talk(kept, "Hi")
    kept.types("What is this?")
    pastes(kept, LONG)
    later = again()
    later.desk.program.conversations.start()
    assert (later.composer.toPlainText(), rows(later)) == ("What is this?", 1)
    assert later.sees("transcript") is begun
    later.load(Path(kept.desk.engine.load.path))
    later.presses(Qt.Key.Key_Return)
    assert later.engine.chat.messages[-1].text == f"{LONG}\n\nWhat is this?"
    assert on_disk(later) == {}


@pytest.mark.parametrize("waits", [False, True])
def test_files_are_files_again_after_a_restart(kept: Stage, again: Callable[[], Stage], waits: bool) -> None:
    frame = framed("notes.md", "from a file")
    if waits:
        kept.sends("Hi")
    kept.window.parts.chat_page.composer.give_back(f"{frame}\n\nWhat is this?")
    if waits:
        kept.presses(Qt.Key.Key_Return)
    later = again()
    later.desk.program.conversations.start()
    written = later.window.parts.chat_page.composer.written
    assert ([each.text for each in written.pasted], written.text) == ([frame], "What is this?")


def test_each_chat_has_its_own_draft_after_a_restart(kept: Stage, again: Callable[[], Stage]) -> None:
    first = talk(kept, "One")
    kept.types("about the first")
    kept.triggers("new_chat_action")
    second = talk(kept, "Two")
    kept.types("about the second")
    kept.triggers("new_chat_action")
    kept.types("something new")
    later = again()
    conversations = later.desk.program.conversations
    conversations.start()
    assert later.composer.toPlainText() == "something new"
    for conversation, text in ((first, "about the first"), (second, "about the second")):
        conversations.open(conversation)
        assert later.composer.toPlainText() == text
    later.triggers("new_chat_action")
    assert later.composer.toPlainText() == "something new"


def test_a_draft_goes_from_the_disk_when_it_is_sent_or_emptied(kept: Stage) -> None:
    kept.types("Hi")
    kept.window.parts.chat_page._drafts.keep()
    assert on_disk(kept) == {NEW_CHAT: "Hi"}
    kept.presses(Qt.Key.Key_Return)
    assert on_disk(kept) == {}
    kept.desk.answer("Hello")
    kept.types("No")
    kept.window.parts.chat_page._drafts.keep()
    assert len(on_disk(kept)) == 1
    QTest.keyClick(kept.composer, Qt.Key.Key_Backspace)
    QTest.keyClick(kept.composer, Qt.Key.Key_Backspace)
    kept.bot.waitUntil(lambda: on_disk(kept) == {}, timeout=60_000)


def test_the_question_is_on_disk_before_its_draft_is_gone(kept: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.types("Hi")
    kept.window.parts.chat_page._drafts.keep()
    sent = noted(kept, monkeypatch)
    kept.presses(Qt.Key.Key_Return)
    assert [type(command) for command in sent if isinstance(command, KeepQuestion | KeepDraft)] == [
        KeepQuestion,
        KeepDraft,
    ]


def test_what_is_written_beside_a_starter_belongs_to_the_chat_that_it_begins(kept: Stage) -> None:
    kept.types("half a thought")
    kept.window.parts.chat_page.welcome.chosen.emit("Explain the sky.")
    assert on_disk(kept) == {kept.desk.program.conversations.open_id: "half a thought"}
    kept.triggers("new_chat_action")
    assert kept.composer.toPlainText() == ""


def test_a_question_that_came_to_nothing_is_a_kept_draft_again(kept: Stage) -> None:
    kept.sends("Far too long")
    kept.types("meanwhile")
    kept.engine.fail("prompt_too_long")
    kept.settle()
    assert on_disk(kept) == {NEW_CHAT: "Far too long\n\nmeanwhile"}


def test_the_draft_of_a_new_chat_stays_where_a_question_comes_back_to_it(kept: Stage) -> None:
    kept.sends("Far too long")
    first = kept.desk.program.conversations.open_id
    kept.triggers("new_chat_action")
    kept.types("another thought")
    kept.desk.program.conversations.open(first)
    kept.engine.fail("prompt_too_long")
    kept.settle()
    assert kept.composer.toPlainText() == "Far too long\n\nanother thought"
    assert on_disk(kept) == {NEW_CHAT: "Far too long\n\nanother thought"}


def test_deleting_a_chat_takes_its_draft_along_and_undo_brings_it_back(kept: Stage) -> None:
    first = talk(kept, "One")
    kept.types("about the first")
    kept.desk.program.conversations.delete(first)
    assert kept.composer.toPlainText() == ""
    kept.desk.program.conversations.undo_delete()
    assert kept.composer.toPlainText() == "about the first"


def held_back(stage: Stage) -> list[Event]:
    """Let what the store says wait until the test hands it on."""
    held: list[Event] = []
    stage.desk.take_from_store = held.append
    return held


def test_what_is_typed_before_the_chats_are_read_stays_behind_the_draft_of_the_chat_that_comes(
    kept: Stage, again: Callable[[], Stage]
) -> None:
    talk(kept, "One")
    kept.types("earlier")
    later = again()
    held = held_back(later)
    later.desk.program.conversations.start()
    later.types("now")
    for kind in (StoreOpened, ConversationRead):
        event = held.pop(0)
        assert isinstance(event, kind)
        later.desk.program.dispatch(event)
    assert later.composer.toPlainText() == "earlier\n\nnow"
    later.triggers("new_chat_action")
    assert later.composer.toPlainText() == ""


@pytest.mark.parametrize("begun", [False, True])
def test_nothing_is_shown_that_a_chat_would_take_the_place_of(
    kept: Stage, again: Callable[[], Stage], begun: bool
) -> None:
    if begun:
        talk(kept, "One")
    later = again()
    held = held_back(later)
    later.desk.program.conversations.start()

    def seen() -> list[str]:
        names = ("welcome_title", "no_conversations", "transcript", "opening_text")
        return [name for name in names if later.sees(name)]

    place = later.find("composer").mapTo(later.window, later.composer.rect().topLeft())
    assert seen() == []
    later.desk.program.dispatch(held.pop(0))
    assert seen() == ([] if begun else ["welcome_title", "no_conversations"])
    if begun:
        later.desk.program.dispatch(held.pop(0))
        assert seen() == ["transcript"]
    assert later.find("composer").mapTo(later.window, later.composer.rect().topLeft()) == place


def test_where_opening_takes_long_it_is_said_why_nothing_is_there(kept: Stage, again: Callable[[], Stage]) -> None:
    later = again()
    held = held_back(later)
    later.desk.program.conversations.start()
    later.bot.waitUntil(lambda: later.sees("opening_text"), timeout=60_000)
    assert later.reads("opening_text") == "Opening your chats …"
    later.desk.program.dispatch(held.pop(0))
    assert not later.sees("opening_text") and later.sees("welcome_title")


def test_a_new_chat_that_somebody_begins_meanwhile_is_shown_at_once(kept: Stage, again: Callable[[], Stage]) -> None:
    talk(kept, "One")
    later = again()
    held = held_back(later)
    later.desk.program.conversations.start()
    later.desk.program.dispatch(held.pop(0))
    later.triggers("new_chat_action")
    assert later.sees("welcome_title")
    later.desk.program.dispatch(held.pop(0))
    assert later.sees("welcome_title") and not later.sees("transcript")


def test_the_field_fits_the_draft_that_is_shown(kept: Stage) -> None:
    def lines() -> int:
        kept.window.grab()  # a field is laid out when it is painted
        return kept.composer.height() // kept.composer.fontMetrics().lineSpacing()

    chats = []
    for text in ("line\n" * 30, "word " * 300):
        kept.triggers("new_chat_action")
        chats.append(talk(kept, "Hi"))
        kept.composer.insertPlainText(text)
        assert lines() == MAX_LINES
    for _ in range(2):
        for chat in chats:
            kept.desk.program.conversations.open(chat)
            assert lines() == MAX_LINES
        kept.triggers("new_chat_action")
        assert lines() == MIN_LINES
        kept.types("x")
        assert lines() == MIN_LINES
