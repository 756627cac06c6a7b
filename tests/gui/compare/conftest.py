from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.core.comparison import LETTERS
from app.gui.compare.lane_text import LaneText
from app.gui.compare.page import ComparePage
from tests.fake_lanes import FakeLanes
from tests.gui.conftest import Stage, desk, model, stage
from tests.gui.transcripts import marked_text

__all__ = ["desk", "model", "stage"]


class CompareStage:
    """The window as somebody sits before it who compares settings."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.desk = stage.desk
        self.engine = stage.engine
        self.comparing = stage.desk.program.comparing

    @property
    def page(self) -> ComparePage:
        return self.stage.find_as(ComparePage, "compare_page")

    @property
    def lanes(self) -> FakeLanes:
        """What the engine says of the comparison."""
        return self.engine.lanes

    @property
    def start(self) -> QPushButton:
        return self.stage.find_as(QPushButton, "compare_start_button")

    def asked(self, question: str = "Why is the sky blue?", answer: str = "It scatters.") -> CompareStage:
        """Have a question answered in the chat."""
        self.stage.sends(question)
        self.desk.answer(answer)
        return self

    def opened(self) -> CompareStage:
        """Go to the page."""
        self.stage.clicks("compare_button")
        return self

    def begun(self, *keep: str) -> CompareStage:
        """Begin with the lanes of the quick start, or with the first ones alone."""
        self.opened()
        for letter in reversed("abcde"):
            if keep and letter not in keep and self.is_there(f"set_up_remove_{letter}"):
                self.stage.clicks(f"set_up_remove_{letter}")
        self.stage.clicks("compare_start_button")
        self.stage.settle()
        return self

    def planned(self, tokens: int = 40, *, most: int = 8) -> CompareStage:
        """Let the prompt be read and the lanes be planned."""
        self.lanes.prompt(tokens)
        self.lanes.plan(most=most)
        self.stage.settle()
        return self

    def writes(self, lane: int, text: str, count: int = 1) -> None:
        self.lanes.write(lane, text, count)
        self.stage.settle()
        self.quiet()

    def ends(self) -> None:
        self.lanes.end()
        self.stage.settle()
        self.quiet()

    def quiet(self) -> None:
        """Let every lane that is seen show what came."""
        self.stage.bot.waitUntil(lambda: not self.page.run_view._feed._again.isActive(), timeout=60_000)

    def text(self, lane: int) -> LaneText:
        return self.stage.find_as(LaneText, f"lane_text_{LETTERS[lane].lower()}")

    def says(self, lane: int) -> str:
        """Return the text that a lane shows, as somebody would copy it."""
        view = self.text(lane)
        view.select_all()
        return marked_text(view)

    def reads(self, name: str) -> str:
        return self.stage.reads(name)

    def place(self, name: str) -> QRect:
        """Return where something is in the window."""
        widget = self.stage.find(name)
        return QRect(widget.mapTo(self.stage.window, QPoint()), widget.size())

    def is_there(self, name: str) -> bool:
        """Return whether something is shown now."""
        found = self.stage.window.findChild(QWidget, name)
        return found is not None and found.isVisibleTo(self.stage.window)

    def chooses(self, opens: Callable[[], object], entry: str) -> None:
        """Open a menu and choose an entry by its words."""
        before = set(self.stage.window.findChildren(QMenu))
        opens()
        menu = next(each for each in self.stage.window.findChildren(QMenu) if each not in before and each.actions())
        action = next(each for each in menu.actions() if each.text() == entry)
        assert action.isEnabled(), entry
        action.trigger()
        menu.close()

    def presses(self, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        focus = self.stage.window.focusWidget()
        assert focus is not None
        QTest.keyClick(focus, key, modifier)


@pytest.fixture
def comparer(stage: Stage, model: Path) -> CompareStage:
    stage.load(model)
    return CompareStage(stage)
