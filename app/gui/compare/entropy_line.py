"""How undecided the model was, token by token: a small line in the header of a lane."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.gui import theme
from app.gui.compare.lane_mark import lane_colour
from app.gui.widgets.words import set_hint
from app.services.units import count

WIDTH_PX, HEIGHT_PX = 56, 18


class EntropyLine(QWidget):
    """As many points as there are pixels: of several tokens on one pixel the most undecided is shown."""

    def __init__(self, lane: int, themes: theme.Themes, name: str) -> None:
        super().__init__()
        self._lane = lane
        self._themes = themes
        self._values: tuple[float | None, ...] = ()
        self._top = 1.0
        self.setObjectName(name)
        self.setFixedSize(WIDTH_PX, HEIGHT_PX)
        themes.changed.connect(self.update)
        self.show_values((), 1.0)

    def show_values(self, values: Sequence[float | None], top: float) -> None:
        """Show other entropies, in nats; `top` is the highest of all lanes, so that lanes can be compared."""
        self._values, self._top = tuple(values), max(top, 1e-9)
        known = [each for each in values if each is not None]
        if known:
            words = self.tr("Entropy of {count} tokens: {mean} nats on average, {most} at most")
            if len(known) == 1:
                words = self.tr("Entropy of 1 token: {mean} nats")
            said = words.format(
                count=count(len(known)), mean=f"{sum(known) / len(known):.2f}", most=f"{max(known):.2f}"
            )
        else:
            said = self.tr("Entropy: known where probabilities are recorded")
        self.setAccessibleName(said)
        set_hint(self, said)
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for a short line."""
        return QSize(WIDTH_PX, HEIGHT_PX)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the line over its ground line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = self._themes.current
        bottom = self.height() - 1.5
        painter.setPen(QPen(look.colour("border_strong"), 1))
        painter.drawLine(QPointF(0, bottom), QPointF(self.width(), bottom))
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        pen = QPen(look.colour(lane_colour(self._lane)), 1.25)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(self._points(bottom)))
        painter.end()

    def _points(self, bottom: float) -> list[QPointF]:
        total, width = len(self._values), max(self.width() - 1, 1)
        columns = min(total, width)
        points = []
        for column in range(columns):
            part = self._values[column * total // columns : (column + 1) * total // columns]
            known = [each for each in part if each is not None]
            if known:
                x = width * column / max(columns - 1, 1)
                points.append(QPointF(x, bottom - (bottom - 2) * min(max(known) / self._top, 1.0)))
        return points
