"""One candidate as a row: its text, what the model gave above what the chain made of it, and both as figures.

Knows no service and no list; whoever paints says where.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QPolygonF

from app.gui import theme
from app.gui.icons import Icons
from app.gui.next_token.candidates_model import CandidatesModel, per_cent
from app.gui.next_token.token_text import TextPainter
from app.services.next_token import CandidateRow
from app.services.units import UNKNOWN

RAW_PX, AFTER_PX = 4, 6
"""Heights of the bars of what the model gave and of what is left after the chain."""
_GAP_PX = 2
_EDGE_PX, _GUTTER_PX = 4, 12
_TEXT_SHARE = 0.31
_LEAST_BAR_PX = 2.0
_NUMBER_PX, _BECAME_PX, _ARROW_PX = 30, 59, 20
_SCISSORS_PX = 13
_RADIUS_PX = 6
_ARROW = "→"
_DRAWN_TINT = 0.10


class RowPainter:
    """Paints candidates in the colours of a theme."""

    def __init__(self, icons: Icons, rows: CandidatesModel) -> None:
        self._icons = icons
        self._rows = rows
        self._texts = TextPainter()
        self._text = self._muted = self._cut = self._track = self._raw = self._after = self._focus = QColor()
        self._drawn = self._line = QColor()
        self._scissors = QPixmap()

    def show_theme(self, look: theme.Theme) -> None:
        """Take the colours of a theme."""
        self._text, self._muted, self._cut = (look.colour(name) for name in ("text", "muted", "border_strong"))
        self._raw, self._after = look.colour("stage_logits"), look.colour("stage_sampling")
        self._track, self._line, self._focus = (look.colour(name) for name in ("hover", "border", "accent"))
        self._drawn = look.colour("stage_sampling")
        self._drawn.setAlphaF(_DRAWN_TINT)
        self._scissors = self._icons.icon("scissors", self._muted).pixmap(_SCISSORS_PX, _SCISSORS_PX)

    def paint(self, painter: QPainter, place: QRect, row: CandidateRow, *, focus: bool, apart: bool) -> None:
        """Paint a row; `apart` sets it off from what stands above, and says its rank."""
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if row.is_drawn:
            painter.setBrush(self._drawn)
            painter.drawRoundedRect(QRectF(place).adjusted(0, 1, 0, -1), _RADIUS_PX, _RADIUS_PX)
            painter.setBrush(self._after)
            tip = QPointF(place.left() + _EDGE_PX + 6, place.center().y() + 0.5)
            painter.drawPolygon(QPolygonF([tip + QPointF(-6, -4), tip, tip + QPointF(-6, 4)]))
        if apart:
            painter.fillRect(QRect(place.left(), place.top(), place.width(), 1), self._line)
        text, bars, raw, became = self._columns(place)
        self._paint_bars(painter, row, bars, tracks=not apart)
        self._paint_figures(painter, row, raw, became)
        if apart:
            text.setRight(self._paint_rank(painter, row, text, bars))
        font = theme.font(theme.BASE_PX, bold=row.is_drawn)
        is_strong = row.cut_by is None and row.text is not None
        colours = (self._text if is_strong else self._muted, self._muted)
        self._texts.write_token(painter, font, self._rows.shown_text(row), text, colours)
        if focus:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._focus, 2))
            painter.drawRoundedRect(QRectF(place).adjusted(1, 1, -1, -1), _RADIUS_PX, _RADIUS_PX)
        painter.restore()

    @staticmethod
    def _columns(place: QRect) -> tuple[QRect, QRect, QRect, QRect]:
        """Return where the text, the bars, the raw figure and what became of it stand."""
        left, right = place.left() + _EDGE_PX + _GUTTER_PX, place.right() + 1 - _EDGE_PX
        text = QRect(left, place.top(), round(place.width() * _TEXT_SHARE), place.height())
        became = QRect(right - _BECAME_PX, place.top(), _BECAME_PX, place.height())
        raw = QRect(became.left() - _NUMBER_PX, place.top(), _NUMBER_PX, place.height())
        bars = QRect(text.right() + theme.SPACE_S, place.top(), 0, place.height())
        bars.setRight(raw.left() - theme.SPACE_XS - 1)
        return text, bars, raw, became

    def _paint_bars(self, painter: QPainter, row: CandidateRow, place: QRect, *, tracks: bool) -> None:
        height = RAW_PX + _GAP_PX + AFTER_PX
        room = QRectF(place.left(), place.top() + (place.height() - height) / 2, place.width(), height)
        for share, top, thickness, colour in (
            (row.raw, room.top(), RAW_PX, self._raw if row.cut_by is None else self._cut),
            (row.after, room.top() + RAW_PX + _GAP_PX, AFTER_PX, self._after),
        ):
            if tracks:
                painter.setBrush(self._track)
                painter.drawRoundedRect(
                    QRectF(room.left(), top, room.width(), thickness), thickness / 2, thickness / 2
                )
            if share > 0:
                painter.setBrush(colour)
                length = max(room.width() * share, _LEAST_BAR_PX)
                painter.drawRoundedRect(QRectF(room.left(), top, length, thickness), thickness / 2, thickness / 2)

    def _paint_figures(self, painter: QPainter, row: CandidateRow, raw: QRect, became: QRect) -> None:
        small = theme.font(theme.SMALL_PX)
        is_known = row.rank is not None
        painter.setPen(self._muted)
        self._texts.write(painter, small, per_cent(row.raw) if is_known else UNKNOWN, raw, right=raw.right() + 1)
        if row.cut_by is None:
            middle = became.left() + _ARROW_PX / 2 + 6
            self._texts.write(painter, small, _ARROW, became, right=middle)
            painter.setPen(self._text)
            bold = theme.font(theme.SMALL_PX, bold=True)
            figure = per_cent(row.after) if is_known else UNKNOWN
            self._texts.write(painter, bold, figure, became, right=became.right() - _EDGE_PX)
            return
        top = became.top() + (became.height() - _SCISSORS_PX) // 2
        painter.drawPixmap(became.left() + 4, top, self._scissors)
        stage = self._rows.stage_name(row.cut_by)
        self._texts.write(painter, theme.font(theme.SMALL_PX - 1), stage, became, left=became.left() + 20)

    def _paint_rank(self, painter: QPainter, row: CandidateRow, text: QRect, bars: QRect) -> int:
        """Write a rank over the empty end of the bars, else at the end of the text; return where the text ends now."""
        rank = self._rows.rank_text(row)
        font = theme.font(theme.SMALL_PX - 1)
        painter.setPen(self._muted)
        if max(row.raw, row.after) < 1 / 3:
            self._texts.write(painter, font, rank, bars, right=bars.right() - _EDGE_PX)
            return text.right()
        return round(text.right() - self._texts.write(painter, font, rank, text, right=text.right() + 1)) - 4
