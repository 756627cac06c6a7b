from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.core.commands import RecordKind
from app.core.sampling import SamplingSettings
from app.gui.inside.alternatives import Alternatives
from app.gui.inside.page import InsidePage
from app.gui.inside.prompt_chips import PromptChips
from app.gui.inside.token_flow import TokenFlow
from app.probability.lane import Lane
from app.services.inspecting import Inspecting
from app.services.turns import Turn
from tests.gui.conftest import Stage, desk, model, stage
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import OPEN, load, some_rows

__all__ = ["desk", "model", "stage"]

COUNT = 60
USUAL = msgspec.structs.replace(OPEN, seed=None)


class Inspector(NamedTuple):
    """Somebody who looks inside of answers."""

    stage: Stage

    @property
    def service(self) -> Inspecting:
        return self.stage.desk.program.inspecting

    @property
    def page(self) -> InsidePage:
        return self.stage.find_as(InsidePage, "inside_page")

    @property
    def flow(self) -> TokenFlow:
        return self.stage.find_as(TokenFlow, "token_inspector")

    @property
    def chips(self) -> PromptChips:
        return self.stage.find_as(PromptChips, "prompt_chips")

    @property
    def rows(self) -> Alternatives:
        return self.stage.find_as(Alternatives, "alternatives_list")

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.stage.desk.program.chat.turns

    def answers(
        self,
        record: RecordKind = "all",
        count: int = COUNT,
        *,
        settings: SamplingSettings = USUAL,
        question: str = "Why?",
    ) -> Lane:
        """Have a question answered with so many tokens."""
        return answered(self.stage.desk, some_rows(count), settings, record, question=question)[1]

    def opens(self) -> None:
        """Go to the tokens of the answer, and wait until all is shown that is known."""
        self.stage.clicks("inside_button")
        self.stage.clicks("inside_answer_tab")
        self.known()

    @property
    def token(self) -> int:
        """Return which token is looked at; -1 for none."""
        return -1 if self.service.token is None else self.service.token

    def known(self) -> None:
        self.stage.desk.until(lambda: not self.service.is_busy)

    def presses(self, keys: str) -> None:
        """Press keys where the focus is, and wait for what they show."""
        focus: QWidget | None = self.stage.window.focusWidget()
        QTest.keySequence(focus if focus is not None else self.stage.window, QKeySequence(keys))
        self.known()

    def clicks(self, token: int) -> None:
        """Click a token of the answer."""
        place = self.flow.place_of(token).center().toPoint()
        QTest.mouseClick(self.flow.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.known()

    def points_at(self, token: int) -> None:
        """Rest the pointer on a token."""
        place: QPointF = self.flow.place_of(token).center()
        QTest.mouseMove(self.flow.viewport(), QPoint(1, 1))
        QTest.mouseMove(self.flow.viewport(), place.toPoint())

    def scrolls(self, place: int) -> int:
        """Have the page scrolled once its laboratory is there, in a window that is lower than it; return how far."""
        self.stage.window.resize(1280, 640)
        bar = self.page.verticalScrollBar()
        self.stage.bot.waitUntil(lambda: bar.maximum() >= place)
        self.stage.settle()
        bar.setValue(place)
        return bar.value()

    def reads(self, name: str) -> str:
        return self.stage.reads(name)


@pytest.fixture
def inspector(stage: Stage, model: Path) -> Inspector:
    stage.desk.program.conversations.start()
    load(stage.desk, model)
    stage.window.activateWindow()
    return Inspector(stage)
