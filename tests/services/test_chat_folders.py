"""Folders of chats and pins as the service has them; in the window `tests.gui.test_chat_folders`."""

from __future__ import annotations

from collections.abc import Callable

from app.services.chat import Chat
from tests.desk import Desk
from tests.services.asking import say


def test_folders_pins_and_folds_are_there_after_a_restart(desk: Desk, chat: Chat, again: Callable[[], Desk]) -> None:
    folders = desk.program.chat_folders
    say(desk, "One", "1")
    folders.move(chat.conversation_id, folders.make("Work"))
    folders.pin(chat.conversation_id, on=True)
    folders.make("Empty")
    folders.fold("Work", on=True)
    anew = again().program
    (head,) = anew.conversations.heads
    assert (head.folder, head.pinned) == ("Work", True)
    assert anew.chat_folders.names == ("Empty", "Work")
    assert anew.chat_folders.folded == {"Work"}


def test_arranging_a_chat_makes_it_no_newer(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    before = chat.shown.head.changed_ms
    folders = desk.program.chat_folders
    folders.move(chat.conversation_id, folders.make("Work"))
    folders.rename("Work", "Play")
    folders.pin(chat.conversation_id, on=True)
    folders.delete("Play")
    (head,) = desk.program.conversations.heads
    assert (head.changed_ms, head.folder, head.pinned) == (before, "", True)


def test_a_chat_that_is_brought_back_brings_its_folder(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    folders, conversations = desk.program.chat_folders, desk.program.conversations
    folders.move(chat.conversation_id, folders.make("Work"))
    conversations.delete(chat.conversation_id)
    folders.delete("Work")
    assert "Work" not in folders.names
    conversations.undo_delete()
    assert "Work" in folders.names


def test_a_name_that_is_taken_is_refused_in_words_and_a_blank_one_changes_nothing(desk: Desk) -> None:
    folders = desk.program.chat_folders
    folders.make("Work")
    folders.make("Play")
    folders.rename("Work", " play ")
    assert "Play" in folders.names and "Work" in folders.names
    assert "already" in desk.told
    folders.rename("Work", "  \n ")
    assert folders.names == ("Play", "Work")
    folders.rename("Work", "WORK")
    assert folders.names == ("Play", "WORK")
