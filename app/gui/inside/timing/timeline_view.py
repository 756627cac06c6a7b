"""The timeline that people move about in: a row a kind of work, bars to scale in the colours of the stages, a ruler.

Wheel and drag zoom and move, the arrow keys go from bar to bar. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.inside.timing.bar_words import bar_sentence, pause_words, said_words
from app.gui.inside.timing.bars import ROWS, Bar
from app.gui.inside.timing.timeline_picture import TimelinePicture
from app.gui.widgets.words import hint_of
from app.services.inspection import InspectedAnswer
from app.services.timeline_values import AnswerTimeline

ZOOM = 1.5
_PAN_SHARE = 0.2
_SLACK_PX = 4
_DRAG_PX = 4


class TimelineView(QWidget):
    """Shows one answer; says which bar is looked at."""

    bar_changed = Signal()
    """Another bar is looked at, or none."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("timeline")
        self.setAccessibleName(self.tr("Timeline of the answer"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setFont(theme.font(theme.SMALL_PX))
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._themes = themes
        self.picture = TimelinePicture(icons)
        """What is painted: the bars, and the stretch of time that is seen."""
        self._place: int | None = None
        self._pressed: tuple[float, float] | None = None
        """Where the button went down, and what was seen at the left edge then."""
        self._is_dragging = False
        self.setFixedHeight(self.picture.height)
        themes.changed.connect(self.update)

    @property
    def place(self) -> int | None:
        """Which bar is looked at, in the order of the loop."""
        return self._place

    def show_timeline(self, line: AnswerTimeline | None, answer: InspectedAnswer | None) -> None:
        """Show an answer, or more of the same one; another one is seen whole."""
        before = self.picture.line
        is_other = before is None or line is None or line.message != before.message
        bar = self.picture.bars[self._place] if self._place is not None and not is_other else None
        self.picture.use(line, answer)
        if is_other:
            self.picture.scale.fit()
        self.picture.scale.set_whole(line.end_ns if line is not None else 0)
        self._keep(bar)
        self.update()

    def sentence(self) -> str:
        """Return what is said of the bar that is looked at; nothing for none."""
        if self._place is None or self.picture.line is None:
            return ""
        return self.said_of(self._place)

    def said_of(self, place: int) -> str:
        """Return what is said of a bar."""
        if self.picture.line is None:
            return ""
        bar = self.picture.bars[place]
        return bar_sentence(bar, self.picture.line, said_words(self.picture.answer, bar))

    def look_at(self, place: int | None) -> None:
        """Look at another bar, and have it in the picture."""
        if place is not None:
            bar = self.picture.bars[place]
            self.picture.scale.reveal(bar.start_ns, bar.end_ns)
        if place != self._place:
            self._place = place
            self.setAccessibleDescription(self.sentence())
            self.bar_changed.emit()
        self.update()

    def zoom(self, factor: float, at_ns: float | None = None) -> None:
        """See less, or more, around the bar that is looked at, or around the middle."""
        if at_ns is None:
            bar = self.picture.bars[self._place] if self._place is not None else None
            middle = (self.picture.scale.start_ns + self.picture.scale.end_ns) / 2
            at_ns = middle if bar is None else (bar.start_ns + bar.end_ns) / 2
            at_ns = min(max(at_ns, self.picture.scale.start_ns), self.picture.scale.end_ns)
        self.picture.scale.zoom(factor, at_ns)
        self.update()

    def fit(self) -> None:
        """See all of it."""
        self.picture.scale.fit()
        self.update()

    def show_beginning(self) -> None:
        """See what there was until the first text."""
        parts = self.picture.line.parts if self.picture.line is not None else ()
        end = max((part.end_ns for part in parts if part.kind != "decode"), default=0)
        if end:
            self.picture.scale.show(0, end * 1.002)
            self.update()

    def at(self, position: QPointF) -> int | None:
        """Return the bar that lies there."""
        row = self.picture.row_at(position.y())
        if row is None or position.x() < self.picture.left:
            return None
        slack = self.picture.scale.ns_per_px * _SLACK_PX
        return self.picture.bars.at(row, self.picture.scale.ns_at(position.x() - self.picture.left), slack)

    def rect_of(self, place: int) -> QRectF:
        """Return where a bar is painted."""
        return self.picture.rect_of(self.picture.bars[place])

    def sizeHint(self) -> QSize:
        """Ask for its height."""
        return QSize(600, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep what is seen, in another width."""
        super().resizeEvent(event)
        self.picture.scale.width = max(self.width() - self.picture.left - 1.0, 1.0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go from bar to bar, zoom, and move what is seen."""
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match event.key():
            case Qt.Key.Key_Left | Qt.Key.Key_Right as key:
                way = 1 if key == Qt.Key.Key_Right else -1
                if shift:
                    self._pan(way * _PAN_SHARE)
                else:
                    self._step(way)
            case Qt.Key.Key_Up | Qt.Key.Key_Down as key:
                self._change_row(1 if key == Qt.Key.Key_Down else -1)
            case Qt.Key.Key_Home | Qt.Key.Key_End as key:
                if len(self.picture.bars):
                    self.look_at(0 if key == Qt.Key.Key_Home else len(self.picture.bars) - 1)
            case Qt.Key.Key_Plus | Qt.Key.Key_Equal:
                self.zoom(ZOOM)
            case Qt.Key.Key_Minus:
                self.zoom(1 / ZOOM)
            case Qt.Key.Key_0:
                self.fit()
            case _:
                super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer with Ctrl, move with Shift or sideways; else the page scrolls, also after a click here."""
        steps, sideways = event.angleDelta().y() / 120, event.angleDelta().x() / 120
        has_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        is_zoom = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if is_zoom and steps and not has_shift and (steps > 0 or not self.picture.scale.is_fit):
            self.zoom(ZOOM**steps, self.picture.scale.ns_at(event.position().x() - self.picture.left))
        elif has_shift and (steps or sideways):
            self._pan(-(steps or sideways) * _PAN_SHARE)
        elif sideways:
            self._pan(-sideways * _PAN_SHARE)
        else:
            event.ignore()
            return
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to move what is seen, or to choose a bar."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed, self._is_dragging = (event.position().x(), self.picture.scale.start_ns), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Move what is seen with the pointer."""
        if self._pressed is None:
            return
        pressed, start = self._pressed
        moved = pressed - event.position().x()
        if self._is_dragging or abs(moved) >= _DRAG_PX:
            self._is_dragging = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.picture.scale.pan(start + moved * self.picture.scale.ns_per_px - self.picture.scale.start_ns)
            self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Look at the bar that was clicked."""
        if self._pressed is not None and not self._is_dragging:
            self.look_at(self.at(event.position()))
        self._pressed, self._is_dragging = None, False
        self.unsetCursor()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Zoom in where it was double-clicked."""
        self.zoom(ZOOM * ZOOM, self.picture.scale.ns_at(event.position().x() - self.picture.left))

    def event(self, event: QEvent) -> bool:
        """Tell the bar that is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            words = self.words_at(QPointF(event.pos()))
            if words:
                QToolTip.showText(event.globalPos(), hint_of(words), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show where the keyboard is."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """The keyboard is elsewhere."""
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint ruler, rows and bars, and what is left out."""
        painter = QPainter(self)
        paint_ground(painter, self)
        chosen = self.picture.bars[self._place] if self._place is not None else None
        look = self._themes.current
        self.picture.paint(painter, QSizeF(self.size()), look, chosen)
        if self.hasFocus():
            painter.setPen(QPen(look.colour("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(
                QRectF(self.rect()).adjusted(1, 1, -1, -1), theme.RADIUS_CONTROL, theme.RADIUS_CONTROL
            )
        painter.end()

    def _pan(self, share: float) -> None:
        self.picture.scale.pan(self.picture.scale.span_ns * share)
        self.update()

    def _step(self, way: int) -> None:
        if not len(self.picture.bars):
            return
        if self._place is None:
            self.look_at(0 if way > 0 else len(self.picture.bars) - 1)
        else:
            self.look_at(min(max(self._place + way, 0), len(self.picture.bars) - 1))

    def _change_row(self, way: int) -> None:
        """Go to the nearest bar of the next row that has one."""
        if self._place is None:
            self._step(1)
            return
        bar = self.picture.bars[self._place]
        row, middle = ROWS.index(bar.row) + way, (bar.start_ns + bar.end_ns) / 2
        while 0 <= row < len(ROWS):
            found = self.picture.bars.nearest_in(ROWS[row], middle)
            if found is not None:
                self.look_at(found)
                return
            row += way

    def _keep(self, bar: Bar | None) -> None:
        """Look at the same bar as before, as far as it is still there."""
        place = None
        if bar is not None:
            same = (each for each in range(len(self.picture.bars)) if self.picture.bars[each].kind == bar.kind)
            place = self.picture.bars.step_of(bar.token) if bar.token is not None else next(same, None)
            if bar.kind == "prefill":
                place = next(
                    (each for each in self.picture.bars.in_row("prefill") if self.picture.bars[each].end == bar.end),
                    place,
                )
        if place != self._place:
            self._place = place
            self.setAccessibleDescription(self.sentence())
            self.bar_changed.emit()

    def words_at(self, position: QPointF) -> str:
        """Return what is said of what lies there; nothing where nothing is."""
        if self.picture.line is None:
            return ""
        for pause in self.picture.line.pauses:
            if abs(self.picture.pause_x(pause.token) - position.x()) <= _SLACK_PX:
                return pause_words(pause, self.picture.line)
        place = self.at(position)
        return self.said_of(place) if place is not None else ""
