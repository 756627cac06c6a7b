"""Which line stands for which stage under the tokens that it would have cut, and how many these are."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.gui import theme
from app.gui.compare.divergence_words import stage_title
from app.gui.compare.lane_overlay import stage_pen
from app.services.units import count

SAMPLE_PX = 26


class StageLegend(QWidget):
    """One line: a piece of each stage's line, its name and a number."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._entries: list[tuple[str, bool, str]] = []
        self.setObjectName("what_if_legend")
        self.setFont(theme.font(theme.SMALL_PX))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(QFontMetrics(self.font()).height() + 4)
        themes.changed.connect(self.update)

    def show_cuts(self, cuts: Mapping[str, int], unknown: int) -> None:
        """Show how many tokens each stage would have cut, and of how many that is not known."""
        self._entries = [(stage, True, f"{stage_title(stage)} {count(cuts[stage])}") for stage in cuts if cuts[stage]]
        if unknown:
            self._entries.append(("", False, self.tr("not known {count}").format(count=count(unknown))))
        self.setAccessibleName(", ".join(words for _stage, _certain, words in self._entries))
        self.update()

    def sizeHint(self) -> QSize:
        """Ask for one line."""
        return QSize(120, self.minimumHeight())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the entries one after another."""
        painter = QPainter(self)
        look, metrics = self._themes.current, QFontMetrics(self.font())
        is_turned = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        at, middle = 0.0, self.height() / 2
        for stage, is_certain, words in self._entries:
            width = metrics.horizontalAdvance(words) + 2
            left = self.width() - at - SAMPLE_PX if is_turned else at
            painter.setPen(stage_pen(stage, look, is_certain=is_certain))
            painter.drawLine(QPointF(left, middle), QPointF(left + SAMPLE_PX, middle))
            at += SAMPLE_PX + theme.SPACE_XS
            left = self.width() - at - width if is_turned else at
            painter.setPen(look.colour("text"))
            painter.drawText(QRectF(left, 0, width, self.height()), Qt.AlignmentFlag.AlignVCenter, words)
            at += width + theme.SPACE_L
        painter.end()
