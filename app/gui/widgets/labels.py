"""Labels that never interpret what they show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.gui import theme


def label(
    text: str = "", *, look: str = "", pixels: int = theme.BASE_PX, bold: bool = False, name: str = ""
) -> QLabel:
    """Return a label for plain text, with an accessible name where it shows a value that is looked for."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setFont(theme.font(pixels, bold=bold))
    if look:
        made.setProperty("look", look)
    if name:
        made.setObjectName(name)
    return made


def wrapped(made: QLabel) -> QLabel:
    """Return a label that takes as many lines as its text needs in whatever room it is given."""
    made.setWordWrap(True)
    made.setMinimumWidth(1)
    return made


def in_parts(parts: Sequence[str]) -> str:
    """Return parts with a dot between them for a label that wraps: no line ends inside a part or begins with a dot."""
    return "\u00a0· ".join(part.replace(" ", "\u00a0") for part in parts)


class ElidedLabel(QWidget):
    """One line of plain text that ends in … where it does not fit."""

    def __init__(self, pixels: int = theme.BASE_PX, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self.setFont(theme.font(pixels))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show another text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(80, self.fontMetrics().height() + 2)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint what fits."""
        painter = QPainter(self)
        painter.setPen(self.palette().placeholderText().color())
        shown = self.fontMetrics().elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.end()
