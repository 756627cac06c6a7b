"""A few lines of text that wraps: as high as it ever may be, so that nothing below it moves when it says something else."""

from __future__ import annotations

from PySide6.QtCore import Property, QPointF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.widgets.direction import runs_right_to_left


class Paragraph(QWidget):
    """Plain text in so many lines as were agreed on; what does not fit into the last one ends in …."""

    def __init__(self, *, lines: int, pixels: int = theme.SMALL_PX, name: str = "") -> None:
        super().__init__()
        self.setFont(theme.font(pixels))
        self.setObjectName(name)
        stand_alone(self)
        self._text = ""
        self._is_muted = False
        self._lines = 0
        self._laid: list[str] = []
        self.line_px = QFontMetrics(self.font()).lineSpacing()
        self.setMinimumWidth(0)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.set_lines(lines)

    def _get_text(self) -> str:
        return self._text

    text = Property(str, _get_text)
    """The whole text."""

    @property
    def shown_lines(self) -> tuple[str, ...]:
        """The lines as they are painted."""
        return tuple(self._laid)

    def set_text(self, text: str, *, muted: bool = False) -> None:
        """Show another text, in the quieter colour where it is no news."""
        if (text, muted) != (self._text, self._is_muted):
            self._text, self._is_muted = text, muted
            self.setAccessibleName(text)
            self._lay_out()

    def set_lines(self, lines: int) -> None:
        """Have room for so many lines."""
        if lines != self._lines:
            self._lines = lines
            self.setFixedHeight(lines * self.line_px + 1)
            self._lay_out()

    def sizeHint(self) -> QSize:
        """Ask for the lines it has room for."""
        return QSize(120, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap anew in another width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._lay_out()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the lines."""
        painter = QPainter(self)
        paint_ground(painter, self)
        palette = self.palette()
        painter.setPen((palette.placeholderText() if self._is_muted else palette.windowText()).color())
        ascent = painter.fontMetrics().ascent()
        turned = runs_right_to_left(self._text)
        for number, line in enumerate(self._laid):
            left = self.width() - painter.fontMetrics().horizontalAdvance(line) if turned else 0
            painter.drawText(QPointF(left, number * self.line_px + ascent), line)
        painter.end()

    def _lay_out(self) -> None:
        layout = QTextLayout(self._text, self.font())
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.beginLayout()
        self._laid = []
        while self._text and (line := layout.createLine()).isValid():
            line.setLineWidth(max(1, self.width()))
            begins, length = line.textStart(), line.textLength()
            if len(self._laid) == self._lines - 1:
                rest = self._text[begins:]
                elided = QFontMetrics(self.font()).elidedText(rest, Qt.TextElideMode.ElideRight, self.width())
                self._laid.append(elided)
                break
            self._laid.append(self._text[begins : begins + length].rstrip())
        layout.endLayout()
        self.update()
