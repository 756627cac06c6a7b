"""One candidate as a row: its text, what the model gave above what the chain made of it, and both as figures.

Knows no service and no list; whoever paints says where.
"""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from app.gui import theme
from app.gui.icons import Icons
from app.gui.next_token.candidates_model import CandidatesModel
from app.gui.widgets.stage_words import cutter_words
from app.gui.widgets.token_text import Face, write, write_token
from app.gui.widgets.token_words import per_cent
from app.services.next_token import CandidateRow
from app.services.units import UNKNOWN

RAW_PX, AFTER_PX = 4, 6
"""Heights of the bars of what the model gave and of what is left after the chain."""
_GAP_PX = 2
_BARS_PX = RAW_PX + _GAP_PX + AFTER_PX
_EDGE_PX, _GUTTER_PX = 4, 12
_TEXT_SHARE = 0.31
_LEAST_BAR_PX = 2.0
_NUMBER_PX, _BECAME_PX, _ARROW_PX = 30, 66, 20
_SCISSORS_PX = 13
_RADIUS_PX = 6
_ARROW = "→"
_DRAWN_TINT = 0.10


class _Columns(NamedTuple):
    """Where the parts of a row stand, in pixels from the left."""

    text: int
    text_end: int
    bars: int
    bars_end: int
    raw_end: int
    became: int
    became_end: int


def _columns(width: int) -> _Columns:
    text = _EDGE_PX + _GUTTER_PX
    text_end = text + round(width * _TEXT_SHARE)
    became_end = width - _EDGE_PX
    became = became_end - _BECAME_PX
    return _Columns(
        text,
        text_end,
        text_end + theme.SPACE_S,
        became - _NUMBER_PX - theme.SPACE_XS,
        became,
        became,
        became_end,
    )


class RowPainter:
    """Paints candidates in the colours of a theme."""

    def __init__(self, icons: Icons, rows: CandidatesModel) -> None:
        self._icons = icons
        self._rows = rows
        self._text = self._muted = self._cut = self._track = self._raw = self._after = self._focus = QColor()
        self._drawn = self._line = QColor()
        self._scissors = self._tracks = QPixmap()
        self._plain, self._bold, self._small, self._small_bold, self._smallest = _faces()

    def show_theme(self, look: theme.Theme) -> None:
        """Take the colours of a theme, and the fonts in force."""
        self._text, self._muted, self._cut = (look.colour(name) for name in ("text", "muted", "border_strong"))
        self._raw, self._after = look.colour("stage_logits"), look.colour("stage_sampling")
        self._track, self._line, self._focus = (look.colour(name) for name in ("hover", "border", "accent"))
        self._drawn = look.colour("stage_sampling")
        self._drawn.setAlphaF(_DRAWN_TINT)
        self._scissors = self._icons.icon("scissors", self._muted).pixmap(_SCISSORS_PX, _SCISSORS_PX)
        self._tracks = QPixmap()
        self._plain, self._bold, self._small, self._small_bold, self._smallest = _faces()

    def paint(self, painter: QPainter, place: QRect, row: CandidateRow, *, focus: bool, apart: bool) -> None:
        """Paint a row; `apart` sets it off from what stands above, and says its rank."""
        painter.save()
        painter.translate(place.topLeft())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        width, height = place.width(), place.height()
        if row.is_drawn:
            self._paint_drawn(painter, width, height)
        columns, middle = _columns(width), height / 2
        if apart:
            painter.fillRect(QRect(0, 0, width, 1), self._line)
        else:
            self._paint_tracks(painter, columns, height)
        self._paint_bars(painter, row, columns, middle)
        self._paint_figures(painter, row, columns, middle)
        text_end = self._paint_rank(painter, row, columns, middle) if apart else columns.text_end
        face = self._bold if row.is_drawn else self._plain
        if row.is_end:
            face = self._smallest  # words of ours, and more of them than a token has
        is_strong = row.cut_by is None and row.text is not None and not row.is_end
        colours = (self._text if is_strong else self._muted, self._muted)
        shown, room = self._rows.shown_text(row), text_end - columns.text
        write_token(painter, face, shown, middle, columns.text, room, colours)
        if focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._focus, 2))
            painter.drawRoundedRect(QRectF(1, 1, width - 2, height - 2), _RADIUS_PX, _RADIUS_PX)
        painter.restore()

    def paint_pointed(self, painter: QPainter, place: QRect) -> None:
        """Mark the row that a click would choose."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._track)
        painter.drawRoundedRect(QRectF(place).adjusted(0, 1, 0, -1), _RADIUS_PX, _RADIUS_PX)
        painter.restore()

    def _paint_drawn(self, painter: QPainter, width: int, height: int) -> None:
        """Mark the token that was drawn by a tint and a triangle."""
        painter.setBrush(self._drawn)
        painter.drawRoundedRect(QRectF(0, 1, width, height - 2), _RADIUS_PX, _RADIUS_PX)
        painter.setBrush(self._after)
        tip = QPointF(_EDGE_PX + 6, height // 2 + 0.5)
        painter.drawPolygon(QPolygonF([tip + QPointF(-6, -4), tip, tip + QPointF(-6, 4)]))

    def _paint_tracks(self, painter: QPainter, columns: _Columns, height: int) -> None:
        """Paint both tracks from a picture: every row has the same."""
        width, ratio = columns.bars_end - columns.bars, painter.device().devicePixelRatioF()
        if self._tracks.deviceIndependentSize().toSize().width() != width or self._tracks.devicePixelRatio() != ratio:
            self._tracks = QPixmap(round(width * ratio), round(_BARS_PX * ratio))
            self._tracks.setDevicePixelRatio(ratio)
            self._tracks.fill(Qt.GlobalColor.transparent)
            inside = QPainter(self._tracks)
            inside.setRenderHint(QPainter.RenderHint.Antialiasing)
            inside.setPen(Qt.PenStyle.NoPen)
            inside.setBrush(self._track)
            _bar(inside, 0, 0, width, RAW_PX)
            _bar(inside, 0, RAW_PX + _GAP_PX, width, AFTER_PX)
            inside.end()
        painter.drawPixmap(QPointF(columns.bars, (height - _BARS_PX) / 2), self._tracks)

    def _paint_bars(self, painter: QPainter, row: CandidateRow, columns: _Columns, middle: float) -> None:
        top, room = middle - _BARS_PX / 2, columns.bars_end - columns.bars
        for share, below, thickness, colour in (
            (row.raw, 0, RAW_PX, self._raw if row.cut_by is None else self._cut),
            (row.after, RAW_PX + _GAP_PX, AFTER_PX, self._after),
        ):
            if share:
                painter.setBrush(colour)
                _bar(painter, columns.bars, top + below, max(room * share, _LEAST_BAR_PX), thickness)

    def _paint_figures(self, painter: QPainter, row: CandidateRow, columns: _Columns, middle: float) -> None:
        is_known = row.rank is not None
        painter.setPen(self._muted)
        write(painter, self._small, per_cent(row.raw) if is_known else UNKNOWN, middle, right=columns.raw_end)
        if row.cut_by is None:
            write(painter, self._small, _ARROW, middle, right=columns.became + _ARROW_PX / 2 + 6)
            painter.setPen(self._text)
            figure = per_cent(row.after) if is_known and row.after is not None else UNKNOWN
            write(painter, self._small_bold, figure, middle, right=columns.became_end - _EDGE_PX)
            return
        stage = cutter_words(row.cut_by)
        room = columns.became_end - columns.became - _SCISSORS_PX - 2
        stage = self._smallest.fitting(stage, room)
        left = min(columns.became + 20.0, columns.became_end - self._smallest.laid_out(stage).width)
        painter.drawPixmap(QPointF(left - 16, int(middle - _SCISSORS_PX / 2)), self._scissors)
        write(painter, self._smallest, stage, middle, left=left)

    def _paint_rank(self, painter: QPainter, row: CandidateRow, columns: _Columns, middle: float) -> int:
        """Write a rank over the empty end of the bars, else at the end of the text; return where the text ends now."""
        rank = self._rows.rank_text(row)
        painter.setPen(self._muted)
        if max(row.raw, row.after or 0.0) < 1 / 3:
            write(painter, self._smallest, rank, middle, right=columns.bars_end - _EDGE_PX)
            return columns.text_end
        return round(columns.text_end - write(painter, self._smallest, rank, middle, right=columns.text_end)) - 4


def _faces() -> tuple[Face, Face, Face, Face, Face]:
    return (
        Face(theme.font(theme.BASE_PX)),
        Face(theme.font(theme.BASE_PX, bold=True)),
        Face(theme.font(theme.SMALL_PX)),
        Face(theme.font(theme.SMALL_PX, bold=True)),
        Face(theme.font(theme.SMALL_PX - 1)),
    )


def _bar(painter: QPainter, left: float, top: float, length: float, thickness: float) -> None:
    painter.drawRoundedRect(QRectF(left, top, length, thickness), thickness / 2, thickness / 2)
