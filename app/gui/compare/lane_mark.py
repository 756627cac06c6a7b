"""How a lane is told from the others: by its letter first, by the pattern of its line, and only then by a colour."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.comparison import LETTERS, MOST_AT_ONCE
from app.gui import theme
from app.gui.charts.line_patterns import PATTERNS, SOLID

LINE_PX = 2.0
SAMPLE_PX = 34
"""As long as the line beside a letter is, so that each pattern is seen whole."""
BADGE_PX, BADGE_LEFT_PX = 14, 3.0
_WIDEST = "M"


def lane_colour(lane: int) -> str:
    """Return the token of a lane's colour; of more lanes than have one, each eighth has the same."""
    return f"lane_{LETTERS[lane % MOST_AT_ONCE].lower()}"


def lane_pen(lane: int, look: theme.Theme) -> QPen:
    """Return what a lane's lines are drawn with."""
    pen = QPen(look.colour(lane_colour(lane)), LINE_PX)
    pattern = PATTERNS[lane % MOST_AT_ONCE]
    if pattern is not SOLID:
        pen.setDashPattern(pattern)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    return pen


class LaneMark(QWidget):
    """The letter of a lane, with a piece of its line where that is not beside it anyway."""

    def __init__(self, lane: int, themes: theme.Themes, *, with_line: bool = True) -> None:
        super().__init__()
        self._sample_px = theme.SPACE_S + SAMPLE_PX if with_line else 0
        self._themes = themes
        self._lane = lane
        self.setFont(theme.font(theme.FIGURE_PX, bold=True))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Lane {letter}").format(letter=LETTERS[lane]))
        themes.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for a letter, a gap and a piece of line."""
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(_WIDEST) + self._sample_px, metrics.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint both."""
        painter = QPainter(self)
        painter.setPen(self.palette().windowText().color())
        place = QRectF(self.rect())
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        side = Qt.AlignmentFlag.AlignRight if is_turned else Qt.AlignmentFlag.AlignLeft
        painter.drawText(place, side | Qt.AlignmentFlag.AlignAbsolute | Qt.AlignmentFlag.AlignVCenter, self._letter)
        if self._sample_px:
            self._paint_line(painter, place, is_turned=is_turned)
        painter.end()

    def _paint_line(self, painter: QPainter, place: QRectF, *, is_turned: bool) -> None:
        painter.setPen(lane_pen(self._lane, self._themes.current))
        left = 0.0 if is_turned else place.width() - SAMPLE_PX
        middle = round(place.height() / 2)
        painter.drawLine(QPointF(left, middle), QPointF(left + SAMPLE_PX, middle))

    @property
    def _letter(self) -> str:
        return LETTERS[self._lane]


class LaneLine(QWidget):
    """A lane's line from side to side, over its text."""

    def __init__(self, lane: int, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._lane = lane
        self.setFixedHeight(round(LINE_PX) + 1)
        themes.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the line."""
        painter = QPainter(self)
        painter.setPen(lane_pen(self._lane, self._themes.current))
        painter.drawLine(QPointF(0, LINE_PX / 2), QPointF(self.width(), LINE_PX / 2))
        painter.end()


def paint_badge(painter: QPainter, lanes: list[int], middle: float, look: theme.Theme) -> None:
    """Say in the gutter which lanes part in a line."""
    letters = LETTERS[lanes[0]] + ("+" if len(lanes) > 1 else "")
    badge = QRectF(BADGE_LEFT_PX, middle - BADGE_PX / 2, BADGE_PX, BADGE_PX)
    painter.setPen(QPen(look.colour(lane_colour(lanes[0])), 1.5))
    painter.setBrush(look.colour("surface"))
    painter.drawRoundedRect(badge, 4, 4)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(look.colour("text"))
    painter.setFont(theme.font(theme.SMALL_PX - 1 if len(letters) == 1 else theme.SMALL_PX - 3, bold=True))
    painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, letters)
