"""One turn of the conversation as it is painted: who, the text, and under an answer its figures.

Knows where things lie inside the turn; where the turn lies is the transcript's.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPen

from app.gui import theme
from app.gui.chat.growing_text import GrowingText, Ink
from app.gui.widgets.words import render
from app.services.turns import Turn
from app.services.units import count, milliseconds, rate, stop_words

translate = QCoreApplication.translate

CARD_SHARE = 0.82
"""Widest card of a user's turn, as a share of the column."""
CARD_PADDING_X, CARD_PADDING_Y = 14, 9
NAME_PX = 22
DROPPED_PX = 24
FOOTER_PX = 32
GAP_PX = theme.SPACE_XL
_CHARACTERS_PER_LINE = 80


@dataclass(frozen=True)
class Shape:
    """The column that turns are painted in."""

    left: float
    width: float


class TurnBlock:
    """Lays out and paints one turn."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.is_exact = False
        """Whether `height` is measured and not estimated."""
        self.height = 0
        self._text = GrowingText(theme.font(theme.READING_PX), theme.READING_LINE_PX)
        self.refresh()

    @property
    def is_user(self) -> bool:
        """Whether a person wrote it."""
        return self.turn.role == "user"

    @property
    def text(self) -> str:
        """The text that can be selected."""
        return self._text.text

    @property
    def open_top(self) -> int:
        """Where the part begins that changes when the turn grows."""
        return int(self._text_top() + self._text.open_top)

    @property
    def footer_top(self) -> int:
        """Where the line of figures begins."""
        return self.height - GAP_PX - FOOTER_PX

    def refresh(self) -> None:
        """Take over the turn's text anew."""
        if self._text.text != self.turn.text:
            self._text.set_text(self.turn.text)
        self.is_exact = False
        self.height = self.height or self._estimate()

    def grow(self, text: str) -> None:
        """Take over text that was added at the end."""
        self._text.append(text)
        self.is_exact = False

    def lay_out(self, width: float) -> None:
        """Measure the turn in a column of a width."""
        inner = width * CARD_SHARE - 2 * CARD_PADDING_X if self.is_user else width
        self._text.lay_out(inner)
        extra = self._text_top() + (CARD_PADDING_Y if self.is_user else FOOTER_PX)
        text_height = self._text.height if self.turn.text else theme.READING_LINE_PX
        self.height = int(text_height + extra + GAP_PX)
        self.is_exact = True

    def loosen(self) -> None:
        """The column has another width: the height is an estimate again."""
        self.is_exact = False

    def release(self) -> None:
        """Give the memory of the lines back; the height stays."""
        self._text.release()
        self.is_exact = False

    def offset_at(self, x: float, y: float, shape: Shape) -> int:
        """Return the character at a place in the turn."""
        return self._text.offset_at(x - self._text_left(shape), y - self._text_top())

    def paint(
        self,
        painter: QPainter,
        shape: Shape,
        clip: QRectF,
        look: theme.Theme,
        selected: tuple[int, int] | None,
    ) -> None:
        """Paint the turn with its top at 0; `clip` is what must be painted."""
        left, top = self._text_left(shape), self._text_top()
        if self.is_user:
            self._paint_card(painter, shape, look)
        else:
            self._paint_around(painter, shape, look)
        ink = Ink(look.colour("text"), look.colour("on_accent"), look.colour("accent"))
        self._text.draw(painter, QPointF(left, top), clip, ink, selected)

    def _paint_card(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        left = self._text_left(shape) - CARD_PADDING_X
        card = QRectF(left, 0, shape.left + shape.width - left, self.height - GAP_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(look.colour("sunken"))
        painter.drawRoundedRect(card, theme.RADIUS_CARD, theme.RADIUS_CARD)

    def _paint_around(self, painter: QPainter, shape: Shape, look: theme.Theme) -> None:
        name_font = theme.font(theme.BASE_PX, bold=True)
        painter.setFont(name_font)
        painter.setPen(look.colour("muted"))
        line = QRectF(shape.left, 0, shape.width, NAME_PX)
        name = QFontMetricsF(name_font).elidedText(
            self.turn.author or translate("TurnBlock", "Answer"), Qt.TextElideMode.ElideRight, shape.width
        )
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, name)
        if not self.turn.text and self.turn.state in ("waiting", "writing"):
            painter.setFont(theme.font(theme.READING_PX))
            place = QRectF(shape.left, self._text_top(), shape.width, theme.READING_LINE_PX)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, "…")
        small = theme.font(theme.SMALL_PX)
        painter.setFont(small)
        painter.setPen(QPen(look.colour("muted")))
        if missing := self.dropped_line():
            place = QRectF(shape.left, NAME_PX, shape.width, DROPPED_PX)
            shown = QFontMetricsF(small).elidedText(missing, Qt.TextElideMode.ElideRight, shape.width)
            painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, shown)
        footer = QRectF(shape.left, self.footer_top, shape.width, FOOTER_PX)
        painter.drawText(footer, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, self.footer())

    def dropped_line(self) -> str:
        """Return what is said above an answer that was written without earlier messages."""
        if self.turn.dropped == 1:
            return translate("TurnBlock", "1 earlier message was not sent: the context is full")
        if self.turn.dropped:
            text = translate("TurnBlock", "{count} earlier messages were not sent: the context is full")
            return text.format(count=count(self.turn.dropped))
        return ""

    def footer(self) -> str:
        """Return the line of figures under an answer."""
        turn, finished = self.turn, self.turn.finished
        if turn.state == "interrupted" and turn.reason is not None:
            return (
                render(turn.reason)
                if not turn.text
                else translate("TurnBlock", "Interrupted: what was written stays.")
            )
        if turn.state != "done" or finished is None:
            return ""
        metrics = finished.metrics
        parts = [translate("TurnBlock", "{count} tokens").format(count=count(metrics.sampled_tokens))]
        if metrics.decode_tokens_per_s is not None:
            parts.append(translate("TurnBlock", "{rate} tok/s").format(rate=rate(metrics.decode_tokens_per_s)))
        ttft = turn.ttft_ms if turn.ttft_ms is not None else metrics.ttft_ms
        if ttft is not None:
            parts.append(translate("TurnBlock", "TTFT {time}").format(time=milliseconds(ttft)))
        parts.append(render(stop_words(finished.stop_reason)))
        return " · ".join(parts)

    def _text_left(self, shape: Shape) -> float:
        if not self.is_user:
            return shape.left
        return shape.left + shape.width - CARD_PADDING_X - self._text.used_width

    def _text_top(self) -> float:
        return CARD_PADDING_Y if self.is_user else NAME_PX + (DROPPED_PX if self.turn.dropped else 0)

    def _estimate(self) -> int:
        lines = sum(len(line) // _CHARACTERS_PER_LINE + 1 for line in self.turn.text.split("\n"))
        extra = self._text_top() + (CARD_PADDING_Y if self.is_user else FOOTER_PX)
        return int(lines * theme.READING_LINE_PX + extra + GAP_PX)
