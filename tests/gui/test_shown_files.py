"""Nowhere in the window stands what files are framed with: where a message is shown, told or copied, they have names."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication

from app.core.attached_files import framed
from app.gui.chat.left_out_button import LeftOut
from tests.gui.conftest import Stage
from tests.gui.test_queue import rows as queued

MESSAGE = f"{framed('notes.md', 'from a file')}\n\nWhat is this?"
WORDS, MARKDOWN = "notes.md: What is this?", "**notes.md**\n\n```\nfrom a file\n```\n\nWhat is this?"


@pytest.fixture
def asked(ready: Stage) -> Stage:
    ready.window.parts.chat_page.composer.give_back(MESSAGE)
    ready.presses(Qt.Key.Key_Return)
    ready.desk.answer("It is text.")
    return ready


def copied_by_menu(stage: Stage, *, plain: bool) -> str:
    page = stage.window.parts.chat_page
    page.turn_actions.copy(stage.desk.program.chat.turns[0], plain=plain)
    return QGuiApplication.clipboard().text()


def read_aloud(stage: Stage) -> str:
    heard = QAccessible.queryAccessibleInterface(stage.find("transcript"))
    first = heard.child(0)
    return str(first.text(QAccessible.Text.Name)) + str(first.text(QAccessible.Text.Value))


def waiting(stage: Stage) -> str:
    stage.sends("Go on")
    stage.window.parts.chat_page.composer.give_back(MESSAGE)
    stage.presses(Qt.Key.Key_Return)
    return queued(stage)[0]


PLACES: dict[str, tuple[Callable[[Stage], str], str]] = {
    "copied as it is": (lambda stage: copied_by_menu(stage, plain=False), MARKDOWN),
    "copied as plain text": (
        lambda stage: copied_by_menu(stage, plain=True),
        "notes.md\nfrom a file\n\nWhat is this?",
    ),
    "copied with the whole chat": (lambda stage: stage.transcript_text().split("\n\nIt is")[0], MARKDOWN),
    "left out": (lambda stage: LeftOut.of(stage.desk.program.chat.turns[0]).words, f"You: {WORDS}"),
    "waiting to be sent": (waiting, f"Next: {WORDS}"),
    "in a row of the list": (lambda stage: stage.desk.program.chat.shown.head.title, "What is this?"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_file_has_its_name_wherever_its_message_is_shown(asked: Stage, place: str) -> None:
    read, expected = PLACES[place]
    assert read(asked) == expected


def test_a_file_is_read_aloud_by_its_name(asked: Stage) -> None:
    said = read_aloud(asked)
    assert WORDS in said and "<file" not in said
