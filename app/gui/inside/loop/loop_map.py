"""The stages of the loop as boxes in one picture, with arrows between them; the arrow back closes the loop.

The boxes go to and fro in as few rows as have room: the second row runs back, below the first. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QPointF, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMoveEvent, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.inside.loop.faces import face_of
from app.gui.inside.loop.stage_box import HEIGHT_PX, StageBox
from app.services.loop_values import BACK_FROM, BACK_TO, STAGES, LoopValues, StageName

LEAST_PX, MOST_PX = 128, 200
GAP_PX, ROW_GAP_PX = 16, 34
_COLUMNS = (12, 6, 4)
_TIP_PX = 5.0
_ALONG = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ACROSS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class LoopMap(QWidget):
    """Shows all stages; says which one somebody wants explained."""

    chosen = Signal(str)
    """Somebody chose a stage: its name."""

    def __init__(self, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("loop_map")
        self.setAccessibleName(self.tr("The loop"))
        self._themes = themes
        self._values = LoopValues()
        self._columns = _COLUMNS[1]
        self._group = QButtonGroup(self)
        self.boxes: dict[StageName, StageBox] = {}
        for stage in STAGES:
            box = self.boxes[stage] = StageBox(stage, themes, icons)
            box.setParent(self)
            box.clicked.connect(lambda _checked=False, stage=stage: self.choose(stage))
            self._group.addButton(box)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        stand_alone(self)
        themes.changed.connect(self.update)
        self.mark("prompt")
        self._lay_out()

    @property
    def stage(self) -> StageName:
        """The stage that is explained."""
        return next(stage for stage, box in self.boxes.items() if box.isChecked())

    @property
    def columns(self) -> int:
        """How many boxes stand in a row."""
        return self._columns

    def show_values(self, values: LoopValues, spotted: Sequence[StageName] = ()) -> None:
        """Show other figures; where stages are spotted, they alone are lit."""
        before, self._values = self._values, values
        for stage, box in self.boxes.items():
            face = face_of(stage, values)
            box.show_face(face._replace(state="") if spotted else face, is_spotted=stage in spotted)
        if (before.running, before.end_here) != (values.running, values.end_here):
            self.update()

    def choose(self, stage: StageName) -> None:
        """Have a stage explained."""
        self.mark(stage)
        self.chosen.emit(stage)

    def mark(self, stage: StageName) -> None:
        """Show which stage is explained: it is the one that Tab comes to."""
        self.boxes[stage].setChecked(True)
        for each, box in self.boxes.items():
            box.setFocusPolicy(Qt.FocusPolicy.StrongFocus if each == stage else Qt.FocusPolicy.ClickFocus)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go along the loop, also over the end of a row, to the stage above or below, or to the first or last."""
        key = Qt.Key(event.key())
        wanted: StageName | None = None
        if key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            wanted = STAGES[0 if key is Qt.Key.Key_Home else -1]
        elif key in _ALONG:
            wanted = self._along(_ALONG[key])
        elif key in _ACROSS:
            wanted = self._across(_ACROSS[key])
        if wanted is None and key not in (*_ALONG, *_ACROSS):
            super().keyPressEvent(event)
            return
        if wanted is not None:
            self.choose(wanted)
            self.boxes[wanted].setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Use the new room."""
        super().resizeEvent(event)
        self._lay_out()

    def moveEvent(self, event: QMoveEvent) -> None:
        """A pointer that rests is on another box now."""
        super().moveEvent(event)
        for box in self.boxes.values():
            box.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the arrows."""
        painter = QPainter(self)
        paint_ground(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = self._themes.current
        runs = bool(self._values.running)
        ink = look.colour("stage_decode" if runs else "border_strong")
        for one, other in pairwise(STAGES):
            is_end = other == "answer"
            if is_end:
                is_used = self._values.end_here is not None
                colour = look.colour("text" if is_used else "border_strong")
            else:
                colour = ink
            self._paint_arrow(painter, colour, self._between(one, other))
        self._paint_back(painter, look, ink)
        painter.end()

    def _lay_out(self) -> None:
        gap, least = theme.scaled(GAP_PX), theme.scaled(LEAST_PX)
        fits = [count for count in _COLUMNS if count * least + (count - 1) * gap <= self.width()]
        self._columns = fits[0] if fits else _COLUMNS[-1]
        count = self._columns
        height, row_gap = theme.scaled(HEIGHT_PX), theme.scaled(ROW_GAP_PX)
        rows = -(-len(STAGES) // count)
        above, beside = (row_gap // 2, gap) if rows > 2 else (0, 0)  # where the arrow back goes round the boxes
        width = min((self.width() - beside - (count - 1) * gap) // count, theme.scaled(MOST_PX))
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        room = count * width + (count - 1) * gap
        for place, stage in enumerate(STAGES):
            column, row = self._cell(place)
            left = column * (width + gap)
            if is_turned:
                left = self.width() - left - width
            self.boxes[stage].setGeometry(QRect(left, above + row * (height + row_gap), width, height))
        below = row_gap if rows == 1 else 0
        self.setMinimumWidth(min(room, _COLUMNS[-1] * least + _COLUMNS[-1] * gap))
        self.setFixedHeight(above + rows * height + (rows - 1) * row_gap + below)
        self.update()

    def _cell(self, place: int) -> tuple[int, int]:
        """Return the column and the row of a stage: every second row runs back."""
        row, column = divmod(place, self._columns)
        return (self._columns - 1 - column if row % 2 else column), row

    def _along(self, step: int) -> StageName | None:
        """Return the stage after or before, as the arrows go: every second row runs back."""
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            step = -step
        place = STAGES.index(self.stage) + step
        return STAGES[place] if 0 <= place < len(STAGES) else None

    def _across(self, down: int) -> StageName | None:
        column, row = self._cell(STAGES.index(self.stage))
        wanted = (column, row + down)
        return next((stage for place, stage in enumerate(STAGES) if self._cell(place) == wanted), None)

    def _between(self, one: StageName, other: StageName) -> list[QPointF]:
        first, second = self.boxes[one].geometry(), self.boxes[other].geometry()
        if first.top() == second.top():
            middle = first.center().y() + 0.5
            if first.left() < second.left():
                return [QPointF(first.right() + 1, middle), QPointF(second.left() - 1, middle)]
            return [QPointF(first.left(), middle), QPointF(second.right() + 2, middle)]
        centre = first.center().x() + 0.5
        return [QPointF(centre, first.bottom() + 1), QPointF(centre, second.top() - 1)]

    def way_back(self) -> list[QPointF]:
        """Return the corners of the arrow that closes the loop, from its beginning to its tip."""
        start, goal = self.boxes[BACK_FROM].geometry(), self.boxes[BACK_TO].geometry()
        half, gap = theme.scaled(ROW_GAP_PX) / 2, theme.scaled(GAP_PX)
        begin, end = start.center().x() + 0.5, goal.center().x() + 0.5
        if start.top() == goal.top():
            below = start.bottom() + half
            way = [QPointF(begin, start.bottom()), QPointF(begin, below), QPointF(end, below)]
            way.append(QPointF(end, goal.bottom() + 2))
        elif abs(begin - end) < 1:
            way = [QPointF(begin, start.top()), QPointF(begin, goal.bottom() + 2)]
        else:  # round the boxes, as an arrow stands in every gap between them
            edges = [box.geometry() for box in self.boxes.values()]
            channel = max(each.right() for each in edges) + gap / 2 + 1
            if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
                channel = min(each.left() for each in edges) - gap / 2
            below, above = start.top() - half, goal.top() - half + 2
            way = [QPointF(begin, start.top()), QPointF(begin, below), QPointF(channel, below)]
            way += [QPointF(channel, above), QPointF(end, above), QPointF(end, goal.top() - 1)]
        return way

    def _paint_back(self, painter: QPainter, look: theme.Theme, ink: QColor) -> None:
        """Paint the arrow that closes the loop, with its word."""
        start, goal, way = self.boxes[BACK_FROM].geometry(), self.boxes[BACK_TO].geometry(), self.way_back()
        colour = look.colour("border_strong") if self._values.end_here is not None else ink
        self._paint_arrow(painter, colour, way, is_dashed=self._values.end_here is not None)
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(look.colour("muted"))
        words = self.tr("back, with the new token")
        room = painter.fontMetrics().horizontalAdvance(words) + 4
        line = painter.fontMetrics().height()
        if len(way) == 2:
            left, middle = way[0].x() + 8, (way[0].y() + way[1].y()) / 2
        elif start.top() == goal.top():
            left, middle = way[-1].x() + 8, way[-2].y() - 8
        else:
            is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            left, middle = way[0].x() + 8 if is_turned else way[0].x() - 8 - room, way[1].y()
        painter.drawText(QRect(int(left), int(middle - line / 2), room, line), Qt.AlignmentFlag.AlignCenter, words)

    def _paint_arrow(self, painter: QPainter, colour: QColor, way: list[QPointF], *, is_dashed: bool = False) -> None:
        pen = QPen(colour, 2 if self._values.running else 1.5)
        if is_dashed:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(way))
        tip, before = way[-1], way[-2]
        across = tip - before
        length = max(abs(across.x()) + abs(across.y()), 1.0)
        along = QPointF(across.x() / length, across.y() / length) * _TIP_PX
        side = QPointF(-along.y(), along.x())
        painter.setPen(QPen(colour, 1))
        painter.setBrush(colour)
        painter.drawPolygon(QPolygonF([tip, tip - along + side * 0.8, tip - along - side * 0.8]))
