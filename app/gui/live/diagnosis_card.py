"""A card beside the live figures: what the diagnosis of the answer rests on, and what can be done about it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.diagnosis import Diagnosis
from app.gui import theme
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.diagnosis_details import DiagnosisDetails
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint

WIDTH_PX = 420


class DiagnosisCard(QFrame):
    """Lies over the window, beside what it explains."""

    closed = Signal()
    """Somebody put it away."""
    timeline_wanted = Signal()
    """Somebody wants to see the time of the answer as a picture."""

    def __init__(self, over: QWidget, icons: Icons) -> None:
        """`over` is the window that it lies over."""
        super().__init__(over)
        self._over = over
        self.setObjectName("diagnosis_card")
        self.setAccessibleName(self.tr("Where the time went"))
        self.setProperty("look", "card")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedWidth(theme.scaled(WIDTH_PX))
        self._sentence = label(pixels=theme.FIGURE_PX, bold=True, name="diagnosis_sentence")
        self._sentence.setWordWrap(True)
        self._close = IconButton(icons, "close", self.tr("Close"), object_name="diagnosis_close")
        self._close.clicked.connect(self.put_away)
        self.details = DiagnosisDetails("diagnosis")
        self._timeline = QPushButton(self.tr("See the timeline"))
        self._timeline.setObjectName("diagnosis_timeline")
        set_hint(self._timeline, self.tr("See where the time of the answer went, as a picture."))
        self._timeline.clicked.connect(lambda _checked=False: self._leave())
        self.details.buttons.insertWidget(1, self._timeline)
        self.details.remedy_wanted.connect(lambda _remedy: self.put_away())
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addWidget(self._sentence, 1)
        head.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_M, theme.SPACE_L)
        self._column.setSpacing(theme.SPACE_M)
        self._column.addLayout(head)
        self._column.addWidget(self.details)
        self.hide()

    def add(self, widget: QWidget) -> None:
        """Show something more under the evidence."""
        self._column.addWidget(widget)

    def show_diagnosis(self, diagnosis: Diagnosis, at: QRect) -> None:
        """Show a diagnosis beside a place on the screen."""
        self._sentence.setText(render(diagnosis.sentence))
        self.setAccessibleDescription(render(diagnosis.sentence))
        self.details.show_diagnosis(diagnosis)
        self.show()
        self.place(at)
        self.raise_()

    def place(self, at: QRect) -> None:
        """Lie beside a place on the screen, on the side that has room, and inside of the window."""
        layout = self.layout()
        if layout is not None:
            layout.activate()
            self.resize(
                self.width(), max(layout.totalHeightForWidth(self.width()), layout.totalMinimumSize().height())
            )
        place = QRect(self._over.mapFromGlobal(at.topLeft()), at.size())
        apart, seen = theme.SPACE_XL, self._over.rect()
        left = place.left() - self.width() - apart
        if left < seen.left():
            left = min(place.left(), seen.right() + 1 - self.width())
        most = seen.bottom() + 1 - self.height() - theme.SPACE_S
        top = min(place.bottom() + 1 - self.height(), most)
        self.move(QPoint(max(left, seen.left()), max(top, seen.top() + theme.SPACE_S)))

    def put_away(self) -> None:
        """Hide the card."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Put the card away with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.put_away()
        else:
            super().keyPressEvent(event)

    def _leave(self) -> None:
        self.put_away()
        self.timeline_wanted.emit()
