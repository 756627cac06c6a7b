"""What both charts of the comparison share: ground, title, axes, and a picture that stands alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.planner.comparison.line_marks import MOST_LINES
from app.gui.planner.comparison.scales import Scale, short_number
from app.services.plan_values import ComparedRow, Reference

HEIGHT_PX, WIDTH_PX = 260, 300
_CENTRE = Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


class DrawnRow(NamedTuple):
    """A row that the charts draw, with the number of its letter and pattern."""

    number: int
    row: ComparedRow


def to_draw(rows: Sequence[ComparedRow]) -> list[DrawnRow]:
    """Return as many rows as there are lines, in their order: of each GPU one before there are two of any."""
    firsts = {row.gpu: row.key for row in reversed(rows)}
    places = sorted(range(len(rows)), key=lambda place: rows[place].key != firsts[rows[place].gpu])[:MOST_LINES]
    return [DrawnRow(number, rows[place]) for number, place in enumerate(sorted(places))]


class Axes(NamedTuple):
    """Where things lie in a chart."""

    plot: QRectF
    x: Scale
    y: Scale

    def at(self, x: float, y: float) -> QPointF:
        """Return where a pair of values lies."""
        return QPointF(
            self.plot.left() + self.x.share(x) * self.plot.width(),
            self.plot.bottom() - self.y.share(y) * self.plot.height(),
        )


class ChartPoint(NamedTuple):
    """A point of the line of a row."""

    drawn: DrawnRow
    what: int | Literal["prefill", "decode"]
    """Tokens in the cache, or which of the two dots of a roof it is."""
    at: QPointF

    @property
    def key(self) -> tuple[tuple[str, str, str], int | str]:
        """What tells it from other points, also where figures have changed."""
        return self.drawn.row.key, self.what


class Drawing:
    """A chart of rows, for a window or a picture; holds no widget, so that any thread can paint it."""

    def __init__(self, rows: Sequence[DrawnRow] = (), reference: Reference | None = None) -> None:
        self.rows = tuple(rows)
        """What is drawn."""
        self.reference = reference
        """A GPU that many know, drawn beside them where it is none of them."""

    def words(self) -> str:
        """Return what the chart shows, for those who cannot see it."""
        raise NotImplementedError

    def points(self, _place: QRectF) -> tuple[ChartPoint, ...]:
        """Return where its points lie in a place, those of one line together from left to right; some have none."""
        return ()

    def figures(self, _point: ChartPoint) -> tuple[str, ...]:
        """Return what is said of one of its points, in lines."""
        return ()

    def height(self, _wide: float) -> int:
        """Return how high it has to be where it is so wide; 0 is as high as there is room."""
        return 0

    def paint_at(self, painter: QPainter, place: QRectF, look: theme.Theme) -> None:
        """Paint it into a place."""
        raise NotImplementedError


class Chart(QWidget):
    """A drawing of some kind in a window."""

    def __init__(self, name: str, themes: theme.Themes, kind: type[Drawing]) -> None:
        super().__init__()
        self.setObjectName(name)
        self._themes = themes
        self._kind = kind
        self.drawing = kind()
        self._painted = QPixmap()
        self._painted_as: tuple[object, ...] = ()
        """The drawing as it was painted last, and of what: what stands over it may change with every move of the pointer."""
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.update)
        self.setAccessibleName(self.drawing.words())

    def show_rows(self, rows: Sequence[DrawnRow], reference: Reference | None = None) -> None:
        """Draw other rows."""
        if (tuple(rows), reference) != (self.drawing.rows, self.drawing.reference):
            self.drawing = self._kind(rows, reference)
            self.setAccessibleName(self.drawing.words())
            self.updateGeometry()
            self.update()

    @property
    def place(self) -> QRectF:
        """Where it draws in the window."""
        return QRectF(self.rect())

    def sizeHint(self) -> QSize:
        """Ask for room for the lines and their letters."""
        return QSize(theme.scaled(WIDTH_PX), theme.scaled(HEIGHT_PX))

    def minimumSizeHint(self) -> QSize:
        """Need as much."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it in the theme in force."""
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._picture(self._themes.current))
        self.paint_over(painter, self._themes.current)
        painter.end()

    def _picture(self, look: theme.Theme) -> QPixmap:
        ratio = self.devicePixelRatioF()
        painted_as = (self.drawing, self.size(), ratio, look, self.palette().cacheKey(), theme.scaled(WIDTH_PX))
        if painted_as != self._painted_as:
            self._painted_as, self._painted = painted_as, QPixmap(self.size() * ratio)
            self._painted.setDevicePixelRatio(ratio)
            painter = QPainter(self._painted)
            paint_ground(painter, self)
            self.drawing.paint_at(painter, self.place, look)
            painter.end()
        return self._painted

    def paint_over(self, _painter: QPainter, _look: theme.Theme) -> None:
        """Paint what stands over the drawing; nothing does in what is only looked at."""


def plot_top(place: QRectF) -> float:
    """Return where the plot may begin below the heading of a chart."""
    heading, unit = (theme.font(theme.SMALL_PX, bold=True), theme.font(theme.SMALL_PX - 1))
    return place.top() + QFontMetrics(heading).height() + QFontMetrics(unit).height() + theme.SPACE_S


def paint_title(painter: QPainter, place: QRectF, look: theme.Theme, title: str, unit: str) -> None:
    """Paint the heading of a chart with the unit of its height under it."""
    painter.setPen(look.colour("text"))
    painter.setFont(theme.font(theme.SMALL_PX, bold=True))
    line = QFontMetrics(painter.font()).height()
    painter.drawText(QRectF(place.left(), place.top(), place.width(), line), _LEFT, title)
    painter.setFont(theme.font(theme.SMALL_PX - 1))
    painter.setPen(look.colour("muted"))
    small = QFontMetrics(painter.font()).height()
    painter.drawText(QRectF(place.left(), place.top() + line + 2, place.width(), small), _LEFT, unit)


def paint_axes(
    painter: QPainter, axes: Axes, look: theme.Theme, ticks: tuple[Sequence[float], Sequence[float]], name: str
) -> None:
    """Paint the lines of the ticks with their numbers, and what the width stands for."""
    plot = axes.plot
    painter.setFont(theme.font(theme.SMALL_PX - 1))
    small = QFontMetrics(painter.font()).height()
    for value in ticks[1]:
        y = round(axes.at(axes.x.low, value).y()) + 0.5
        painter.setPen(look.colour("border"))
        painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y))
        painter.setPen(look.colour("muted"))
        painter.drawText(QRectF(plot.left() - 200, y - small / 2, 194, small), _RIGHT, short_number(value))
    for value in ticks[0]:
        x = round(axes.at(value, axes.y.low).x()) + 0.5
        painter.setPen(look.colour("border"))
        painter.drawLine(QPointF(x, plot.bottom()), QPointF(x, plot.bottom() + 3))
        painter.setPen(look.colour("muted"))
        painter.drawText(QRectF(x - 100, plot.bottom() + 4, 200, small), _CENTRE, short_number(value))
    painter.setPen(look.colour("muted"))
    painter.drawText(QRectF(plot.left(), plot.bottom() + 4 + small, plot.width(), small), _CENTRE, name)


def plot_of(place: QRectF, top: float, right: float) -> QRectF:
    """Return where the lines are, with room for the numbers around them."""
    small = QFontMetrics(theme.font(theme.SMALL_PX - 1)).height()
    left = QFontMetrics(theme.font(theme.SMALL_PX - 1)).horizontalAdvance("00,000") + theme.SPACE_S
    bottom = place.bottom() - 2 * small - theme.SPACE_S
    return QRectF(place.left() + left, top, max(20.0, place.width() - left - right), max(20.0, bottom - top))


def paint_nothing(painter: QPainter, place: QRectF, look: theme.Theme, words: str) -> None:
    """Say why there is nothing to draw."""
    painter.setPen(look.colour("muted"))
    painter.setFont(theme.font(theme.SMALL_PX))
    inner = place.adjusted(theme.SPACE_L, 0, -theme.SPACE_L, 0)
    painter.drawText(inner, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)
