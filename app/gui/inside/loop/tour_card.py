"""The tour of the loop, step by step, in the place where a stage is explained; it can be left at any step.

Knows no service: says which step is shown, and that the tour is over.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFont, QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.gui import theme
from app.gui.inside.loop.memory_words import explained_by_kind
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.row_button import RowButton
from app.gui.inside.loop.tour_words import Stop, stops
from app.gui.widgets.labels import label
from app.gui.widgets.runs import breakable
from app.services.loop_values import LoopValues


class _Words(QLabel):
    """Lines as high as the longest of the texts that come: the buttons below stay under the pointer of who goes on."""

    def __init__(self, name: str, font: QFont) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setFont(font)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self._probe = QLabel(self)
        self._probe.hide()
        self._probe.setTextFormat(Qt.TextFormat.PlainText)
        self._probe.setWordWrap(True)
        self._texts: tuple[str, ...] = ()
        self._heights: dict[int, int] = {}
        """By width, in px."""

    def keep_room_for(self, texts: tuple[str, ...]) -> None:
        """Say which texts come."""
        if texts != self._texts:
            self._texts = texts
            self._heights.clear()
            self.updateGeometry()

    def heightForWidth(self, width: int) -> int:
        """Return the height of the longest text."""
        if width not in self._heights:
            self._probe.setFont(self.font())
            most = super().heightForWidth(width)
            for text in self._texts:
                self._probe.setText(text)
                most = max(most, self._probe.heightForWidth(width))
            self._heights[width] = most
        return self._heights[width]


class TourCard(QFrame):
    """One of the steps; hidden while there is no tour."""

    moved = Signal()
    """Another step is shown."""
    ended = Signal()
    """Somebody left the tour, or came to its end."""
    row_wanted = Signal()
    """Somebody wants to see the numbers of the token."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("loop_tour")
        self.setProperty("look", "card")
        self._stops = stops()
        self._at = 0
        self.step = label(look="muted", name="tour_step")
        self.title = label(pixels=theme.HEADING_PX, bold=True, name="tour_title")
        self._text = _Words("tour_text", theme.font(theme.READING_PX))
        self._text.keep_room_for(tuple(each.text for each in self._stops))
        self.number = _Words("tour_number", theme.font(theme.FIGURE_PX, bold=True))
        self.back = _button("tour_back", self.tr("Back"))
        self.on = _button("tour_next", self.tr("Next"))
        self.on.setProperty("look", "primary")
        self.skip = _button("tour_skip", self.tr("Skip the tour"))
        self.read = RowButton("tour_read_row")
        self._lay_out()
        self.back.clicked.connect(lambda _checked=False: self.go(self._at - 1))
        self.on.clicked.connect(lambda _checked=False: self.go(self._at + 1))
        self.skip.clicked.connect(lambda _checked=False: self.ended.emit())
        self.read.clicked.connect(lambda _checked=False: self.row_wanted.emit())
        self.hide()

    @property
    def stop(self) -> Stop:
        """The step that is shown."""
        return self._stops[self._at]

    def begin(self) -> None:
        """Show the first step, with the keyboard at the button that leads on."""
        self.show()
        self.go(0)
        self.on.setFocus()

    def go(self, step: int) -> None:
        """Show another step, counted from 0; the tour is over behind the last one."""
        if step >= len(self._stops):
            self.ended.emit()
            return
        self._at = max(step, 0)
        is_last = self._at == len(self._stops) - 1
        if self._at == 0 and self.back.hasFocus():
            self.on.setFocus()
        self.back.setEnabled(self._at > 0)
        self.on.setText(self.tr("Done") if is_last else self.tr("Next"))
        self.skip.setVisible(not is_last)
        self.title.setText(self.stop.title)
        self.moved.emit()
        self._say()

    def show_number(self, values: LoopValues) -> None:
        """Show the number that the step is about, and which step that is."""
        words = self.tr("Example · tour, step {step} of {count}")
        if not values.is_example:
            words = self.tr("Tour, step {step} of {count}")
        self._text.setText(explained_by_kind(self.stop.stages[0], values.model) or self.stop.text)
        self.step.setText(words.format(step=self._at + 1, count=len(self._stops)))
        if self.read.hasFocus():
            self.on.setFocus()  # it goes, or rests, while the numbers are read
        self.read.show_values(values if self.stop.stages[0] == "embedding" else None)
        numbers = tuple(number(each.stages[0], values) for each in self._stops)
        shown = tuple(map(breakable, numbers))
        self.number.keep_room_for(shown)
        self.number.setText(shown[self._at])
        self.number.setAccessibleName(numbers[self._at])
        self.setAccessibleName(self.spoken())

    def spoken(self) -> str:
        """Return the whole step, for people who listen."""
        return f"{self.step.text()}: {self.stop.title}. {self._text.text()} {self.number.accessibleName()}"

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the tour with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.ended.emit()
        else:
            super().keyPressEvent(event)

    def _say(self) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.spoken()))

    def _lay_out(self) -> None:
        words = QHBoxLayout()
        words.setSpacing(theme.SPACE_XL)
        words.addWidget(self._text, 3)
        words.addWidget(self.number, 2)
        below = QHBoxLayout()
        below.setSpacing(theme.SPACE_S)
        below.addWidget(self.skip)
        below.addStretch(1)
        below.addWidget(self.read)
        below.addWidget(self.back)
        below.addWidget(self.on)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.step)
        column.addLayout(head)
        column.addLayout(words)
        column.addLayout(below)


def _button(name: str, text: str) -> QPushButton:
    made = QPushButton(text)
    made.setObjectName(name)
    return made
