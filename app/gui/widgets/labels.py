"""Labels that never interpret what they show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from app.gui import theme
from app.gui.widgets.words import isolated


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


class NamedLabel(ElidedLabel):
    """One line that says something of a name, which gives way in its middle where the line does not fit."""

    def __init__(self, pixels: int = theme.BASE_PX, parent: QWidget | None = None) -> None:
        self._name = self._template = ""
        super().__init__(pixels, parent)

    def show_named(self, template: str, name: str = "") -> None:
        """Show a text in which `{name}` stands for a name; it may have none."""
        if (template, name) != (self._template, self._name):
            self._template, self._name = template, name
            self.set_text(self._with(name))
            self._fit()

    def sizeHint(self) -> QSize:
        """Need room for what is said of the name; more is taken as there is, so that nothing beside it is squeezed."""
        least = min(self._advance(self._with("…")), self._advance(self.text()))
        return QSize(least, super().sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Need no less."""
        return self.sizeHint()

    def changeEvent(self, event: QEvent) -> None:
        """Take other room in another font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the name as far as it fits, and the rest."""
        room = self.width() - self._advance(self._with("")) + 1
        name = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, room)
        fits = self._advance(self.text()) <= self.width()
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.drawText(self.rect(), side, self.text() if fits else self._with(name))
        painter.end()

    def _fit(self) -> None:
        self.setMaximumWidth(self._advance(self.text()))
        self.updateGeometry()

    def _advance(self, text: str) -> int:
        return self.fontMetrics().horizontalAdvance(text) + 1

    def _with(self, name: str) -> str:
        return self._template.replace("{name}", isolated(name))
