"""A window of its own that shows one answer of a chat under other settings: its text with marks, figures and sliders.

Must not know how an answer is replayed.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.compare.lane_overlay import LaneOverlay
from app.gui.compare.lane_text import LaneText
from app.gui.compare.marks import Marks, what_if_marks
from app.gui.compare.what_if_panel import WhatIfPanel
from app.gui.widgets.labels import label
from app.gui.widgets.pressing import press_focused
from app.gui.widgets.words import render
from app.services.answer_what_if import AnswerWhatIf
from app.services.lane_analysis import LaneWhatIf
from app.services.lanes_run import Lane

SIZE_PX = QSize(1080, 680)
FRAME_PX = 40
"""What a system may draw around a window, above all its title bar."""
TEXT_PX = 160
"""The text is at least so high."""
_LANE = 0


class WhatIfDialog(QDialog):
    """Closes by itself once nobody looks at an answer any more: it was deleted, goes on, or another chat is shown."""

    def __init__(self, what_if: AnswerWhatIf, themes: theme.Themes, background: Background, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = what_if
        self._shown: Lane | None = None
        self._text = LaneText(_LANE, themes, background)
        self._overlay = LaneOverlay(_LANE, self._text, themes)
        self._around = QFrame()
        self.panel = WhatIfPanel(themes, self._around)
        self.setObjectName("what_if_dialog")
        self.setWindowTitle(self.tr("What if: other settings"))
        self._lay_out()
        self.panel.asked.connect(lambda _lane, settings: what_if.ask(settings))
        self.panel.looked_at.connect(self._overlay.look_at)
        self._overlay.token_under.connect(self.panel.look_at)
        self._disconnect = what_if.changed.connect(self._follow)
        self._follow()

    @property
    def overlay(self) -> LaneOverlay:
        """What is marked in the text."""
        return self._overlay

    def done(self, result: int) -> None:
        """Listen no longer, and close."""
        self._disconnect()
        self._service.close()
        super().done(result)
        self.deleteLater()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press the button that has the keyboard; nothing else is pressed by Enter."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def _lay_out(self) -> None:
        self._text.setObjectName("what_if_text")
        self._text.setAccessibleName(self.tr("Answer under these settings"))
        self._text.setMinimumHeight(theme.scaled(TEXT_PX))
        self._around.setProperty("look", "lane")
        inside = QVBoxLayout(self._around)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(self._text)
        hint = label(
            self.tr(
                "Nothing is written anew: what was recorded of this answer is replayed with other settings, without "
                "the model."
            ),
            look="muted",
            name="what_if_hint",
        )
        hint.setWordWrap(True)
        close = QPushButton(self.tr("Close"))
        close.setObjectName("what_if_close")
        close.setAutoDefault(False)
        close.clicked.connect(self.reject)
        below = QHBoxLayout()
        below.setSpacing(theme.SPACE_M)
        below.addWidget(hint, 1)
        below.addWidget(close)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_XL, theme.SPACE_L, theme.SPACE_XL, theme.SPACE_L)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.panel, 1)
        column.addLayout(below)
        room = self.screen().availableGeometry().adjusted(theme.SPACE_S, 0, -theme.SPACE_S, -FRAME_PX)
        size = QSize(theme.scaled(SIZE_PX.width()), theme.scaled(SIZE_PX.height())).boundedTo(room.size())
        place = QRect(room.topLeft(), size)
        parent = self.parentWidget()
        place.moveCenter(parent.geometry().center() if parent is not None else room.center())
        self.setGeometry(_within(place, room))

    def _follow(self) -> None:
        """Show what is known now."""
        lane = self._service.shown
        if lane is None:
            if self.isVisible():
                self.reject()
            return
        if lane is not self._shown:
            self._shown = lane
            self._text.show_lane(lane.turn)
            self._overlay.show_marks(Marks())
            self.panel.show_lanes([(lane, lane.turn.author)], _LANE)
            self.panel.show_found(None)
            self.panel.take_focus()
        found = self._service.found
        if found is not None:
            self.panel.show_found(found)
        elif (problem := self._service.problem) is not None:
            self.panel.show_problem(render(problem))
        self._overlay.show_marks(_marks_of(found))


def _marks_of(found: LaneWhatIf | None) -> Marks:
    return what_if_marks(found) if found is not None else Marks()


def _within(place: QRect, room: QRect) -> QRect:
    """Return a place moved so that all of it is in the room."""
    place.moveRight(min(place.right(), room.right()))
    place.moveBottom(min(place.bottom(), room.bottom()))
    place.moveLeft(max(place.left(), room.left()))
    place.moveTop(max(place.top(), room.top()))
    return place
