"""Somebody who looks at an answer of a chat under other settings."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QWidget

from app.core.commands import RecordKind
from app.gui.compare.what_if_dialog import WhatIfDialog
from app.gui.widgets.boxes import NumberBox
from app.services.answer_what_if import AnswerWhatIf
from app.services.lane_analysis import LaneWhatIf
from app.services.turns import Turn
from tests.gui.conftest import Stage
from tests.gui.test_turn_actions import choose
from tests.services.recorded_answers import answered
from tests.services.recorded_lanes import OPEN, load, some_rows

COUNT = 30
USUAL = msgspec.structs.replace(OPEN, seed=None)
WORDS = "What if…"
_Found = TypeVar("_Found", bound=QWidget)


class Looker(NamedTuple):
    """Somebody who looks at an answer under other settings."""

    stage: Stage

    @property
    def service(self) -> AnswerWhatIf:
        return self.stage.desk.program.answer_what_if

    @property
    def dialog(self) -> WhatIfDialog:
        return self.stage.find_as(WhatIfDialog, "what_if_dialog")

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.stage.desk.program.chat.turns

    def is_open(self) -> bool:
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        found = self.stage.window.findChild(WhatIfDialog, "what_if_dialog")
        return found is not None and found.isVisible()

    def answers(self, record: RecordKind = "all", question: str = "Why is the sky blue?", seed: int = 1) -> Looker:
        answered(self.stage.desk, some_rows(COUNT, seed), USUAL, record, question=question)
        return self

    def known(self) -> LaneWhatIf:
        """Wait until all that was asked is known and marked."""
        self.stage.desk.until(lambda: not self.service.is_busy)
        self.stage.bot.waitUntil(lambda: self.dialog.overlay.is_ready, timeout=60_000)
        assert self.service.found is not None
        return self.service.found

    def opens(self, place: int = -1) -> LaneWhatIf:
        choose(self.stage, place % len(self.turns), WORDS)
        return self.known()

    def sets(self, name: str, value: float) -> LaneWhatIf:
        self.find(NumberBox, f"what_if_{name}_box").setValue(value)
        return self.known()

    def find(self, kind: type[_Found], name: str) -> _Found:
        found = self.dialog.findChild(kind, name)
        assert found is not None, name
        return found

    def reads(self, name: str) -> str:
        return str(self.find(QLabel, name).property("text"))


@pytest.fixture
def looker(stage: Stage, model: Path) -> Looker:
    stage.desk.program.conversations.start()
    load(stage.desk, model)
    return Looker(stage)


def entry_of(menu: QMenu) -> QAction:
    return next(action for action in menu.actions() if action.text() == WORDS)
