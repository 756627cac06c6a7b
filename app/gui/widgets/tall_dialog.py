"""A dialog that is never taller than its screen: what is chosen scrolls, the buttons below stay where they are.

Knows nothing of what it holds.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QFrame, QLayout, QScrollArea, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.widgets.pressing import press_focused

FRAME_PX = 40
"""What a system may draw around a dialog, above all its title bar."""
LEAST_CONTENTS_PX = 120


class TallDialog(QDialog):
    """Grows and shrinks with its contents as far as the screen goes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._area = _Area()
        self._line = QFrame()
        self._line.setProperty("look", "line")
        self._area.verticalScrollBar().rangeChanged.connect(lambda _low, high: self._line.setVisible(high > 0))
        self._fitted = QSize()

    def hold(self, contents: QWidget, buttons: QLayout | QWidget) -> None:
        """Lay out what scrolls, and below it what stays; the margins are the dialog's."""
        self._area.setWidget(contents)
        contents.setContentsMargins(theme.SPACE_XL, theme.SPACE_L, theme.SPACE_XL, theme.SPACE_M)
        if (inner := contents.layout()) is not None:
            inner.setContentsMargins(0, 0, 0, 0)
        contents.installEventFilter(self)
        below = QVBoxLayout()
        below.setContentsMargins(theme.SPACE_XL, theme.SPACE_M, theme.SPACE_XL, theme.SPACE_L)
        if isinstance(buttons, QLayout):
            below.addLayout(buttons)
        else:
            below.addWidget(buttons)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._area, 1)
        layout.addWidget(self._line)
        layout.addLayout(below)
        self._line.hide()

    def showEvent(self, event: QShowEvent) -> None:
        """Take the size that the contents need, before anybody sees another one."""
        self.fit()
        super().showEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Press what has the keyboard; the main button only where that is no button."""
        if not press_focused(self, event):
            super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the contents when more or less of them is shown."""
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.fit()
        return super().eventFilter(watched, event)

    def room(self) -> QRect:
        """Return where on the screen it may lie."""
        return self.screen().availableGeometry()

    def fit(self) -> None:
        """Be as large as the contents need and the screen allows, and lie wholly on the screen."""
        layout = self.layout()
        if layout is None:
            return
        self._area.updateGeometry()
        layout.activate()
        free = self.room()
        width = max(self.minimumWidth(), self.minimumSizeHint().width())
        wanted = self._area.wanted_height(width) + layout.sizeHint().height() - self._area.sizeHint().height()
        size = QSize(min(width, free.width()), min(wanted, free.height() - FRAME_PX))
        if size != self._fitted:
            self._fitted = size
            self.resize(size)
        if self.isVisible():
            self._keep_on_screen()

    def _keep_on_screen(self) -> None:
        free, frame = self.room(), self.frameGeometry()
        left = max(free.left(), min(frame.left(), free.right() + 1 - frame.width()))
        top = max(free.top(), min(frame.top(), free.bottom() + 1 - frame.height()))
        if (left, top) != (frame.left(), frame.top()):
            self.move(left, top)


class _Area(QScrollArea):
    """Scrolls up and down only, and asks for no more height than there is."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def wanted_height(self, width: int) -> int:
        """Return the height that shows all of the contents in a width."""
        contents = self.widget()
        if contents is None:
            return LEAST_CONTENTS_PX
        if (layout := contents.layout()) is not None:
            layout.activate()
        if not contents.hasHeightForWidth():
            return contents.sizeHint().height()
        narrow = width - self.verticalScrollBar().sizeHint().width()  # a bar that is there goes only with that room
        least = contents.minimumHeight()  # which `heightForWidth` knows nothing of
        return max(contents.heightForWidth(width), contents.heightForWidth(narrow), least)

    def minimumSizeHint(self) -> QSize:
        """Leave the height to the screen, and never cut anything off at the side."""
        contents = self.widget()
        bar = self.verticalScrollBar().sizeHint().width()
        if contents is None:
            return QSize(0, LEAST_CONTENTS_PX)
        return QSize(contents.minimumSizeHint().width() + bar, min(LEAST_CONTENTS_PX, contents.sizeHint().height()))

    def sizeHint(self) -> QSize:
        """Return a size that `TallDialog.fit` works with."""
        return self.minimumSizeHint()
