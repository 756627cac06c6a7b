"""What the colours and lines under tokens stand for, in words and numbers. Painted; knows no answer."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.inside.shades import LINES_PX, Colouring, shades, title_of, words_of
from app.gui.inside.token_paint import paint_chosen
from app.gui.inside.token_sentences import nat_hint
from app.gui.widgets.words import set_hint

_SWATCH_PX, _ROW_PX, _GAP_PX = 20, 20, 6
_CHOSEN, _UNKNOWN = "chosen", "unknown"


class TokenLegend(QWidget):
    """One line of steps; as many lines as the width needs."""

    def __init__(self, themes: theme.Themes, *, signs: bool = True) -> None:
        """`signs` are what stands at tokens beside their colours."""
        super().__init__()
        self.setObjectName("token_legend")
        self._has_signs = signs
        self.setFont(theme.font(theme.SMALL_PX))
        self._themes = themes
        self._colouring: Colouring = "probability"
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        themes.changed.connect(self.update)
        self.show_colouring("probability")

    def show_colouring(self, colouring: Colouring) -> None:
        """Explain another colouring."""
        self._colouring = colouring
        said = [words for _kind, words in self._items()]
        self.setAccessibleName(" · ".join(said))
        set_hint(self, nat_hint() if colouring == "entropy" else "")
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for its lines."""
        return QSize(theme.scaled(400), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Be as high as its lines are in another width."""
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the items."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look = self._themes.current
        ramp = shades(look, self._colouring)
        for place, kind, words in self._placed(self.width()):
            left = place.left()
            if kind != "":
                self._paint_swatch(painter, QRectF(left, place.top() + 2, _SWATCH_PX, place.height() - 4), kind, look)
                left += _SWATCH_PX + _GAP_PX
            if kind.isdigit():
                step = int(kind)
                box = QRectF(place.left(), place.top() + 2, _SWATCH_PX, place.height() - 4)
                painter.fillRect(box, ramp[step].ground)
                thick = LINES_PX[step]
                painter.fillRect(QRectF(box.left(), box.bottom() - thick, box.width(), thick), ramp[step].line)
                painter.setPen(QPen(look.colour("border"), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(box)
            painter.setPen(look.colour("muted"))
            room = QRect(left, place.top(), place.right() - left + 1, place.height())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, words)
        painter.end()

    def _items(self) -> list[tuple[str, str]]:
        """Return what is shown: a step's number or a sign, and words."""
        steps = words_of(self._colouring)
        title = title_of(self._colouring)
        items = [("", f"{title}:")] if title else []
        items += [(str(step), words) for step, words in enumerate(steps)]
        if not self._has_signs:
            return items or [("", "")]
        if steps:
            items.append((_UNKNOWN, self.tr("not recorded")))
        return [*items, (_CHOSEN, self.tr("chosen by hand"))]

    def _fit(self) -> None:
        placed = self._placed(max(self.width(), 1))
        self.setFixedHeight(placed[-1][0].bottom() + 1)

    def _placed(self, width: int) -> list[tuple[QRect, str, str]]:
        metrics, height = QFontMetrics(self.font()), theme.scaled(_ROW_PX)
        left, top = 0, 0
        placed: list[tuple[QRect, str, str]] = []
        for kind, words in self._items():
            needed = metrics.horizontalAdvance(words) + (_SWATCH_PX + _GAP_PX if kind else 0) + 2
            if left and left + needed > width:
                left, top = 0, top + height
            placed.append((QRect(left, top, needed, height), kind, words))
            left += needed + theme.SPACE_M
        return placed

    @staticmethod
    def _paint_swatch(painter: QPainter, box: QRectF, kind: str, look: theme.Theme) -> None:
        if kind == _UNKNOWN:
            painter.setPen(QPen(look.colour("muted"), 1.0, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(box.left(), box.bottom() - 2), QPointF(box.right(), box.bottom() - 2))
        elif kind == _CHOSEN:
            paint_chosen(painter, box.center(), look.colour("stage_sampling"))
