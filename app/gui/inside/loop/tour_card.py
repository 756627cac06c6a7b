"""The tour of the loop, step by step, in the place where a stage is explained; it can be left at any step.

Knows no service: says which step is shown, and that the tour is over.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout

from app.gui import theme
from app.gui.inside.loop.memory_words import explained_by_kind
from app.gui.inside.loop.number_words import number
from app.gui.inside.loop.tour_words import Stop, stops
from app.gui.widgets.labels import label
from app.services.loop_values import LoopValues


class TourCard(QFrame):
    """One of the steps; hidden while there is no tour."""

    moved = Signal()
    """Another step is shown."""
    ended = Signal()
    """Somebody left the tour, or came to its end."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("loop_tour")
        self.setProperty("look", "card")
        self._stops = stops()
        self._at = 0
        self._numbers: tuple[str, ...] = ()
        """The number of each step, as it is now."""
        self._room: tuple[int, int] = (0, 0)
        """The width of the text, and the height that is kept at it."""
        self.step = label(look="muted", name="tour_step")
        self.title = label(pixels=theme.HEADING_PX, bold=True, name="tour_title")
        self._text = label(pixels=theme.READING_PX, name="tour_text")
        self.number = label(pixels=theme.FIGURE_PX, bold=True, name="tour_number")
        for each in (self._text, self.number):
            each.setWordWrap(True)
            each.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeading)
        self.back = _button("tour_back", self.tr("Back"))
        self.on = _button("tour_next", self.tr("Next"))
        self.on.setProperty("look", "primary")
        self.skip = _button("tour_skip", self.tr("Skip the tour"))
        self._lay_out()
        self.back.clicked.connect(lambda _checked=False: self.go(self._at - 1))
        self.on.clicked.connect(lambda _checked=False: self.go(self._at + 1))
        self.skip.clicked.connect(lambda _checked=False: self.ended.emit())
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
        self._numbers = tuple(number(each.stages[0], values) for each in self._stops)
        self.number.setText(self._numbers[self._at])
        self._keep_height()
        self.setAccessibleName(self.spoken())

    def spoken(self) -> str:
        """Return the whole step, for people who listen."""
        return f"{self.step.text()}: {self.stop.title}. {self._text.text()} {self.number.text()}"

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the height that the largest step needs at the new width."""
        super().resizeEvent(event)
        self._keep_height()

    def _keep_height(self) -> None:
        """Be as high as the largest step: the buttons stay under the pointer of who goes through them."""
        width, kept = self._room
        texts = tuple(each.text for each in self._stops)
        needed = max(_height(self._text, texts), _height(self.number, self._numbers))
        kept = max(kept, needed) if width == self._text.width() else needed
        self._room = (self._text.width(), kept)
        self._text.setMinimumHeight(kept)

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


def _height(shown: QLabel, texts: tuple[str, ...]) -> int:
    """Return how high a label has to be for each of these texts, in px, at the width that it has."""
    shown.ensurePolished()
    probe = QLabel()
    probe.setFont(shown.font())
    probe.setWordWrap(True)
    most = 0
    for text in texts:
        probe.setText(text)
        most = max(most, probe.heightForWidth(shown.width()))
    return most


def _button(name: str, text: str) -> QPushButton:
    made = QPushButton(text)
    made.setObjectName(name)
    return made
