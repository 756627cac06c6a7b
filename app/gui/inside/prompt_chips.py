"""The tokens of a prompt as chips, each with its id, told apart by what they belong to: outline, ground and words.

Laid out once for a width; only the rows in view are painted. Knows no service; whoever knows more of the tokens colours
them by steps of a ramp (`colour`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.prompt_words import sentence_of
from app.gui.inside.shades import LINES_PX, Colouring, Shade, shades
from app.gui.widgets.token_words import LINE_END, visible
from app.services.inspection import InspectedPrompt, TokenKind

CHIP_PX, ROW_PX = 40, 46
_EDGE_PX, _GAP_PX, _PAD_PX, _CORNER_PX = 4.0, 4.0, 6.0, 5.0
_MOST_CHARACTERS = 48
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_ROWS = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -1, Qt.Key.Key_PageDown: 1}


class PromptChips(QAbstractScrollArea):
    """Shows one prompt; the pointer, a click or keys go to a token."""

    token_changed = Signal(object)
    """Another token is looked at: its index in the prompt, or None."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("prompt_chips")
        self.setProperty("look", "lane_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        stand_alone(self.viewport())
        self._themes = themes
        self._prompt: InspectedPrompt | None = None
        self._places: list[tuple[float, float]] = []
        """Left and width of each chip."""
        self._starts: list[int] = [0]
        """Of each row: its first chip."""
        self._current: int | None = None
        self._steps: Sequence[int | None] = ()
        self._colouring: Colouring = "none"
        self._ramp: list[Shade] = []
        self._more_words: Callable[[int], str] | None = None
        themes.changed.connect(self._show_theme)
        themes.text_size_changed.connect(self._lay_out)
        self._show_theme()
        self._name()

    @property
    def prompt(self) -> InspectedPrompt | None:
        """What is shown."""
        return self._prompt

    @property
    def current(self) -> int | None:
        """The token that is looked at."""
        return self._current

    def show_prompt(self, prompt: InspectedPrompt | None) -> None:
        """Show another prompt."""
        if prompt == self._prompt:
            return
        is_same = prompt is not None and self._prompt is not None and prompt.ids == self._prompt.ids
        self._prompt = prompt
        if not is_same:
            self._steps, self._current, self._more_words = (), None, None
            self.verticalScrollBar().setValue(0)
            self.token_changed.emit(None)
        self._lay_out()
        self._name()

    def colour(self, steps: Sequence[int | None], colouring: Colouring = "probability") -> None:
        """Colour the chips by steps of a ramp (`shades`), one for each token; None is not coloured."""
        self._steps, self._colouring = steps, colouring
        self._show_theme()

    def add_words(self, words: Callable[[int], str] | None) -> None:
        """Say more of the token that is looked at to those who listen; None says no more."""
        self._more_words = words
        self._name()

    def look_at(self, token: int | None) -> None:
        """Look at another token, and have it in view."""
        if token == self._current:
            return
        self._current = token
        self._reveal()
        self._name()
        self.viewport().update()
        self.token_changed.emit(token)

    def place_of(self, token: int) -> QRectF:
        """Return where a token's chip stands in the viewport."""
        row = bisect_right(self._starts, token) - 1
        left, width = self._places[token]
        top = row * self._row_px - self.verticalScrollBar().value() + 3
        return QRectF(left + _EDGE_PX, top, width, theme.reading_px(CHIP_PX))

    def sizeHint(self) -> QSize:
        """Ask for some rows."""
        return QSize(theme.scaled(480), theme.scaled(320))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view."""
        viewport = self.viewport()
        painter = QPainter(viewport)
        paint_ground(painter, viewport, event.rect())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for token in self._in(event.rect()):
            self._paint(painter, token)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew in another width."""
        super().resizeEvent(event)
        self._lay_out()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the token under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.look_at(self._token_at(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from token to token and from row to row."""
        key, last = Qt.Key(event.key()), len(self._places) - 1
        token: int | None = None
        if last >= 0 and key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            token = 0 if key == Qt.Key.Key_Home else last
        elif last >= 0 and key in _STEPS:
            token = 0 if self._current is None else min(max(self._current + _STEPS[key], 0), last)
        elif last >= 0 and key in _ROWS:
            token = self._in_row_beside(key)
        if token is None:
            super().keyPressEvent(event)
        else:
            self.look_at(token)

    @property
    def _row_px(self) -> int:
        return theme.reading_px(ROW_PX)

    def _in_row_beside(self, key: Qt.Key) -> int:
        if self._current is None:
            return 0
        rows = max(self.viewport().height() // self._row_px - 1, 1) if "Page" in key.name else 1
        row = bisect_right(self._starts, self._current) - 1 + _ROWS[key] * rows
        if not 0 <= row < len(self._starts):
            return 0 if row < 0 else len(self._places) - 1
        left = self._places[self._current][0]
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self._places)
        return min(range(self._starts[row], end), key=lambda token: abs(self._places[token][0] - left))

    def _in(self, rect: QRect) -> range:
        top, height = self.verticalScrollBar().value(), self._row_px
        first = min(max((rect.top() + top) // height, 0), len(self._starts) - 1)
        last = (rect.bottom() + top) // height + 1
        end = self._starts[last] if last < len(self._starts) else len(self._places)
        return range(self._starts[first], end)

    def _token_at(self, place: QPointF) -> int | None:
        found = (token for token in self._in(self.viewport().rect()) if self.place_of(token).contains(place))
        return next(found, None)

    def _lay_out(self) -> None:
        prompt, width = self._prompt, self.viewport().width() - 2 * _EDGE_PX
        text, bold = (QFontMetricsF(theme.reading_font(theme.BASE_PX, bold=each)) for each in (False, True))
        small = QFontMetricsF(theme.reading_font(theme.SMALL_PX - 1))
        self._places, self._starts = [], [0]
        left, ends_row = 0.0, False
        for token in range(len(prompt.ids) if prompt is not None else 0):
            said, number = self._said(token)
            face = bold if prompt is not None and prompt.kinds[token] == "special" else text
            wide = max(face.horizontalAdvance(said), small.horizontalAdvance(number)) + 2 * _PAD_PX
            wide = min(wide, max(width - 1.0, 1.0))
            if left > 0 and (ends_row or left + wide > width):
                self._starts.append(token)
                left = 0.0
            self._places.append((left, wide))
            left += wide + _GAP_PX
            ends_row = said.endswith(LINE_END)
        bar = self.verticalScrollBar()
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(self._row_px)
        rows = len(self._starts) if self._places else 0
        bar.setRange(0, max(rows * self._row_px - self.viewport().height(), 0))
        self.viewport().update()

    def _said(self, token: int) -> tuple[str, str]:
        assert self._prompt is not None
        said, number = self._prompt.texts[token], str(self._prompt.ids[token])
        shown = visible(said) if said else "–"
        return shown if len(shown) <= _MOST_CHARACTERS else f"{shown[:_MOST_CHARACTERS]}…", number

    def _paint(self, painter: QPainter, token: int) -> None:
        assert self._prompt is not None
        look, box = self._themes.current, self.place_of(token).adjusted(0.5, 0.5, -0.5, -0.5)
        kind = self._prompt.kinds[token]
        step = self._steps[token] if token < len(self._steps) else None
        ground = (
            self._ramp[step].ground if step is not None and step >= 0 else look.colour(_GROUNDS.get(kind, "surface"))
        )
        painter.setBrush(ground)
        painter.setPen(outline(look, kind))
        painter.drawRoundedRect(box, _CORNER_PX, _CORNER_PX)
        if step is not None and step > 0:
            thick = LINES_PX[step]
            line = QRectF(box.left() + 3, box.bottom() - thick - 1, box.width() - 6, thick)
            painter.fillRect(line, self._ramp[step].line)
        said, number = self._said(token)
        is_bold = kind == "special"
        painter.setFont(theme.reading_font(theme.BASE_PX, bold=is_bold))
        painter.setPen(look.colour("muted" if kind == "template" and not step else "text"))
        upper = box.adjusted(_PAD_PX - 1, 2, -_PAD_PX + 1, -box.height() * 0.42)
        shown = painter.fontMetrics().elidedText(said, Qt.TextElideMode.ElideRight, round(upper.width()) + 2)
        painter.drawText(upper, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setFont(theme.reading_font(theme.SMALL_PX - 1))
        painter.setPen(look.colour("text" if step is not None and step > 0 else "muted"))
        lower = box.adjusted(_PAD_PX - 1, box.height() * 0.52, 0, -3)
        painter.drawText(lower, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, number)
        if token == self._current:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(look.colour("accent"), 2.5))
            painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), _CORNER_PX + 1, _CORNER_PX + 1)

    def _reveal(self) -> None:
        if self._current is None:
            return
        bar, box = self.verticalScrollBar(), self.place_of(self._current)
        if box.top() < 0:
            bar.setValue(round(bar.value() + box.top()) - 3)
        elif box.bottom() > self.viewport().height():
            bar.setValue(round(bar.value() + box.bottom() - self.viewport().height()) + 3)

    def _show_theme(self) -> None:
        self._ramp = shades(self._themes.current, self._colouring)
        self.viewport().update()

    def _name(self) -> None:
        """Say to those who listen what is looked at."""
        said = self.tr("Tokens of the prompt")
        if self._prompt is not None and self._current is not None:
            said = sentence_of(self._prompt, self._current)
            if self._more_words is not None:
                said += self._more_words(self._current)
        self.setAccessibleName(said)


_GROUNDS: dict[TokenKind, str] = {
    "special": "pressed",
    "template": "window",
    "answer": "sunken",
    "system": "hint_surface",
}


def outline(look: theme.Theme, kind: TokenKind) -> QPen:
    """Return the line around a chip: the template's dashed, people's text solid, earlier answers dotted."""
    colour = look.colour("accent" if kind == "asked" else "border_strong")
    style = {
        "template": Qt.PenStyle.DashLine,
        "special": Qt.PenStyle.DashLine,
        "answer": Qt.PenStyle.DotLine,
    }.get(kind, Qt.PenStyle.SolidLine)
    return QPen(colour, 1.0, style)


def ground_of_kind(look: theme.Theme, kind: TokenKind) -> QColor:
    """Return what a chip stands on."""
    return look.colour(_GROUNDS.get(kind, "surface"))
