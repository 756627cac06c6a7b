"""The picture of the draw: the tokens that are left lie on one bar by their chances, and a needle shows the number.

Below it stand the likeliest of them with their chances, the one on which the number falls marked. What of the bar is
hatched may be of one token or of another. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.core.sampler_cards import DrawCard, DrawToken
from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.card_words import share_words, token_words

HEIGHT_PX = 150
ROW_PX = 17
_BAR_PX = 22
_NEEDLE_PX = 16
_MARK_PX = 12
_FIGURE_PX = 52
_GAP_PX = 6
_SHADES = (1.0, 0.62, 0.38)
"""Neighbours have other shades of the one hue."""


class DrawPicture(QWidget):
    """Shows the cumulative bar of one step."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._card: DrawCard | None = None
        self._texts: dict[int, str] = {}
        self._chosen: int | None = None
        stand_alone(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Expanding)
        self.setMinimumHeight(theme.scaled(HEIGHT_PX))
        themes.changed.connect(self.update)

    def show_card(self, card: DrawCard | None, texts: dict[int, str], chosen: int | None = None) -> None:
        """Show another draw; where somebody chose the token, that one is marked."""
        if (card, chosen) != (self._card, self._chosen) or texts is not self._texts:
            self._card, self._texts, self._chosen = card, texts, chosen
            self.update()

    @property
    def marked(self) -> DrawToken | None:
        """The token that comes of the step: the drawn one, or the chosen one where that is left; None where neither is known."""
        if self._card is None or self._chosen is None:
            return None if self._card is None else self._card.drawn
        drawn = self._card.drawn
        known = (*self._card.tokens, *(() if drawn is None else (drawn,)))
        return next((token for token in known if token.token == self._chosen), None)

    def sizeHint(self) -> QSize:
        """Ask for its least height."""
        return QSize(120, self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bar, the needle and the likeliest tokens."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, self)
        if self._card is not None:
            look = self._themes.current
            if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
                painter.translate(self.width(), 0)
                painter.scale(-1, 1)
            self._paint_bar(painter, look, self._card)
            self._paint_needle(painter, look, self._card)
            self._paint_rows(painter, look, self._card)
        painter.end()

    def _paint_bar(self, painter: QPainter, look: theme.Theme, card: DrawCard) -> None:
        place = QRectF(0, _NEEDLE_PX, self.width(), _BAR_PX)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.fillRect(place, look.colour("sunken"))
        for begin, end in unsure_stretches(card):
            where = QRectF(begin * place.width(), place.top(), (end - begin) * place.width(), place.height())
            painter.fillRect(where, QBrush(look.colour("border_strong"), Qt.BrushStyle.BDiagPattern))
        for rank, token in enumerate(card.tokens):
            if token.end > token.begin:
                painter.fillRect(self._stretch(token, place), _shade(look, rank))
        if (marked := self.marked) is not None and marked.end > marked.begin:
            painter.setPen(QPen(look.colour("text"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            own = self._stretch(marked, place)
            painter.drawRect(
                QRectF(own.left(), own.top(), max(own.width(), 2.0), own.height()).adjusted(1, 1, -1, -1)
            )
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _stretch(self, token: DrawToken, place: QRectF) -> QRectF:
        left, right = token.begin * place.width(), token.end * place.width()
        return QRectF(left, place.top(), max(right - left - (1.0 if right - left > 3 else 0.0), 0.5), place.height())

    def _paint_needle(self, painter: QPainter, look: theme.Theme, card: DrawCard) -> None:
        if card.number is None:
            return
        across = min(max(card.number * self.width(), 1.0), self.width() - 1.0)
        painter.setPen(QPen(look.colour("text"), 1.5))
        painter.drawLine(QPointF(across, _NEEDLE_PX - 6), QPointF(across, _NEEDLE_PX + _BAR_PX + 3))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("text"))
        tip = QPointF(across, _NEEDLE_PX)
        painter.drawPolygon(QPolygonF([tip + QPointF(-4.5, -8), tip, tip + QPointF(4.5, -8)]))
        said = f"{card.number:.3f}"
        painter.setFont(theme.font(theme.SMALL_PX - 1, bold=True))
        width = painter.fontMetrics().horizontalAdvance(said) + 2
        left = across - width - 7 if across + width + 8 > self.width() else across + 7
        self._write(painter, look.colour("text"), QRectF(left, -1, width, _NEEDLE_PX), said)

    def _paint_rows(self, painter: QPainter, look: theme.Theme, card: DrawCard) -> None:
        top = _NEEDLE_PX + _BAR_PX + 7
        step = theme.scaled(ROW_PX)
        room = max((self.height() - top) // step, 0)
        rows = list(card.tokens[:room])
        marked = self.marked
        if marked is not None and rows and all(row.token != marked.token for row in rows):
            rows[-1] = marked
        ranks = {token.token: rank for rank, token in enumerate(card.tokens)}
        for line, token in enumerate(rows):
            is_drawn = marked is not None and token.token == marked.token
            place = QRectF(0, top + line * step, self.width(), step)
            self._paint_row(painter, look, place, token, (ranks.get(token.token), is_drawn))

    def _paint_row(
        self, painter: QPainter, look: theme.Theme, place: QRectF, token: DrawToken, kind: tuple[int | None, bool]
    ) -> None:
        rank, is_drawn = kind
        middle = place.center().y()
        painter.setPen(Qt.PenStyle.NoPen)
        if is_drawn:
            painter.setBrush(look.colour("text"))
            tip = QPointF(8, middle)
            painter.drawPolygon(QPolygonF([tip + QPointF(-6, -4), tip, tip + QPointF(-6, 4)]))
        else:
            painter.setBrush(_shade(look, rank if rank is not None else 0))
            painter.drawRect(QRectF(1, middle - 3.5, 7, 7))
        painter.setFont(theme.font(theme.SMALL_PX, bold=is_drawn))
        metrics = painter.fontMetrics()
        share = share_words(token.share, token.share_bounds)
        figure = max(theme.scaled(_FIGURE_PX), metrics.horizontalAdvance(share) + _GAP_PX)
        room = self.width() - _MARK_PX - figure
        said = metrics.elidedText(token_words(token.token, self._texts), Qt.TextElideMode.ElideRight, room)
        ink = look.colour("text")
        self._write(painter, ink, QRectF(_MARK_PX, place.top(), room, place.height()), said)
        where = QRectF(self.width() - figure, place.top(), figure, place.height())
        self._write(painter, ink, where, share, right=True)

    def _write(self, painter: QPainter, colour: QColor, place: QRectF, text: str, *, right: bool = False) -> None:
        """Write a text; in a picture that is turned round the letters are not."""
        painter.save()
        painter.setPen(colour)
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(place.left() + place.right(), 0)
            painter.scale(-1, 1)
            right = not right
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        painter.drawText(place, side | Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignAbsolute, text)
        painter.restore()


def unsure_stretches(card: DrawCard) -> list[tuple[float, float]]:
    """Return the stretches of the bar of which nobody knows whose they are."""
    found, reached = list[tuple[float, float]](), 0.0
    for token in sorted(card.tokens, key=lambda token: token.begin):
        if token.end > token.begin and token.begin < card.unsure_to:
            found.append((reached, token.begin))
            reached = max(reached, token.end)
    found.append((reached, card.unsure_to))
    return [(begin, end) for begin, end in found if end > begin]


def _shade(look: theme.Theme, rank: int) -> QColor:
    """Return a lightness step of the hue."""
    colour = look.colour("stage_sampling")
    colour.setAlphaF(_SHADES[rank % len(_SHADES)])
    return colour
