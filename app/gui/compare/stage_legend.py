"""Which line stands for which stage under the tokens that it would have cut, how many these are, and the other marks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.compare.divergence_words import percent
from app.gui.compare.marks import UNLIKELY
from app.gui.compare.what_if_lines import paint_greedy, paint_unlikely, stage_pen
from app.gui.widgets.stage_words import cutter_words
from app.services.units import count

SAMPLE_PX = 26


class _Entry(NamedTuple):
    """One mark and what it stands for."""

    kind: Literal["cut", "unknown", "unlikely", "greedy"]
    words: str
    stage: str = ""


class StageLegend(QWidget):
    """A piece of each mark, its name and a number; as many lines as that takes."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._entries: list[_Entry] = []
        self.setObjectName("what_if_legend")
        self.setFont(theme.font(theme.SMALL_PX))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._line_px = QFontMetrics(self.font()).height() + 4
        self.setFixedHeight(self._line_px)
        themes.changed.connect(self.update)

    def show_cuts(
        self, cuts: Mapping[str, int], unknown: int, unlikely: int = 0, *, leaves_greedy: bool = False
    ) -> None:
        """Show how many tokens each stage would have cut, of how many that is not known, and what else is marked."""
        words = self.tr("cut by {stage}: {count}")
        entries = [
            _Entry("cut", words.format(stage=cutter_words(stage), count=count(cuts[stage])), stage)
            for stage in cuts
            if cuts[stage]
        ]
        if unknown:
            entries.append(_Entry("unknown", self.tr("not known: {count}").format(count=count(unknown))))
        if unlikely:
            words = self.tr("in the text: left with less than {percent}: {count}")
            entries.append(_Entry("unlikely", words.format(percent=percent(UNLIKELY), count=count(unlikely))))
        if leaves_greedy:
            entries.append(_Entry("greedy", self.tr("in the text: greedy would leave here")))
        self._entries = entries
        self.setAccessibleName(", ".join(entry.words for entry in entries))
        self._take_height()
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for the lines."""
        return QSize(120, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take more lines where they are shorter."""
        super().resizeEvent(event)
        self._take_height()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the entries one after another."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        look, is_turned = self._themes.current, self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        for entry, at, line in self._places():
            width = self._width_of(entry)
            sample = QRectF(self.width() - at - SAMPLE_PX if is_turned else at, line, SAMPLE_PX, self._line_px)
            self._paint_sample(painter, entry, sample, look)
            begin = at + SAMPLE_PX + theme.SPACE_XS
            left = self.width() - begin - width if is_turned else begin
            painter.setPen(look.colour("text"))
            painter.drawText(QRectF(left, line, width, self._line_px), Qt.AlignmentFlag.AlignVCenter, entry.words)
        painter.end()

    def _paint_sample(self, painter: QPainter, entry: _Entry, place: QRectF, look: theme.Theme) -> None:
        middle = place.center().y()
        if entry.kind == "greedy":
            paint_greedy(painter, place.center().x(), place.top() + 2, place.bottom() - 2, look)
        elif entry.kind == "unlikely":
            paint_unlikely(painter, place.adjusted(0, 3, 0, -3), look)
        else:
            painter.setPen(stage_pen(entry.stage, look, is_certain=entry.kind == "cut"))
            painter.drawLine(QPointF(place.left(), middle), QPointF(place.right(), middle))

    def _places(self) -> list[tuple[_Entry, float, float]]:
        """Return where each entry begins: how far from the edge, and the top of its line."""
        placed, at, top = [], 0.0, 0.0
        for entry in self._entries:
            taken = SAMPLE_PX + theme.SPACE_XS + self._width_of(entry)
            if at and at + taken > self.width():
                at, top = 0.0, top + self._line_px
            placed.append((entry, at, top))
            at += taken + theme.SPACE_L
        return placed

    def _width_of(self, entry: _Entry) -> int:
        return QFontMetrics(self.font()).horizontalAdvance(entry.words) + 2

    def _take_height(self) -> None:
        placed = self._places()
        self.setFixedHeight(round(placed[-1][2] if placed else 0) + self._line_px)
