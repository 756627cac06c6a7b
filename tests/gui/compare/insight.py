"""A comparison in the window whose tokens were really drawn and recorded, so that all of it can be analysed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QMouseEvent
from PySide6.QtWidgets import QToolButton

from app.core.comparison import LETTERS
from app.gui.compare.differences import Differences
from app.gui.compare.exporting import ExportButton
from app.gui.compare.lane_overlay import LaneOverlay
from app.services.lane_analysis import Analysis, LaneDivergence
from tests.gui.compare.conftest import CompareStage
from tests.gui.conftest import Stage
from tests.services.recorded_lanes import RecordedLead, load, some_rows

COUNT, SEED = 30, 7


class InsightStage(CompareStage):
    """Somebody who looks at what differs."""

    lead: RecordedLead

    def asked(self, question: str = "Why is the sky blue?", answer: str = "It scatters.") -> InsightStage:
        super().asked(question, answer)
        return self

    def ran(self, *keep: str, count: int = COUNT) -> InsightStage:
        """Let lanes of the quick start write from the same rows, and end."""
        self.lead = RecordedLead(self.desk, some_rows(count))
        self.desk.program.sampling.change(seed=SEED)
        self.begun(*keep)
        return self._written()

    def ran_as_set_up(self) -> InsightStage:
        """Start the lanes that are set up, and let them write from the same rows and end."""
        self.lead = RecordedLead(self.desk, some_rows(COUNT))
        self.stage.clicks("compare_start_button")
        self.stage.settle()
        return self._written()

    def _written(self) -> InsightStage:
        assert len({settings.seed for settings in self.lead.asked.lanes}) == 1
        self.lead.begin()
        for number in range(len(self.lead.asked.lanes)):
            self.lead.finish_drawn(number)
        self.lead.end()
        self.known()
        return self

    def known(self) -> Analysis:
        """Wait until all that was asked is known."""
        analysis = self.desk.program.comparison_analysis
        self.desk.until(lambda: not analysis.is_busy)
        self.quiet()
        insights = self.differences._insights.values()
        self.stage.bot.waitUntil(lambda: all(each.overlay.is_ready for each in insights), timeout=60_000)
        assert analysis.shown is not None
        return analysis.shown

    @property
    def differences(self) -> Differences:
        assert self.page.differences is not None
        return self.page.differences

    def divergence(self, lane: int) -> LaneDivergence:
        found = self.known().divergence(lane)
        assert found is not None
        return found

    def overlay(self, lane: int) -> LaneOverlay:
        return self.differences._insights[lane].overlay

    def link(self, lane: int) -> QToolButton:
        return self.stage.find_as(QToolButton, f"lane_divergence_{LETTERS[lane].lower()}")

    def points(self, lane: int, place: QRect) -> None:
        """Move the pointer to a place in the text of a lane."""
        viewport = self.text(lane).viewport()
        at = QPointF(place.center())
        button = Qt.MouseButton.NoButton
        event = QMouseEvent(
            QMouseEvent.Type.MouseMove, at, viewport.mapToGlobal(at), button, button, Qt.KeyboardModifier.NoModifier
        )
        QCoreApplication.sendEvent(viewport, event)

    def exported(self) -> None:
        """Wait until a file is drawn and written."""
        button = self.stage.find_as(ExportButton, "compare_export_button")
        self.stage.bot.waitUntil(lambda: not button.is_drawing, timeout=60_000)
        self.desk.until(lambda: button.text() == "Export")

    def colours(self, lane: int, place: QRect) -> set[str]:
        """Return the colours that are painted in a place of the text of a lane."""
        viewport = self.text(lane).viewport()
        image = viewport.grab().toImage()
        ratio = image.devicePixelRatio()
        found = set()
        for x in range(round(place.left() * ratio), round(place.right() * ratio)):
            for y in range(round(place.top() * ratio), round(place.bottom() * ratio)):
                if image.rect().contains(x, y):
                    found.add(QColor(image.pixel(x, y)).name())
        return found

    def lane_colour(self, lane: int) -> str:
        return self.stage.themes.current.colour(f"lane_{LETTERS[lane].lower()}").name()


@pytest.fixture
def insight(stage: Stage, model: Path) -> InsightStage:
    load(stage.desk, model)
    return InsightStage(stage)
