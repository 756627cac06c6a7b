"""An answer as its tokens, in the flow in which it is read: coloured, looked at by pointer and keys, and pinned.

Laid out once for a width; only the rows in view are painted. Knows no service.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.shades import Colouring, Shade, shades
from app.gui.inside.token_keys import moved, rows_wanted
from app.gui.inside.token_paint import RowPainter
from app.gui.inside.token_rows import LAID_AT_ONCE, TokenRows
from app.gui.inside.token_sentences import sentence_of
from app.services.inspection import InspectedAnswer

ROW_PX = 30
HOVER_MS = 120
"""A pointer that rests on a token so long looks at it."""
_EDGE_PX = 4.0
_CORNER_PX = 3.0


class TokenFlow(QAbstractScrollArea):
    """Shows one answer; whoever owns it says which token is looked at, and hears which one is wanted."""

    looked_at = Signal(object)
    """Somebody wants to look at a token: its index, or None for none."""
    pinned_changed = Signal(bool)
    """The token that is looked at stays, or follows the pointer again."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("token_inspector")
        self.setProperty("look", "lane_text")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        stand_alone(self.viewport())
        self.viewport().setMouseTracking(True)
        self._themes = themes
        self._answer: InspectedAnswer | None = None
        self._colouring: Colouring = "probability"
        self._shades: list[Shade] = []
        self._layout: TokenRows | None = None
        self._rest = QTimer(self)
        self._rest.setInterval(0)
        self._rest.timeout.connect(self._lay_out_more)
        self._follows = False
        """Whether the end is in view, and stays so while the answer grows."""
        self._is_fitting = False
        self._is_sought = False
        """Whether the token that is looked at is to be in view once it is laid out."""
        self._current: int | None = None
        self._is_pinned = False
        self._pointed: int | None = None
        self._resting = QTimer(self)
        self._resting.setSingleShot(True)
        self._resting.setInterval(HOVER_MS)
        self._resting.timeout.connect(self._look_at_pointed)
        self.verticalScrollBar().valueChanged.connect(lambda _value: self._note_end())
        themes.changed.connect(self._show_theme)
        themes.text_size_changed.connect(self._lay_out)
        self._show_theme()
        self._name()

    @property
    def answer(self) -> InspectedAnswer | None:
        """What is shown."""
        return self._answer

    @property
    def current(self) -> int | None:
        """The token that is looked at."""
        return self._current

    @property
    def is_pinned(self) -> bool:
        """Whether that token stays when the pointer moves."""
        return self._is_pinned

    @property
    def colouring(self) -> Colouring:
        """What tokens are coloured by."""
        return self._colouring

    def show_answer(self, answer: InspectedAnswer | None) -> None:
        """Show other tokens; those of the same answer keep their place and grow at their end."""
        before, self._answer = self._answer, answer
        is_same = before is not None and answer is not None and before.message == answer.message
        if not is_same:
            self._pin(pinned=False)
            self._follows = self._is_sought = False
            self.verticalScrollBar().setValue(0)
        if answer is not None and self._layout is not None and self._layout.goes_on_as(answer):
            self._lay_out_more()
            self._fit()
        else:
            self._lay_out()

    def show_token(self, token: int | None) -> None:
        """Frame the token that is looked at, and have it in view."""
        if token == self._current:
            return
        self._current = token
        if token is None:
            self._pin(pinned=False)
        self._reveal()
        self._name()
        self.viewport().update()

    def colour_by(self, colouring: Colouring) -> None:
        """Colour by something else."""
        self._colouring = colouring
        self._show_theme()

    def sizeHint(self) -> QSize:
        """Ask for the column that is pleasant to read."""
        return QSize(round(theme.reading_width()), theme.scaled(320))

    def minimumSizeHint(self) -> QSize:
        """Make do with a few words."""
        return QSize(theme.scaled(280), theme.scaled(180))

    def place_of(self, token: int) -> QRectF:
        """Return where a token's first piece stands in the viewport."""
        assert self._layout is not None
        self._reach(token)
        piece, row = self._layout.firsts[token], self._layout.row_of(token)
        return self._box(piece, row)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows in view."""
        viewport = self.viewport()
        painter = QPainter(viewport)
        paint_ground(painter, viewport, event.rect())
        layout, height = self._layout, self._row_px
        if layout is not None and layout.rows:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(theme.reading_font(theme.READING_PX))
            top = self.verticalScrollBar().value()
            first = max((event.rect().top() + top) // height, 0)
            last = min((event.rect().bottom() + top) // height, layout.rows - 1)
            assert self._answer is not None
            painting = RowPainter(self._themes.current, self._shades, self._answer, self._colouring)
            for row in range(first, last + 1):
                for piece in layout.pieces(row):
                    token = layout.owners[piece]
                    painting.paint(painter, self._box(piece, row), token, layout.texts[piece])
            self._paint_frame(painter, layout)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew in another width."""
        super().resizeEvent(event)
        if self._layout is None or self._layout.width != self._room:
            self._lay_out()
        else:
            self._fit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Look, in a moment, at the token under the pointer."""
        self._pointed = self._token_at(event.position())
        shape = Qt.CursorShape.ArrowCursor if self._pointed is None else Qt.CursorShape.PointingHandCursor
        self.viewport().setCursor(shape)
        if not self._is_pinned and self._pointed is not None and self._pointed != self._current:
            self._resting.start()
        else:
            self._resting.stop()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pin the token under the pointer; free the one that is pinned there, or beside all tokens."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        token = self._token_at(event.position())
        if token is None or (self._is_pinned and token == self._current):
            self._pin(pinned=False)
            return
        self.keep(token)

    def leaveEvent(self, event: QEvent) -> None:
        """Point at nothing."""
        super().leaveEvent(event)
        self._pointed = None
        self._resting.stop()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move from token to token and from row to row."""
        layout, key, answer = self._layout, Qt.Key(event.key()), self._answer
        if layout is None or answer is None or not layout.rows or event.modifiers() & _NOT_OURS:
            super().keyPressEvent(event)
            return
        page = max(self.viewport().height() // self._row_px - 1, 1)
        rows = rows_wanted(key, page)
        if rows is not None and self._current is not None and layout.reach_rows(self._current, rows):
            self._fit()
        token = moved(layout, len(answer), self._current, key, page)
        if token is None:
            super().keyPressEvent(event)
            return
        self.keep(token)

    def keep(self, token: int) -> None:
        """Look at a token, wherever the pointer goes."""
        self._resting.stop()
        if token != self._current:
            self.looked_at.emit(token)
        self._pin(pinned=True)

    def free(self) -> None:
        """Let the token that is looked at follow the pointer again."""
        if self._is_pinned:
            self._pin(pinned=False)
            self.looked_at.emit(None)

    @property
    def _row_px(self) -> int:
        return theme.reading_px(ROW_PX)

    @property
    def _room(self) -> float:
        """How wide rows are."""
        return min(self.viewport().width() - 2 * _EDGE_PX, theme.reading_width())

    def _look_at_pointed(self) -> None:
        if self._pointed is not None and not self._is_pinned:
            self.looked_at.emit(self._pointed)

    def _pin(self, *, pinned: bool) -> None:
        if pinned != self._is_pinned:
            self._is_pinned = pinned
            self._name()
            self.pinned_changed.emit(pinned)
            self.viewport().update()

    def _token_at(self, place: QPointF) -> int | None:
        if self._layout is None:
            return None
        row = int((place.y() + self.verticalScrollBar().value()) // self._row_px)
        return self._layout.token_at(row, place.x() - _EDGE_PX)

    def _lay_out(self) -> None:
        measure = QFontMetricsF(theme.reading_font(theme.READING_PX)).horizontalAdvance
        self._layout = TokenRows(self._answer, measure, self._room)
        self._lay_out_more()
        self._fit()
        self._reveal()

    def _lay_out_more(self) -> None:
        """Lay out the next tokens; the rest follows in moments in which nothing else is to be done."""
        assert self._layout is not None
        self._layout.add()
        if self._layout.is_whole:
            self._rest.stop()
        elif not self._rest.isActive():
            self._rest.start()
        if self.sender() is self._rest:
            self._fit()
            if self._is_sought:
                self._reveal()

    def _reach(self, token: int) -> None:
        """Have a token laid out."""
        if self._layout is not None and self._layout.reach(token):
            self._fit()

    def _fit(self) -> None:
        """Say how far one can scroll, and stay at the end where one was there."""
        assert self._layout is not None
        bar, height = self.verticalScrollBar(), self._row_px
        bar.setPageStep(self.viewport().height())
        bar.setSingleStep(height)
        was_fitting, self._is_fitting = self._is_fitting, True
        bar.setRange(
            0, max(self._layout.rows * height - self.viewport().height(), 0)
        )  # the bar that comes takes room
        if self._follows and not self._is_pinned:
            bar.setValue(bar.maximum())
        self._is_fitting = was_fitting
        if self._layout.is_whole:
            self._note_end()
        self.viewport().update()

    def _note_end(self) -> None:
        """Know whether the end is in view."""
        if not self._is_fitting:
            self._follows = self.verticalScrollBar().value() == self.verticalScrollBar().maximum()

    def _reveal(self) -> None:
        token, layout = self._current, self._layout
        self._is_sought = False
        if token is None or layout is None or self._answer is None or token >= len(self._answer):
            return
        if token >= len(layout.firsts) + LAID_AT_ONCE:
            self._is_sought = True  # it is laid out in parts, which are too many to wait for
            return
        self._reach(token)
        bar, top = self.verticalScrollBar(), layout.row_of(token) * self._row_px
        if top < bar.value():
            bar.setValue(top)
        elif top + self._row_px > bar.value() + self.viewport().height():
            bar.setValue(top + self._row_px - self.viewport().height())

    def _show_theme(self) -> None:
        look = self._themes.current
        self._shades = shades(look, self._colouring)
        self.viewport().update()

    def _paint_frame(self, painter: QPainter, layout: TokenRows) -> None:
        """Frame the token that is looked at; one that is pinned more strongly."""
        token = self._current
        if token is None or token >= len(layout.firsts):
            return
        row = layout.row_of(token)
        painter.setPen(QPen(self._themes.current.colour("accent"), 2.5 if self._is_pinned else 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for piece in layout.pieces_of(token):
            while row + 1 < layout.rows and layout.starts[row + 1] <= piece:
                row += 1
            painter.drawRoundedRect(self._box(piece, row).adjusted(-0.5, -1, 0.5, 1), _CORNER_PX, _CORNER_PX)

    def _name(self) -> None:
        """Say to those who listen what is looked at."""
        self.setAccessibleName(self.tr("Tokens of the answer"))
        answer, token = self._answer, self._current
        if answer is not None and token is not None and token < len(answer):
            self.setAccessibleName(sentence_of(answer, token))

    def _box(self, piece: int, row: int) -> QRectF:
        assert self._layout is not None
        top = row * self._row_px - self.verticalScrollBar().value()
        left, width = self._layout.lefts[piece] + _EDGE_PX, self._layout.widths[piece]
        return QRectF(left, top + 3, width, self._row_px - 6)


_NOT_OURS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
