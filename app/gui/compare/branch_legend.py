"""What length and width stand for in a tree of lanes: a sentence each, and lines of a few widths."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.gui import theme
from app.gui.compare.branch_layout import THICKEST_PX, THINNEST_PX
from app.gui.compare.branch_words import legend_sentence, legend_words
from app.gui.compare.divergence_words import percent
from app.services.lane_analysis import BranchNode

SAMPLES = (1.0, 0.5, 0.1)
_SAMPLE_PX = 24.0


class BranchLegend:
    """The legend of one tree, broken into lines for a width."""

    def __init__(self, tree: Sequence[BranchNode], width: float) -> None:
        self._metrics = QFontMetricsF(theme.font(theme.SMALL_PX))
        self._line_px = round(self._metrics.height()) + theme.SPACE_XS
        self._entries: list[tuple[QPointF, str, float | None]] = []
        """Where each begins, its words, and how probable the line before it is."""
        length, likely, unknown = legend_words(tree)
        samples = [(percent(each), each) for each in SAMPLES]
        groups: list[list[tuple[str, float | None]]] = [[(length, None)]]
        groups += [[(likely, None), *samples]] if likely else []
        groups += [[(unknown, None)]] if unknown else []
        at, top = 0.0, 0.0
        for group in groups:
            whole = sum(self._taken(*each) + theme.SPACE_M for each in group)
            if at and at + whole > width:
                at, top = 0.0, top + self._line_px
            for words, sample in group:
                self._entries.append((QPointF(at, top), words, sample))
                at += self._taken(words, sample) + theme.SPACE_M
            at += theme.SPACE_M
        self.height = top + self._line_px
        self.sentence = legend_sentence(tree)

    def _taken(self, words: str, sample: float | None) -> float:
        line = _SAMPLE_PX + theme.SPACE_XS if sample is not None else 0.0
        return self._metrics.horizontalAdvance(words) + line

    def paint(self, painter: QPainter, look: theme.Theme) -> None:
        """Paint it with its corner at the painter's."""
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        painter.setFont(theme.font(theme.SMALL_PX))
        for place, words, sample in self._entries:
            left = place.x()
            if sample is not None:
                pen = QPen(look.colour("border_strong"), max(THINNEST_PX, THICKEST_PX * sample))
                pen.setCapStyle(Qt.PenCapStyle.FlatCap)
                painter.setPen(pen)
                middle = place.y() + self._line_px / 2
                painter.drawLine(QPointF(left, middle), QPointF(left + _SAMPLE_PX, middle))
                left += _SAMPLE_PX + theme.SPACE_XS
            painter.setPen(look.colour("muted"))
            room = QRectF(left, place.y(), self._metrics.horizontalAdvance(words) + 2, self._line_px)
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, words)


class LegendStrip(QWidget):
    """Shows a legend under the tree."""

    def __init__(self, themes: theme.Themes, parent: QWidget) -> None:
        super().__init__(parent)
        self._themes = themes
        self._legend: BranchLegend | None = None
        self.setObjectName("branch_legend")
        themes.changed.connect(self.update)

    def show_legend(self, legend: BranchLegend) -> None:
        """Show another one."""
        self._legend = legend
        self.setAccessibleName(legend.sentence)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint it, on the ground of the tree."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._themes.current.colour("surface"))
        painter.fillRect(0, 0, self.width(), 1, self._themes.current.colour("border"))
        if self._legend is not None:
            painter.translate(theme.SPACE_XL - 2, theme.SPACE_XS)
            self._legend.paint(painter, self._themes.current)
        painter.end()
