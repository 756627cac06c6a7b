"""The tokens of a prompt as chips, each with its id, told apart by what they belong to: outline, ground and words.

Laid out once for a width, in parts and only while it is seen; only the rows in view are painted. Knows no service; whoever knows more of the tokens colours
them by steps of a ramp (`colour`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.chip_layout import ChipLayout, Widths
from app.gui.inside.prompt_words import sentence_of
from app.gui.inside.shades import LINES_PX, Colouring, Shade, shades
from app.gui.widgets.token_words import LINE_END, visible
from app.services.inspection import InspectedPrompt, TokenKind

CHIP_PX, ROW_PX = 40, 46
LAID_AT_ONCE = 1_000
"""So many chips fill any screen; they are laid out within a frame."""
_EDGE_PX, _PAD_PX, _CORNER_PX = 4.0, 6.0, 5.0
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
        self._layout = ChipLayout(1.0)
        self._plain, self._bold, self._small = (Widths(lambda _text: 0.0) for _ in range(3))
        self._rest = QTimer(self)
        self._rest.setInterval(0)
        self._rest.timeout.connect(self._lay_out_more)
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
            self.verticalScrollBar().setRange(0, 0)
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
        self._reach(token)
        left, width = self._layout.places[token]
        top = self._layout.row_of(token) * self._row_px - self.verticalScrollBar().value() + 3
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
        if self._layout.width == max(self._room, 1.0):
            self._fit()
        else:
            self._lay_out()

    def showEvent(self, event: QShowEvent) -> None:
        """Lay out what was not."""
        super().showEvent(event)
        if not self._rest.isActive():
            self._lay_out_more()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave the rest until somebody looks again."""
        super().hideEvent(event)
        self._rest.stop()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the token under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.look_at(self._token_at(event.position()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from token to token and from row to row."""
        key, last = Qt.Key(event.key()), self._count - 1
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
        self._reach(self._current + LAID_AT_ONCE)
        return self._layout.beside(self._current, _ROWS[key] * rows)

    def _in(self, rect: QRect) -> range:
        top, height = self.verticalScrollBar().value(), self._row_px
        return self._layout.chips((rect.top() + top) // height, (rect.bottom() + top) // height)

    def _token_at(self, place: QPointF) -> int | None:
        found = (token for token in self._in(self.viewport().rect()) if self.place_of(token).contains(place))
        return next(found, None)

    @property
    def _room(self) -> float:
        """How wide rows are."""
        return self.viewport().width() - 2 * _EDGE_PX

    @property
    def _count(self) -> int:
        return len(self._prompt.ids) if self._prompt is not None else 0

    def _lay_out(self) -> None:
        """Lay out from the first chip on."""
        text, bold = (QFontMetricsF(theme.reading_font(theme.BASE_PX, bold=each)) for each in (False, True))
        small = QFontMetricsF(theme.reading_font(theme.SMALL_PX - 1))
        self._plain, self._bold, self._small = (Widths(face.horizontalAdvance) for face in (text, bold, small))
        self._layout = ChipLayout(self._room)
        self._lay_out_more()

    def _lay_out_more(self) -> None:
        """Lay out the next chips; the rest follows in moments in which nothing else is to be done."""
        if self.isVisible():
            self._extend(LAID_AT_ONCE)
        if not self.isVisible() or len(self._layout) >= self._count:
            self._rest.stop()
        elif not self._rest.isActive():
            self._rest.start()
        self._fit()

    def _reach(self, token: int) -> None:
        """Have a token laid out."""
        if token >= len(self._layout) < self._count:
            self._extend(token + 1 - len(self._layout))
            self._fit()

    def _extend(self, count: int) -> None:
        start = len(self._layout)
        self._layout.extend(map(self._wanted, range(start, min(start + count, self._count))))

    def _wanted(self, token: int) -> tuple[float, bool]:
        """Return how wide a chip wants to be, and whether it ends its row."""
        assert self._prompt is not None
        said, number = self._said(token)
        widths = self._bold if self._prompt.kinds[token] == "special" else self._plain
        return max(widths.of(said), self._small.of(number)) + 2 * _PAD_PX, said.endswith(LINE_END)

    def _fit(self) -> None:
        """Say how far one can scroll; not less far than before while the rest is not laid out."""
        bar, height = self.verticalScrollBar(), self.viewport().height()
        bar.setPageStep(height)
        bar.setSingleStep(self._row_px)
        most = max(self._layout.rows * self._row_px - height, 0)
        bar.setRange(0, most if len(self._layout) >= self._count else max(most, bar.maximum()))
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
    "thinking": "sunken",
    "system": "hint_surface",
}


def outline(look: theme.Theme, kind: TokenKind) -> QPen:
    """Return the line around a chip: the template's dashed, people's text solid, earlier answers dotted."""
    colour = look.colour("accent" if kind == "asked" else "border_strong")
    style = {
        "template": Qt.PenStyle.DashLine,
        "special": Qt.PenStyle.DashLine,
        "answer": Qt.PenStyle.DotLine,
        "thinking": Qt.PenStyle.DashDotDotLine,
    }.get(kind, Qt.PenStyle.SolidLine)
    return QPen(colour, 1.0, style)


def ground_of_kind(look: theme.Theme, kind: TokenKind) -> QColor:
    """Return what a chip stands on."""
    return look.colour(_GROUNDS.get(kind, "surface"))
