"""The box of one stage in the picture of the loop: icon and word in the colour of the stage, its figure, a small picture.

A stage at work has a filled head and a word below; the one that is explained has a frame. Knows no service.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QCursor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.icons import Icons
from app.gui.inside.loop.faces import Face, state_words
from app.gui.inside.loop.stage_words import LOOKS, title
from app.gui.widgets.token_words import known_per_cent
from app.gui.widgets.words import isolated, set_hint
from app.services.loop_values import StageName

HEIGHT_PX = 126
"""Room for a figure, three lines and the word below."""
_HEAD_PX, _LINE_PX, _FIGURE_PX = 28, 16, 22
_LEAST_FIGURE_PX = 10
_ICON_PX, _PAD_PX = 16, 6
_MOST_LINES = 3
_SLACK_PX = 8
"""Letters of another font, such as arrows, are wider together than one by one."""
_METER_PX, _STRIP_PX = 6, 14
_AT_WORK = 2
"""Which part of a bar is a frame alone, because it is not done yet."""
_RING_PX = 3
"""Around the box, where the frame of the one that is explained lies."""
_SHARE_PX = 38
_ARROWS = (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down)
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class StageBox(QAbstractButton):
    """Shows one stage; checked is the one that is explained."""

    def __init__(self, stage: StageName, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.stage = stage
        self.face = Face()
        self._themes = themes
        self._icons = icons
        self._is_spotted = False
        self.setObjectName(f"loop_{stage}")
        self.setCheckable(True)
        self.setText(title(stage))
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        stand_alone(self)
        themes.changed.connect(self.update)
        self.show_face(Face())

    def show_face(self, face: Face, *, is_spotted: bool = False) -> None:
        """Show other figures; one that is spotted is being explained and lit for that."""
        if (face, is_spotted) != (self.face, self._is_spotted) or not self.accessibleName():
            self.face, self._is_spotted = face, is_spotted
            self.setAccessibleName(self.spoken())
            set_hint(self, face.why or ", ".join((face.figure, *face.lines)).strip(", "))
            self.update()

    def spoken(self) -> str:
        """Return what the box shows, for people who listen."""
        drawn = self.tr("{token} (drawn)")
        named = ((drawn.format(token=bar.text) if bar.is_taken else bar.text, bar.share) for bar in self.face.bars)
        bars = tuple(f"{text} {known_per_cent(share)}" for text, share in named)
        parts = (
            self.face.figure,
            *self.face.lines,
            isolated(self.face.tail),
            *bars,
            state_words(self.face.state),
            self.face.why,
        )
        said = ", ".join(part for part in parts if part)
        return f"{title(self.stage)}: {said}" if said else title(self.stage)

    def sizeHint(self) -> QSize:
        """Ask for the usual size; who lays it out decides."""
        return QSize(theme.scaled(148), theme.scaled(HEIGHT_PX))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the arrow keys to the picture."""
        if event.key() in (*_ARROWS, Qt.Key.Key_Home, Qt.Key.Key_End):
            event.ignore()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the box."""
        painter = QPainter(self)
        paint_ground(painter, self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look, colour = self._themes.current, self._colour
        whole = QRectF(self.rect()).adjusted(_RING_PX, _RING_PX, -_RING_PX, -_RING_PX)
        is_lit = self._is_lit
        painter.setPen(QPen(colour if is_lit else look.colour("border"), look.line_px + is_lit))
        painter.setBrush(look.colour("hover" if self.is_pointed_at and not is_lit else "surface"))
        painter.drawRoundedRect(whole, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        inside = whole.adjusted(_PAD_PX, 0, -_PAD_PX, 0)
        self._paint_head(painter, look, whole)
        top = whole.top() + theme.scaled(_HEAD_PX) + 2
        if self.face.bars:
            self._paint_bars(painter, look, inside, top)
        else:
            self._paint_figures(painter, look, inside, top)
        self._paint_foot(painter, look, inside)
        if self.isChecked():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            width = look.line_px + (1 if self.hasFocus() else 0) + 0.5
            painter.setPen(QPen(look.colour("accent"), width))
            frame = QRectF(self.rect()).adjusted(1, 1, -1, -1)
            painter.drawRoundedRect(frame, theme.RADIUS_CONTROL + 2, theme.RADIUS_CONTROL + 2)
        painter.end()

    @property
    def is_pointed_at(self) -> bool:
        """Whether the pointer is on it; Qt alone still says so where a box moved away under one that rests."""
        return self.underMouse() and self.rect().contains(self.mapFromGlobal(QCursor.pos()))

    @property
    def _is_lit(self) -> bool:
        return self._is_spotted or self.face.state in ("running", "waits")

    @property
    def _colour(self) -> QColor:
        return self._themes.current.colour(LOOKS[self.stage].colour)

    def _paint_head(self, painter: QPainter, look: theme.Theme, whole: QRectF) -> None:
        place = QRectF(whole.left(), whole.top(), whole.width(), theme.scaled(_HEAD_PX))
        ink = self._colour
        if self._is_lit:
            painter.save()
            painter.setClipRect(place)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(ink)
            painter.drawRoundedRect(whole, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
            painter.restore()
            ink = look.colour("surface")
        side = theme.scaled(_ICON_PX)
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = place.right() - _PAD_PX - side if is_turned else place.left() + _PAD_PX
        icon = QRectF(left, place.center().y() - side / 2, side, side)
        self._icons.icon(LOOKS[self.stage].icon, ink).paint(painter, icon.toRect())
        room = place.adjusted(_PAD_PX + side + 6, 0, -2, 0)
        if is_turned:
            room = place.adjusted(2, 0, -_PAD_PX - side - 6, 0)
        painter.setFont(theme.font(theme.BASE_PX, bold=True))
        painter.setPen(ink)
        text = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, int(room.width()))
        painter.drawText(room, self._side(), text)

    def lines_of(self, face: Face, width: int) -> tuple[str, ...]:
        """Return the lines below a figure in so many px; they go on in as many as have room."""
        metrics = QFontMetrics(theme.font(theme.SMALL_PX))
        spare = (2 if face.meter or face.strip else _MOST_LINES) - len(face.lines)
        if face.tail:  # it has what lines are left
            spare = 0
        lines: list[str] = []
        for words in face.lines:
            room = width - _SLACK_PX if len(face.lines) == 1 and not face.tail else width
            parts = wrapped(words, metrics, room, 1 + max(spare, 0))
            spare -= len(parts) - 1
            lines += parts
        if face.tail:
            lines += wrapped_end(face.tail, metrics, width - _SLACK_PX, max(_MOST_LINES - len(lines), 1))
        return tuple(lines)

    def places(self, lines: int) -> tuple[int, int]:
        """Return where so many lines end, and where the word below begins, in px from the top."""
        top = _RING_PX + theme.scaled(_HEAD_PX) + 2 + theme.scaled(_FIGURE_PX)
        return top + lines * theme.scaled(_LINE_PX), self.height() - _RING_PX - theme.scaled(_LINE_PX) - 4

    def _paint_figures(self, painter: QPainter, look: theme.Theme, inside: QRectF, top: float) -> None:
        painter.setFont(figure_font(self.face.figure, int(inside.width())))
        painter.setPen(look.colour("text"))
        place = QRectF(inside.left(), top, inside.width(), theme.scaled(_FIGURE_PX))
        figure = painter.fontMetrics().elidedText(self.face.figure, Qt.TextElideMode.ElideRight, int(place.width()))
        painter.drawText(place, self._side(), figure)
        painter.setFont(theme.font(theme.SMALL_PX))
        painter.setPen(look.colour("muted"))
        line = theme.scaled(_LINE_PX)
        below = QRectF(inside.left(), place.bottom(), inside.width(), line)
        metrics, width = painter.fontMetrics(), int(below.width())
        for words in self.lines_of(self.face, width):
            painter.drawText(below, self._side(), metrics.elidedText(words, Qt.TextElideMode.ElideRight, width))
            below.translate(0, line)

    def _paint_bars(self, painter: QPainter, look: theme.Theme, inside: QRectF, top: float) -> None:
        line, share = theme.scaled(_LINE_PX), theme.scaled(_SHARE_PX)
        for bar in self.face.bars:
            place = QRectF(inside.left(), top, inside.width(), line)
            ground = QColor(self._colour)
            ground.setAlphaF(0.32 if look.is_dark else 0.2)
            painter.fillRect(
                QRectF(place.left(), place.top() + 1, place.width() * (bar.share or 0.0), line - 2), ground
            )
            painter.setFont(theme.font(theme.SMALL_PX, bold=bar.is_taken))
            painter.setPen(look.colour("text"))
            room = place.adjusted(3, 0, -share, 0)
            shown = f"▸ {bar.text}" if bar.is_taken else bar.text
            text = painter.fontMetrics().elidedText(shown, Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, _LEFT | Qt.AlignmentFlag.AlignAbsolute, text)
            painter.drawText(
                place.adjusted(0, 0, -2, 0), _RIGHT | Qt.AlignmentFlag.AlignAbsolute, known_per_cent(bar.share)
            )
            top += line

    def _paint_foot(self, painter: QPainter, look: theme.Theme, inside: QRectF) -> None:
        line = theme.scaled(_LINE_PX)
        words = state_words(self.face.state)
        foot = QRectF(inside.left(), inside.bottom() - line - 4, inside.width(), line)
        if self.face.meter:
            meter = QRectF(inside.left(), foot.top() - _METER_PX - 2, inside.width(), _METER_PX)
            self._paint_meter(painter, look, meter)
        elif self.face.strip:
            self._paint_strip(painter, look, QRectF(inside.left(), foot.top() - 4, inside.width(), _STRIP_PX))
        if words:
            painter.setFont(theme.font(theme.SMALL_PX, bold=True))
            painter.setPen(self._colour)
            sign = {"running": "●", "waits": "‖", "ended": "■"}[self.face.state]
            painter.drawText(foot, self._side(), f"{sign} {words}")

    def _paint_meter(self, painter: QPainter, look: theme.Theme, place: QRectF) -> None:
        painter.fillRect(place, look.colour("sunken"))
        left = place.left()
        for number, share in enumerate(self.face.meter):
            colour = QColor(self._colour)
            if len(self.face.meter) > 1 and number == 0:
                colour.setAlphaF(0.45)
            width = place.width() * min(max(share, 0.0), 1.0)
            part = QRectF(left, place.top(), width, place.height())
            if number < _AT_WORK:
                painter.fillRect(part, colour)
            elif width > 0:
                painter.setPen(QPen(colour, 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(part.adjusted(0.5, 0.5, -0.5, -0.5))
            left += width

    def _paint_strip(self, painter: QPainter, look: theme.Theme, place: QRectF) -> None:
        """Paint a column for some numbers each, by the largest of them: below 0 in grey, above in the stage's colour."""
        shown = in_columns(self.face.strip, max(1, min(len(self.face.strip), int(place.width() // 2))))
        most = max((abs(each) for each in shown), default=0.0) or 1.0
        width = place.width() / len(shown)
        for column, value in enumerate(shown):
            colour = QColor(self._colour if value > 0 else look.colour("muted"))
            colour.setAlphaF(0.12 + 0.88 * min(abs(value) / most, 1.0))
            painter.fillRect(QRectF(place.left() + column * width, place.top(), width, place.height()), colour)

    def _side(self) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading


def figure_font(figure: str, width: int) -> QFont:
    """Return the font of a figure, a smaller one where it is wider than so many px: a number that is cut says nothing."""
    sizes = range(theme.FIGURE_PX, _LEAST_FIGURE_PX - 1, -1)
    fonts = [theme.font(pixels, bold=True) for pixels in (sizes[:1] if figure.startswith("“") else sizes)]
    # Of words, the first ones do: they are cut as they are.
    return next((font for font in fonts if QFontMetrics(font).horizontalAdvance(figure) <= width), fonts[0])


def wrapped(text: str, metrics: QFontMetrics, width: int, most: int) -> list[str]:
    """Return a text in lines that break at spaces alone; the last of so many lines has all that is left."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and (len(lines) == most or metrics.horizontalAdvance(longer) <= width):
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def wrapped_end(text: str, metrics: QFontMetrics, width: int, most: int) -> list[str]:
    """Return the end of a text in no more than so many lines, with “…” for what stands before it."""
    words, lines = text.split(), list[str]()
    for first in range(len(words)):
        shown = " ".join(words[first:])
        lines = wrapped(shown if not first else f"…{shown}", metrics, width, most + 1)
        if len(lines) <= most:
            break
    return [isolated(metrics.elidedText(line, Qt.TextElideMode.ElideLeft, width)) for line in lines[-most:]]


def in_columns(strip: Sequence[float], columns: int) -> list[float]:
    """Return so many numbers, no more than there are: of each part of a row the one that is farthest from 0."""
    ends = [column * len(strip) // columns for column in range(columns + 1)]
    return [max(strip[start:end], key=abs) for start, end in pairwise(ends)]
