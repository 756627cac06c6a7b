"""A page that scrolls where the window is lower than it, and is as high as the window where it is not."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget


class TallPage(QScrollArea):
    """Scrolls up and down only."""

    room_changed = Signal(int)
    """There are so many pixels from top to bottom now."""

    def __init__(self, contents: QWidget) -> None:
        super().__init__()
        self._contents = contents
        self._wanted: QWidget | None = None
        """What is to be in view once everything has its place."""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._go)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidget(contents)

    def reveal(self, widget: QWidget) -> None:
        """Scroll, in a moment, so that a part of the page is in view."""
        self._wanted = widget
        self._soon.start()

    def minimumSizeHint(self) -> QSize:
        """Leave the height to the window, and never cut anything off at the side."""
        return QSize(self._contents.minimumSizeHint().width(), 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Tell how much room there is."""
        super().resizeEvent(event)
        self.room_changed.emit(event.size().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Ask for the width that the page needs by now."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().eventFilter(watched, event)

    def _go(self) -> None:
        if self._wanted is not None and self._wanted.isVisible():
            self.ensureWidgetVisible(self._wanted, 0, 0)
        self._wanted = None
