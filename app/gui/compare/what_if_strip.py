"""All tokens of a lane under other settings as a row of bars: how probable each was, which would have been cut, by what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QBrush,
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.compare.lane_mark import lane_colour
from app.gui.compare.what_if_lines import stage_pen
from app.gui.compare.what_if_words import token_state
from app.services.lane_analysis import LaneWhatIf, TextSpan, WhatIfToken

HEIGHT_PX = 56
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_PageUp: -10, Qt.Key.Key_PageDown: 10}


class WhatIfStrip(QWidget):
    """The arrow keys walk the tokens."""

    token_changed = Signal(str)
    """Another token is looked at: what is known of it."""
    looked_at = Signal(object)
    """Another token is looked at: its `TextSpan`, or None where that is not known."""

    def __init__(self, themes: theme.Themes, colour: str = "") -> None:
        """`colour` is the name of what the bars are painted in; without one it is that of the lane."""
        super().__init__()
        self._themes = themes
        self._colour = colour
        self._found: LaneWhatIf | None = None
        self._text = ""
        self._at: int | None = None
        self._picture: QPixmap | None = None
        """The bars; None where they are to be painted anew."""
        self.setObjectName("what_if_strip")
        self.setAccessibleName(self.tr("Tokens under these settings"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.scaled(HEIGHT_PX))
        themes.changed.connect(self._forget_picture)

    @property
    def has_tokens(self) -> bool:
        """Whether there is anything to point at."""
        return self._found is not None and bool(self._found.tokens)

    def show_found(self, found: LaneWhatIf | None, text: str) -> None:
        """Show other tokens; the place that somebody looks at stays."""
        self._found, self._text = found, text
        total = len(found.tokens) if found is not None else 0
        self._at = min(self._at, total - 1) if self._at is not None and total else None
        self._tell()
        self._forget_picture()

    def look_at(self, span: TextSpan) -> None:
        """Look at a token that somebody points at elsewhere."""
        spans = self._found.spans if self._found is not None else ()
        if span in spans:
            self._look_at(spans.index(span))

    def sizeHint(self) -> QSize:
        """Ask for a low row."""
        return QSize(240, self.minimumHeight())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Walk the tokens."""
        total = len(self._found.tokens) if self._found is not None else 0
        step = _STEPS.get(Qt.Key(event.key()))
        if not total:
            super().keyPressEvent(event)
        elif step is not None:
            is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
            self._look_at(min(max((self._at or 0) + (-step if is_turned else step), 0), total - 1))
        elif event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self._look_at(0 if event.key() == Qt.Key.Key_Home else total - 1)
        else:
            super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Look at the token under the pointer."""
        total = len(self._found.tokens) if self._found is not None else 0
        if total:
            x = event.position().x()
            x = self.width() - x if self.layoutDirection() is Qt.LayoutDirection.RightToLeft else x
            self._look_at(min(max(int(x * total / max(self.width(), 1)), 0), total - 1))

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Look at the first token."""
        super().focusInEvent(event)
        if self._at is None and self._found is not None and self._found.tokens:
            self._look_at(0)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        super().focusOutEvent(event)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint the bars anew."""
        super().resizeEvent(event)
        self._picture = None

    def changeEvent(self, event: QEvent) -> None:
        """Turn the bars round where the language runs the other way."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LayoutDirectionChange:
            self._forget_picture()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the bars, which are the same while people walk them."""
        painter = QPainter(self)
        look, found = self._themes.current, self._found
        if self._picture is None or self._picture.devicePixelRatio() != self.devicePixelRatio():
            self._picture = self._painted(look)
        painter.drawPixmap(0, 0, self._picture)
        if found is not None and found.tokens and self._at is not None:
            self._turn(painter)
            step = self.width() / len(found.tokens)
            painter.setPen(QPen(look.colour("accent"), 2))
            painter.drawRect(QRectF(self._at * step, 1, max(step, 3.0), self.height() - 2))
            painter.resetTransform()
        if self.hasFocus():
            painter.setPen(QPen(look.colour("accent"), look.line_px + 1))
            painter.drawRect(self.rect().adjusted(1, 1, -1, -1))
        painter.end()

    def _painted(self, look: theme.Theme) -> QPixmap:
        """Return a picture of the bars."""
        ratio = self.devicePixelRatio()
        picture = QPixmap((self.size().toSizeF() * ratio).toSize())
        picture.setDevicePixelRatio(ratio)
        picture.fill(look.colour("sunken"))
        tokens = self._found.tokens if self._found is not None else ()
        painter = QPainter(picture)
        self._turn(painter)
        step = self.width() / max(len(tokens), 1)
        stages = {token.stage for token in tokens if token.state == "cut"}
        pens = {stage: stage_pen(stage or "", look) for stage in stages}
        for number in _seen(tokens, self.width()):
            place = QRectF(number * step, 0, max(step, 1.0), self.height())
            self._paint_token(painter, look, tokens[number], place, pens)
        painter.end()
        return picture

    def _turn(self, painter: QPainter) -> None:
        """Let the first token be at the right where the language runs from there."""
        if self.layoutDirection() is Qt.LayoutDirection.RightToLeft:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)

    def _forget_picture(self) -> None:
        self._picture = None
        self.update()

    def _paint_token(
        self, painter: QPainter, look: theme.Theme, token: WhatIfToken, place: QRectF, pens: dict[str | None, QPen]
    ) -> None:
        room = place.height() - 4
        bar = QRectF(place.left(), 2, max(place.width() - (1 if place.width() > 3 else 0), 1.0), room)
        if token.state == "cut":
            tint = look.colour("danger")
            tint.setAlphaF(0.18)
            painter.fillRect(bar, tint)
            painter.setPen(pens[token.stage])
            middle = bar.center().x()
            painter.drawLine(QPointF(middle, bar.top()), QPointF(middle, bar.bottom()))
        elif token.state == "unknown":
            painter.fillRect(bar, QBrush(look.colour("muted"), Qt.BrushStyle.BDiagPattern))
        elif token.after is None:
            painter.fillRect(QRectF(bar.left(), bar.center().y() - 1, bar.width(), 2), look.colour("muted"))
        else:
            height = max(room * token.after, 1.0)
            painter.fillRect(
                QRectF(bar.left(), bar.bottom() - height, bar.width(), height),
                self._bar_colour(look),
            )

    def _bar_colour(self, look: theme.Theme) -> QColor:
        return look.colour(self._colour or lane_colour(self._found.lane if self._found is not None else 0))

    def _look_at(self, token: int) -> None:
        if token != self._at:
            self._at = token
            self._tell()
            self.update()

    def _tell(self) -> None:
        said = ""
        if self._found is not None and self._at is not None:
            said = token_state(self._found, self._at, self._text)
        self.setAccessibleDescription(said)
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.token_changed.emit(said)
        spans = self._found.spans if self._found is not None else ()
        self.looked_at.emit(spans[self._at] if self._at is not None and self._at < len(spans) else None)


def _seen(tokens: Sequence[WhatIfToken], width: int) -> Iterable[int]:
    """Return which tokens are painted: all, or of those that share a pixel the one that matters most."""
    if len(tokens) <= width:
        return range(len(tokens))
    most: dict[int, int] = {}
    for number, token in enumerate(tokens):
        column = number * width // len(tokens)
        other = most.get(column)
        if other is None or _matters(token) > _matters(tokens[other]):
            most[column] = number
    return most.values()


def _matters(token: WhatIfToken) -> float:
    """Return how much a token is worth seeing: a cut, then what is not known, then the least likely."""
    if token.state == "cut":
        return 3.0
    return 2.0 if token.state == "unknown" else 1.0 - (token.after or 0.0)
