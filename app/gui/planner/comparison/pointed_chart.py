"""A chart whose points are told: the one under the pointer, or the one that keys lead to."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip

from app.gui import theme
from app.gui.planner.comparison.chart import Chart, ChartPoint, Drawing, DrawnRow
from app.gui.planner.comparison.line_marks import LETTERS
from app.gui.planner.comparison.point_card import paint_card, paint_mark
from app.gui.planner.comparison.points import MOVES, moved, nearest
from app.gui.widgets.pressed_keys import meant_by
from app.gui.widgets.words import hint_under, set_hint
from app.services.plan_values import Reference

NEAR_PX = 24
"""How far from a point the pointer may be to mean it."""


class PointedChart(Chart):
    """Tells one point of its drawing at a time: that of the pointer goes before the one that was chosen."""

    def __init__(self, name: str, themes: theme.Themes, kind: type[Drawing]) -> None:
        super().__init__(name, themes, kind)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self._points: tuple[ChartPoint, ...] | None = None
        """None until somebody wants to know where they lie."""
        self._pointer: QPointF | None = None
        self._chosen: ChartPoint | None = None
        self._pointed: ChartPoint | None = None
        set_hint(
            self,
            self.tr(
                "Point at a line to read its figures, or use the keys: Left and Right along a line, Up and Down to another "
                "one, Home and End to its ends, Esc to let go"
            ),
        )

    @property
    def points(self) -> tuple[ChartPoint, ...]:
        """All points, and where they lie now."""
        if self._points is None:
            self._points = self.drawing.points(self.place)
        return self._points

    @property
    def told(self) -> ChartPoint | None:
        """The point that is marked and told."""
        return self._pointed or self._chosen

    @property
    def place(self) -> QRectF:
        """Where it draws, with room for the ring of the keyboard."""
        return QRectF(self.rect()).adjusted(theme.SPACE_XS, theme.SPACE_XS, -theme.SPACE_XS, -theme.SPACE_XS)

    def show_rows(self, rows: Sequence[DrawnRow], reference: Reference | None = None) -> None:
        """Draw other rows; who looks at a point goes on to look at it, as far as it is still there."""
        before = self.drawing
        super().show_rows(rows, reference)
        if self.drawing is not before:
            self._lay_out_anew()

    def words_of(self, point: ChartPoint) -> str:
        """Return what is said of a point to people who cannot see it."""
        row = point.drawn.row
        said = self.tr("{letter}, {model} on {gpu}").format(
            letter=LETTERS[point.drawn.number], model=row.shown_model, gpu=row.gpu
        )
        return ". ".join((said, *(each.rstrip(".") for each in self.drawing.figures(point)))) + "."

    def look_at(self, point: ChartPoint | None) -> None:
        """Choose a point, or none; it stays chosen when the pointer goes elsewhere."""
        self._choose(point)
        if point is not None:
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, self.accessibleDescription()))

    def event(self, event: QEvent) -> bool:
        """Let Esc leave a point before it stops an answer, and show no hint over the figures."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if meant_by(event, MOVES) == "leave" and self.told is not None:
                event.accept()
                return True
        elif event.type() == QEvent.Type.ToolTip and self.told is not None:
            QToolTip.hideText()
            return True
        elif event.type() == QEvent.Type.Leave:
            self._point_at(None)
        elif event.type() == QEvent.Type.ApplicationFontChange:
            self._lay_out_anew()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go along a line, or to another one; leave all points."""
        meant = meant_by(event, MOVES)
        if meant is None or (meant == "leave" and self.told is None):
            super().keyPressEvent(event)
            return
        if meant == "leave":
            self._pointed = None
            self.look_at(None)
        elif self.points:
            begin, self._pointed = self.told, None
            self.look_at(moved(self.points, begin, meant))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the point under the pointer."""
        self._point_at(event.position())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the point that was clicked."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._point_at(event.position())
            self.look_at(self._pointed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have the points elsewhere."""
        super().resizeEvent(event)
        self._lay_out_anew()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def paint_over(self, painter: QPainter, look: theme.Theme) -> None:
        """Mark the point that is told, tell it, and show where the keyboard is."""
        point = self.told
        if point is not None:
            paint_mark(painter, point.at, look)
            paint_card(painter, self.place, point, self.drawing.figures(point), look)
        if self.hasFocus():
            wide = look.line_px + 1
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(look.colour("accent"), wide))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            inside = QRectF(self.rect()).adjusted(wide / 2, wide / 2, -wide / 2, -wide / 2)
            painter.drawRoundedRect(inside, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)

    def _point_at(self, position: QPointF | None) -> None:
        self._pointer = position
        found = None if position is None else nearest(self.points, position, theme.scaled(NEAR_PX))
        if (found and found.key) != (self._pointed and self._pointed.key):
            self._pointed = found
            self.update()

    def _choose(self, point: ChartPoint | None) -> None:
        self._chosen = point
        self.setAccessibleDescription(self.words_of(point) if point is not None else hint_under(self))
        self.update()

    def _lay_out_anew(self) -> None:
        """Find the points that are looked at among those that there are now."""
        self._points = None
        chosen = self._chosen
        if chosen is not None:
            self._choose(next((point for point in self.points if point.key == chosen.key), None))
        if self._pointer is not None:
            self._pointed = nearest(self.points, self._pointer, theme.scaled(NEAR_PX))
