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


def test_a_deleted_folder_comes_back_with_its_chats_and_its_fold(
    desk: Desk, chat: Chat, again: Callable[[], Desk]
) -> None:
    folders, conversations = desk.program.chat_folders, desk.program.conversations
    chats = []
    for question in ("One", "Two", "Three"):
        conversations.new()
        say(desk, question, "1")
        chats.append(chat.conversation_id)
        folders.move(chat.conversation_id, "Work")
    folders.fold("Work", on=True)
    folders.delete("Work")
    assert desk.told == "The folder “Work” was deleted; its chats are still here."
    assert desk.notice.remedy == "undo_folder"
    folders.move(chats[1], folders.make("Play"))
    assert folders.undo_delete()
    assert desk.program.notices.latest is None
    assert {head.title: head.folder for head in conversations.heads} == {
        "One": "Work",
        "Two": "Play",
        "Three": "Work",
    }
    assert folders.folded == {"Work"}
    anew = again().program
    assert {head.title: head.folder for head in anew.conversations.heads}["One"] == "Work"
    assert not folders.undo_delete()


def test_deleted_folders_come_back_one_by_one_and_an_empty_one_too(desk: Desk) -> None:
    folders = desk.program.chat_folders
    for name in ("Work", "Play"):
        folders.make(name)
    folders.delete("Work")
    folders.delete("Play")
    assert folders.undo_delete()
    assert list(folders.names) == ["Play"]
    assert desk.told == "The folder “Work” was deleted."
    folders.make("WORK")
    assert folders.undo_delete()
    assert list(folders.names) == ["Play", "WORK"]


def test_a_chat_that_is_deleted_later_is_what_can_be_undone(desk: Desk, chat: Chat) -> None:
    say(desk, "One", "1")
    folders = desk.program.chat_folders
    folders.make("Work")
    folders.delete("Work")
    desk.program.conversations.delete(chat.conversation_id)
    assert desk.notice.remedy == "undo_delete"
    assert not folders.undo_delete() and folders.names == ()
