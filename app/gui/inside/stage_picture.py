"""The picture of a card: the likeliest tokens that enter a stage as bars, what becomes of each, and where it cuts.

A full bar is a token that is left, at its chance afterwards; a mark across it is its chance before. A hatched bar is one
that is cut, an empty one of which nobody knows. Where a chance lies between two, the bar has the lower one, and up to the
higher it is empty. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.core.sampler_cards import Bounds, CardToken, StageCard
from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.card_words import share_words, token_words
from app.gui.widgets.token_words import is_sharp
from app.gui.widgets.words import hint_of
from app.services.units import UNKNOWN

BARS = 24
HEIGHT_PX = 60
_GAP_PX = 2.0
_LEAST_PX = 1.5
_TOP_PX = 13
"""Above the bars stands what the cut line says."""


class StagePicture(QWidget):
    """Shows one card; a pointer on a bar tells its token."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._card: StageCard | None = None
        self._texts: dict[int, str] = {}
        self._level: float | None = None
        self._full = 1.0
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumHeight(theme.scaled(HEIGHT_PX))
        themes.changed.connect(self.update)

    def show_card(
        self, card: StageCard | None, texts: dict[int, str], level: float | None = None, full: float = 1.0
    ) -> None:
        """Show another card; `level` is a chance at which the stage cuts, `full` that of a bar of the whole height.

        Pictures of one chain have one height and one scale: what is the same looks the same.
        """
        if (card, level, full) != (self._card, self._level, self._full) or texts is not self._texts:
            self._card, self._texts, self._level, self._full = card, texts, level, full
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for its least height."""
        return QSize(120, self.minimumHeight())

    def event(self, event: QEvent) -> bool:
        """Tell the token that is pointed at."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            token = self.token_at(event.pos().x())
            if token is not None:
                QToolTip.showText(event.globalPos(), hint_of(self._said(token)), self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def token_at(self, x: float) -> CardToken | None:
        """Return the token whose bar stands there."""
        if self._card is None or not self._card.tokens:
            return None
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            x = self.width() - x
        place = int(x / (self.width() / BARS))
        return self._card.tokens[place] if 0 <= place < min(len(self._card.tokens), BARS) else None

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bars, and the lines at which the stage cuts."""
        painter = QPainter(self)
        paint_ground(painter, self)
        card, look = self._card, self._themes.current
        if card is not None and card.tokens:
            if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
                painter.translate(self.width(), 0)
                painter.scale(-1, 1)
            most = self._full
            place = QRectF(0, _TOP_PX, self.width(), self.height() - _TOP_PX - 1)
            for rank, token in enumerate(card.tokens[:BARS]):
                self._paint_token(painter, look, token, rank, (place, most))
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), look.colour("border"))
            if card.state == "acts":
                self._paint_level(painter, look, place, most)
                self._paint_cut(painter, look, card)
        painter.end()

    def _paint_token(
        self, painter: QPainter, look: theme.Theme, token: CardToken, rank: int, scale: tuple[QRectF, float]
    ) -> None:
        place, most = scale
        step = place.width() / BARS
        left, width = rank * step, max(step - _GAP_PX, 1.0)
        is_idle = self._card is None or self._card.state != "acts"
        colour = look.colour("border_strong" if is_idle else "stage_sampling")
        low, high = _before(token) if token.fate == "cut" else _after(token)
        if token.fate == "unknown":
            low = 0.0
        height = max(place.height() * min(low / most, 1.0), _LEAST_PX)
        bar = QRectF(left, place.bottom() - height, width, height)
        if token.fate == "unknown" or (high - low) * place.height() > 2 * most:
            empty = QRectF(left, place.bottom() - place.height() * min(high / most, 1.0), width, 0.0)
            empty.setBottom(bar.top() if token.fate != "unknown" else place.bottom())
            painter.setPen(QPen(look.colour("border_strong"), 1, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(empty.adjusted(0.5, 0.5, -0.5, -0.5))
        if token.fate == "left":
            painter.fillRect(bar, colour)
            is_known = is_sharp(token.before, token.before_bounds)
            if not is_idle and is_known and abs(token.before - token.after) * place.height() > most:
                across = place.bottom() - place.height() * min(token.before / most, 1.0)
                painter.fillRect(QRectF(left, across - 1, width, 2), look.colour("text"))
        elif token.fate == "cut":
            painter.fillRect(bar, QBrush(look.colour("border_strong"), Qt.BrushStyle.BDiagPattern))
            painter.fillRect(QRectF(left, bar.top(), width, 1), look.colour("border_strong"))

    def _paint_level(self, painter: QPainter, look: theme.Theme, place: QRectF, most: float) -> None:
        if self._level is None or not 0 < self._level <= most:
            return
        height = place.bottom() - place.height() * self._level / most
        painter.setPen(QPen(look.colour("muted"), 1, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(0, height), QPointF(place.width(), height))

    def _paint_cut(self, painter: QPainter, look: theme.Theme, card: StageCard) -> None:
        if card.cut is None:
            return
        step = self.width() / BARS
        is_beyond = card.cut > BARS
        across = self.width() - 1.0 if is_beyond else min(max(card.cut * step - _GAP_PX / 2, 1.0), self.width() - 1.0)
        painter.setPen(QPen(look.colour("text"), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(QPointF(across, 0 if not is_beyond else _TOP_PX), QPointF(across, self.height()))
        painter.setFont(theme.font(theme.SMALL_PX - 1))
        painter.setPen(look.colour("muted"))
        said = self.tr("cut to {rank}") if card.cuts_front else self.tr("cut after {rank}")
        said = f"✂ {said.format(rank=f'{card.cut:,}')}"
        width = painter.fontMetrics().horizontalAdvance(said) + 4
        left = across - width - 2 if across + width + 4 > self.width() else across + 4
        painter.save()
        area = QRectF(left, -1, width, _TOP_PX + 2)
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(area.left() + area.right(), 0)
            painter.scale(-1, 1)
        painter.drawText(area, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, said)
        painter.restore()

    def _said(self, token: CardToken) -> str:
        name = token_words(token.token, self._texts)
        before = share_words(token.before, token.before_bounds)
        if token.fate == "cut":
            return self.tr("{token}: {before}, cut here").format(token=name, before=before)
        if token.fate == "unknown":
            return self.tr("{token}: {before}; whether it is left was not recorded").format(token=name, before=before)
        after = share_words(token.after, token.after_bounds)
        if UNKNOWN in (before, after):
            return self.tr("{token}: how likely it is was not recorded").format(token=name)
        return self.tr("{token}: {before} → {after}").format(token=name, before=before, after=after)


def _before(token: CardToken) -> Bounds:
    return token.before_bounds or (token.before, token.before)


def _after(token: CardToken) -> Bounds:
    return token.after_bounds or (token.after, token.after)
