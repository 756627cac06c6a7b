"""One line of text that changes often: painted, so that no layout is worked out again when it does.

Its width grows with what it was ever asked to show and never shrinks, so that nothing beside it moves.
"""

from __future__ import annotations

from PySide6.QtCore import Property, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone


class FixedText(QWidget):
    """A line of plain text that ends in … where it does not fit."""

    def __init__(
        self,
        *,
        pixels: int = theme.SMALL_PX,
        bold: bool = False,
        muted: bool = True,
        right: bool = False,
        room_for: str | None = None,
        as_wide: bool = False,
        name: str = "",
    ) -> None:
        """`room_for` is the widest usual text, which the width is fixed for; without it, it takes what is left.

        With `as_wide` it takes no more than its text needs, and less where there is no room.
        """
        super().__init__()
        self.setFont(theme.font(pixels, bold=bold))
        self.setObjectName(name)
        stand_alone(self)
        self._text = ""
        self._muted = muted
        self._colour: QColor | None = None
        self._grows = room_for is not None
        self._as_wide = as_wide
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self._alignment = side | Qt.AlignmentFlag.AlignVCenter
        metrics = QFontMetrics(self.font())
        self.setFixedHeight(metrics.height() + 2)
        if room_for is not None:
            self.setFixedWidth(metrics.horizontalAdvance(room_for) + 2)
        else:
            self.setMinimumWidth(0)
            across = QSizePolicy.Policy.Maximum if as_wide else QSizePolicy.Policy.Ignored
            self.setSizePolicy(across, QSizePolicy.Policy.Fixed)

    def _get_text(self) -> str:
        return self._text

    text = Property(str, _get_text)
    """What is shown."""

    def set_text(self, text: str) -> None:
        """Show another text."""
        if text == self._text:
            return
        self._text = text
        if self._grows:
            needed = QFontMetrics(self.font()).horizontalAdvance(text) + 2
            if needed > self.width():
                self.setFixedWidth(needed)
        elif self._as_wide:
            self.updateGeometry()
        self.update()

    def set_colour(self, colour: QColor | None) -> None:
        """Paint in another colour; None is the usual one."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        needed = QFontMetrics(self.font()).horizontalAdvance(self._text) + 2 if self._as_wide else 0
        return QSize(needed, self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what fits."""
        painter = QPainter(self)
        paint_ground(painter, self)
        palette = self.palette()
        usual = palette.placeholderText().color() if self._muted else palette.windowText().color()
        painter.setPen(self._colour or usual)
        shown = self._text
        if not self._grows and shown:
            shown = painter.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), self._alignment, shown)
        painter.end()
