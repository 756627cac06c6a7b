"""The tokens that were looked at most, the largest share first: what each says, its place, a bar and its share."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.ground import paint_ground, stand_alone
from app.gui.inside.attention.words import token_words
from app.gui.widgets.token_words import known_per_cent
from app.services.attention_text import AttentionText
from app.services.units import count

MOST = 10
ROW_PX = 24
_TOKEN_SHARE, _FIGURE_PX, _PLACE_PX = 0.5, 56, 44
_LONGEST_TOKEN = 28


class StrongestTokens(QWidget):
    """Shows up to ten rows; a click or the arrow keys look at a token."""

    looked_at = Signal(int)
    """Somebody wants to see a token in the text."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self.setObjectName("attention_strongest")
        self._themes = themes
        self._text: AttentionText | None = None
        self._found: tuple[tuple[int, float], ...] = ()
        self._current: int | None = None
        self.setFont(theme.font(theme.BASE_PX))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        stand_alone(self)
        themes.changed.connect(self.update)
        self._name()

    @property
    def found(self) -> tuple[tuple[int, float], ...]:
        """The tokens that are shown, with their shares."""
        return self._found

    def show_found(self, text: AttentionText | None, found: tuple[tuple[int, float], ...]) -> None:
        """Show others."""
        self._text, self._found = text, found[:MOST] if text is not None else ()
        self.setFixedHeight(max(len(self._found), 1) * theme.scaled(ROW_PX))
        self._name()
        self.update()

    def show_token(self, token: int | None) -> None:
        """Mark the token that is looked at."""
        if token != self._current:
            self._current = token
            self._name()
            self.update()

    def sizeHint(self) -> QSize:
        """Ask for ten rows."""
        return QSize(theme.scaled(300), self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the rows."""
        painter = QPainter(self)
        paint_ground(painter, self)
        text, look, height = self._text, self._themes.current, theme.scaled(ROW_PX)
        left, figure = self.width() * _TOKEN_SHARE, theme.scaled(_FIGURE_PX)
        for row, (token, share) in enumerate(self._found):
            if text is None:
                break
            box = QRectF(0, row * height, self.width(), height)
            if token == self._current:
                painter.fillRect(box, look.colour("pressed"))
            painter.setPen(look.colour("text"))
            name = painter.fontMetrics().elidedText(
                token_words(text, token, _LONGEST_TOKEN),
                Qt.TextElideMode.ElideRight,
                round(left) - theme.SPACE_S - theme.scaled(_PLACE_PX),
            )
            side = Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box.adjusted(theme.SPACE_XS, 0, 0, 0), side | Qt.AlignmentFlag.AlignLeft, name)
            painter.setPen(look.colour("muted"))
            place = QRectF(0, box.top(), left - theme.SPACE_S, height)
            painter.drawText(place, side | Qt.AlignmentFlag.AlignRight, count(token + 1))
            painter.setPen(look.colour("text"))
            room = QRectF(left, box.top() + 6, self.width() - left - figure, height - 12)
            painter.fillRect(room, look.colour("sunken"))
            painter.fillRect(
                QRectF(room.left(), room.top(), room.width() * min(share, 1.0), room.height()),
                look.colour("stage_kv"),
            )
            painter.drawText(
                box.adjusted(0, 0, -theme.SPACE_XS, 0), side | Qt.AlignmentFlag.AlignRight, known_per_cent(share)
            )
        if self.hasFocus():
            painter.setPen(QPen(look.colour("accent"), 2))
            painter.drawRect(QRectF(self.rect()).adjusted(1, 1, -1, -1))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the token under the pointer."""
        row = int(event.position().y() // theme.scaled(ROW_PX))
        if 0 <= row < len(self._found):
            self.looked_at.emit(self._found[row][0])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Look at the token of the row above or below."""
        steps = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._found:
            super().keyPressEvent(event)
            return
        rows = [token for token, _ in self._found]
        at = rows.index(self._current) + step if self._current in rows else 0
        self.looked_at.emit(rows[min(max(at, 0), len(rows) - 1)])

    def event(self, event: QEvent) -> bool:
        """Show where the keyboard is."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        return super().event(event)

    def _name(self) -> None:
        said = self.tr("The tokens that were looked at most")
        text = self._text
        if text is not None and self._found:
            rows = [
                f"{token_words(text, token)} ({count(token + 1)}) {known_per_cent(share)}"
                for token, share in self._found
            ]
            chosen = next((row for row, (token, _) in enumerate(self._found) if token == self._current), None)
            said = f"{said}: " + " · ".join(rows)
            if chosen is not None:
                said = self.tr("{number}. {row}").format(number=count(chosen + 1), row=rows[chosen])
        self.setAccessibleName(said)
