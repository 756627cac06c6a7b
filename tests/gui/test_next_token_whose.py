"""Whose candidates are shown: another chat's are never taken for those of the one that is open."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.gui.icons import Icons
from app.gui.next_token.panel import NextTokenPanel
from app.gui.theme import Themes
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import render
from app.services.next_token import _DELETED, _EARLIER, _OTHER_VERSION
from tests.desk import Desk
from tests.gui.looker import WIDTH_PX
from tests.gui.looking import take_away
from tests.made_up_steps import row_of, step_of

SIZE = 49_152
"""Tokens of the test's engine."""


class Section:
    """The section of a whole program that has one answer."""

    def __init__(self, desk: Desk, application: QApplication, bot: QtBot) -> None:
        program = desk.program
        self.desk = desk
        themes = Themes(application, program.resources, program.settings)
        self.window = QWidget()
        self.window.resize(WIDTH_PX, 400)
        self.panel = NextTokenPanel(program.next_token, themes, Icons(program.resources), self.window)
        self.panel.resize(WIDTH_PX, 300)
        with bot.waitExposed(self.window):
            self.window.show()

    def asks(self, question: str, *, ends: bool = True) -> int:
        """Ask in the chat that is shown, let a step of the answer come in, and return which chat it is."""
        assert self.desk.program.chat.send(question)
        self.desk.engine.prompt()
        self.desk.engine.write("a")
        self.desk.engine.say(step_of(row_of(SIZE), self.desk.engine.question.request, 0))
        if ends:
            self.desk.engine.finish()
        self.desk.settle()
        return self.desk.program.chat.conversation_id

    @property
    def whose(self) -> str | None:
        """The line about another chat, if there is one."""
        line = self.panel.findChild(QWidget, "candidates_whose")
        assert line is not None
        assert line.accessibleName() == line.property("text")
        return line.property("text") if line.isVisibleTo(self.panel) else None


@pytest.fixture
def section(desk: Desk, model: Path, qtbot: QtBot, qapp: QApplication) -> Iterator[Section]:
    desk.load(model)
    made = Section(desk, qapp, qtbot)
    yield made
    made.panel.disconnect_services()
    take_away(made.window, qapp)


def test_another_chat_says_whose_candidates_are_shown(section: Section) -> None:
    first = section.asks("Write a story")
    conversations = section.desk.program.conversations
    assert section.panel.chart.isVisible() and section.whose is None
    conversations.new()
    assert section.panel.chart.isVisible() and section.whose == "from “Write a story”"
    section.desk.program.session.unload()
    section.desk.settle()
    assert section.whose == "from “Write a story”"
    conversations.rename(first, "A tale")
    assert section.whose == "from “A tale”"
    conversations.open(first)
    section.desk.settle()
    assert section.panel.chart.isVisible() and section.whose is None


def test_an_answer_of_the_chat_that_is_shown_ends_the_line(section: Section, qtbot: QtBot) -> None:
    section.asks("Write a story")
    section.desk.program.conversations.new()
    section.asks("Another one", ends=False)
    qtbot.waitUntil(lambda: section.whose is None, timeout=60_000)
    assert section.panel.chart.isVisible()


def test_the_candidates_of_a_deleted_chat_go_with_it_and_come_back(section: Section) -> None:
    chat = section.asks("Write a story")
    conversations = section.desk.program.conversations
    conversations.delete(chat)
    assert not section.panel.chart.isVisible() and section.whose is None
    conversations.undo_delete()
    section.desk.settle()
    assert section.panel.chart.isVisible() and section.whose is None


def test_another_version_than_the_one_that_is_shown_says_so(section: Section) -> None:
    section.asks("Write a story")
    program = section.desk.program
    assert program.branches.answer_again(program.chat.turns[-1])
    section.desk.engine.prompt()
    section.desk.engine.write("b")
    section.desk.engine.say(step_of(row_of(SIZE), section.desk.engine.question.request, 0))
    section.desk.engine.finish()
    section.desk.settle()
    assert section.whose is None
    assert program.branches.step(program.chat.turns[-1], -1)
    assert section.whose == "another version"
    assert program.branches.step(program.chat.turns[-1], 1)
    assert section.whose is None


def test_after_an_answer_without_a_token_the_ones_before_it_are_called_so(section: Section) -> None:
    section.asks("Write a story")
    assert section.desk.program.chat.send("Another")
    section.desk.engine.prompt()
    section.desk.settle()
    assert section.whose is None, "the next one is on its way"
    section.desk.engine.finish("cancelled")
    section.desk.settle()
    assert section.whose == "earlier answer"


def test_whose_candidates_they_are_is_never_cut_beside_the_usual_count(section: Section) -> None:
    section.asks("Write a story")
    panel = section.panel
    left, whose = (panel.findChild(FixedText, f"candidates_{name}") for name in ("left", "whose"))
    view = section.desk.program.next_token.candidates()
    layout = panel.layout()
    assert left is not None and whose is not None and view is not None and layout is not None
    for words in (_OTHER_VERSION, _EARLIER, _DELETED):
        panel._show_view(replace(view, origin=words, survivors=1_024, vocabulary=151_936, is_exact=False))
        layout.activate()
        assert left.shown == "about 1,024 tokens left"
        assert whose.shown == render(words)
