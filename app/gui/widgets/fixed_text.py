"""One line of text that changes often: painted, so that no layout is worked out again when it does.

Its width grows with what it was ever asked to show and never shrinks, so that nothing beside it moves.
"""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Property, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone

Fit = Literal["rest", "text", "whole"]


class FixedText(QWidget):
    """A line of plain text; where it does not fit it ends in …, or gives way to a shorter one."""

    def __init__(
        self,
        *,
        pixels: int = theme.SMALL_PX,
        bold: bool = False,
        muted: bool = True,
        right: bool = False,
        room_for: str | None = None,
        fit: Fit = "rest",
        name: str = "",
    ) -> None:
        """`room_for` is the widest usual text, which the width is fixed for; without it, it takes what is left.

        `fit` says what happens then: "rest" takes what is left, "text" no more than the text needs, "whole" what is left,
        with a gap beside it and without a text that does not fit.
        """
        super().__init__()
        self.setFont(theme.font(pixels, bold=bold))
        self.setObjectName(name)
        stand_alone(self)
        self._text = ""
        self._muted = muted
        self._colour: QColor | None = None
        self._grows = room_for is not None
        self._fit = fit
        self._short = ""
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self._alignment = side | Qt.AlignmentFlag.AlignVCenter
        metrics = QFontMetrics(self.font())
        self.setFixedHeight(metrics.height() + 2)
        if room_for is not None:
            self.setFixedWidth(metrics.horizontalAdvance(room_for) + 2)
        else:
            self.setMinimumWidth(0)
            across = QSizePolicy.Policy.Maximum if fit == "text" else QSizePolicy.Policy.Ignored
            self.setSizePolicy(across, QSizePolicy.Policy.Fixed)

    def _get_text(self) -> str:
        return self._text

    text = Property(str, _get_text)
    """What is shown."""

    def set_text(self, text: str, short: str = "") -> None:
        """Show another text, and a short one in its place where it does not fit."""
        if (text, short) == (self._text, self._short):
            return
        if self.accessibleName() in ("", self._text):  # unless somebody says more of it than it shows
            self.setAccessibleName(text)
        self._text, self._short = text, short
        if self._grows:
            needed = QFontMetrics(self.font()).horizontalAdvance(text) + 2
            if needed > self.width():
                self.setFixedWidth(needed)
        elif self._fit == "text":
            self.updateGeometry()
        self.update()

    def set_colour(self, colour: QColor | None) -> None:
        """Paint in another colour; None is the usual one."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        needed = QFontMetrics(self.font()).horizontalAdvance(self._text) + 2 if self._fit == "text" else 0
        return QSize(needed, self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what fits."""
        painter = QPainter(self)
        paint_ground(painter, self)
        palette = self.palette()
        usual = palette.placeholderText().color() if self._muted else palette.windowText().color()
        painter.setPen(self._colour or usual)
        painter.drawText(self.rect(), self._alignment, self.shown)
        painter.end()

    @property
    def shown(self) -> str:
        """What is painted of it."""
        if self._grows or not self._text:
            return self._text
        metrics, text = QFontMetrics(self.font()), self._text
        room = self.width() - (theme.SPACE_S if self._fit == "whole" else 0)
        if self._short and metrics.elidedText(text, Qt.TextElideMode.ElideRight, room) != text:
            text = self._short  # to part of a pixel, which the advance is rounded to
        if self._fit == "whole":
            return text if metrics.horizontalAdvance(text) <= room else ""
        return metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)
