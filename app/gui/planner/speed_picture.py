"""Expected speed to scale: for each figure its band, the expected value in it, and the bandwidth ceiling as a thin line."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QCoreApplication, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.planner.plan_words import range_words
from app.gui.widgets.gauge import mixed
from app.services.planning_values import Range, SpeedRows
from app.services.units import count, rate

ROW_PX, BAR_PX, SCALE_ROOM = 40, 10, 1.06
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
translate = QCoreApplication.translate


class _Line(NamedTuple):
    words: str
    figure: Range | None
    ceiling: float | None = None
    measured: float | None = None

    @property
    def value(self) -> str:
        """What stands at the right."""
        said = range_words(self.figure)
        if self.measured is None:
            return said
        return translate("Planner", "{measured} measured, {expected} expected").format(
            measured=rate(self.measured), expected=said
        )


class SpeedPicture(QWidget):
    """Shows decode with the prompt, with a full context, and what was measured; all on one scale."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("planned_speed")
        self._themes = themes
        self._lines: tuple[_Line, ...] = ()
        self._ceiling: float | None = None
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_speed(self, speed: SpeedRows, prompt: int) -> None:
        """Show other figures; nothing where speed is unknown."""
        lines = _lines(speed, prompt)
        if (lines, speed.ceiling) == (self._lines, self._ceiling):
            return
        is_other_height = len(lines) != len(self._lines)
        self._lines, self._ceiling = lines, speed.ceiling
        said = [f"{line.words}: {line.value}" for line in lines]
        if speed.ceiling is not None:
            said.append(self._ceiling_words())
        self.setAccessibleName("; ".join(said))
        self.setVisible(bool(lines))
        if is_other_height:
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for all lines."""
        return QSize(theme.scaled(340), len(self._lines) * theme.scaled(ROW_PX) + theme.scaled(20))

    def minimumSizeHint(self) -> QSize:
        """Need room for one figure and its words."""
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint all lines and the ceiling through them."""
        painter, look = QPainter(self), self._themes.current
        paint_ground(painter, self)
        painter.setFont(theme.font(theme.SMALL_PX))
        pitch = theme.scaled(ROW_PX)
        for number, line in enumerate(self._lines):
            self._paint_line(painter, look, QRect(0, number * pitch, self.width(), pitch), line)
        if self._ceiling is not None and self._lines:
            painter.setPen(look.colour("muted"))
            place = QRect(0, len(self._lines) * pitch, self.width(), theme.scaled(20))
            painter.drawText(place, _RIGHT, self._ceiling_words())
        painter.end()

    def _ceiling_words(self) -> str:
        most = translate("Planner", "at most {rate} tok/s by bandwidth alone")
        return most.format(rate=rate(self._ceiling))

    def _x(self, value: float) -> float:
        highs = [line.figure.high for line in self._lines if line.figure is not None]
        highs += [line.measured for line in self._lines if line.measured is not None]
        most = max([*highs, self._ceiling or 0.0], default=0.0) * SCALE_ROOM
        return value / most * (self.width() - 2) + 1 if most > 0 else 1.0

    def _paint_line(self, painter: QPainter, look: theme.Theme, place: QRect, line: _Line) -> None:
        words = QRect(place.left(), place.top(), place.width(), place.height() - theme.scaled(BAR_PX) - 6)
        painter.setPen(look.colour("text"))
        painter.drawText(words, _RIGHT, line.value)
        room = place.width() - QFontMetrics(painter.font()).horizontalAdvance(line.value) - theme.SPACE_M
        painter.setPen(look.colour("muted"))
        said = QFontMetrics(painter.font()).elidedText(line.words, Qt.TextElideMode.ElideRight, max(0, room))
        painter.drawText(words, _LEFT, said)
        track = QRectF(0, words.bottom() + 1, place.width(), theme.scaled(BAR_PX))
        painter.fillRect(track, look.colour("sunken"))
        colour = look.colour("stage_decode")
        if line.figure is not None:
            low, high = self._x(line.figure.low), self._x(line.figure.high)
            painter.fillRect(QRectF(0, track.top(), low, track.height()), mixed(colour, look.colour("surface"), 0.72))
            painter.fillRect(
                QRectF(low, track.top(), max(2.0, high - low), track.height()),
                mixed(colour, look.colour("surface"), 0.4),
            )
            middle = self._x(line.figure.value)
            painter.fillRect(QRectF(middle - 1.5, track.top() - 2, 3, track.height() + 4), colour)
        if line.ceiling is not None:
            painter.fillRect(
                QRectF(self._x(line.ceiling), track.top() - 3, look.line_px, track.height() + 6), look.colour("text")
            )
        if line.measured is not None:
            self._paint_measured(painter, look, track, self._x(line.measured))

    def _paint_measured(self, painter: QPainter, look: theme.Theme, track: QRectF, x: float) -> None:
        """Paint what came out as a ring: another shape than what is expected."""
        radius = track.height() / 2 + 1
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(look.colour("text"), 2))
        painter.setBrush(look.colour("surface"))
        painter.drawEllipse(QRectF(x - radius, track.center().y() - radius, 2 * radius, 2 * radius))
        painter.restore()


def _lines(speed: SpeedRows, prompt: int) -> tuple[_Line, ...]:
    if speed.decode is None:
        return ()
    depth = min(prompt, speed.context)
    each = speed.sequences > 1
    lines = [_Line(_at_words(depth, each=each).format(tokens=count(depth)), speed.decode, speed.ceiling)]
    if speed.decode_full is not None and speed.context > depth:
        full = translate("Planner", "With all {tokens} tokens of the context")
        lines.append(_Line(full.format(tokens=count(speed.context)), speed.decode_full, speed.ceiling_full))
    if speed.measured is not None:
        here = translate("Planner", "Answers here, {tokens} tokens")
        if speed.measured_at == 1:
            here = translate("Planner", "Answers here, 1 token")
        lines.append(_Line(here.format(tokens=count(speed.measured_at)), speed.expected_there, None, speed.measured))
    return tuple(lines)


def _at_words(depth: int, *, each: bool) -> str:
    if each and depth == 1:
        return translate("Planner", "Each, 1 token in the cache")
    if each:
        return translate("Planner", "Each, {tokens} tokens in the cache")
    if depth == 1:
        return translate("Planner", "With 1 token in the cache")
    return translate("Planner", "With {tokens} tokens in the cache")
