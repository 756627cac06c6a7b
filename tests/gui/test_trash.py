"""The trash as people look into it."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QListWidget

from tests.gui.conftest import Stage

pytestmark = pytest.mark.qt_log_ignore("^This plugin does not support")


@pytest.fixture
def trash(ready: Stage) -> Stage:
    """Return a window with a deleted chat and a deleted branch, whose trash is open."""
    ready.desk.program.conversations.start()
    ready.settle()
    for question, answer in (("One", "1"), ("Two", "2")):
        ready.sends(question)
        ready.desk.answer(answer)
        ready.settle()
    program = ready.desk.program
    program.branches.delete(program.chat.turns[2])
    program.conversations.new()
    ready.sends("Another chat")
    ready.desk.answer("yes")
    ready.settle()
    program.conversations.delete(program.conversations.open_id)
    ready.triggers("trash_action")
    ready.settle()
    return ready


def entries(stage: Stage) -> list[str]:
    listed = stage.find_as(QListWidget, "trash_list")
    return [listed.item(row).text() for row in range(listed.count())]


def test_it_lists_what_was_deleted_the_latest_first(trash: Stage) -> None:
    chat, branch = entries(trash)
    assert chat.startswith("Chat “Another chat”\n")
    assert branch.startswith("“Two” in “One”\n")
    assert all("2 messages" in entry.replace("\u00a0", " ") for entry in (chat, branch))


def test_what_is_brought_back_is_shown_and_gone_from_the_list(trash: Stage) -> None:
    trash.clicks("trash_restore_button")
    trash.settle()
    assert [turn.text for turn in trash.desk.program.chat.turns] == ["Another chat", "yes"]
    assert len(entries(trash)) == 1
    trash.clicks("trash_restore_button")
    trash.settle()
    assert [turn.text for turn in trash.desk.program.chat.turns] == ["One", "1", "Two", "2"]
    assert trash.sees("trash_empty")
    assert not trash.find("trash_restore_button").isEnabled()


def test_what_is_removed_for_good_does_not_come_back(trash: Stage) -> None:
    trash.find_as(QListWidget, "trash_list").setCurrentRow(1)
    trash.clicks("trash_erase_button")
    trash.settle()
    assert len(entries(trash)) == 1
    trash.clicks("trash_erase_button")
    trash.settle()
    assert trash.find_as(QLabel, "trash_empty").text() == "Nothing was deleted."
