"""When the card about a divergence is shown: while the pointer is at a mark, or until somebody who asked puts it away."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QRect, QTimer
from PySide6.QtGui import QCursor

from app.gui.compare.divergence_card import DivergenceCard
from app.gui.compare.lane_insight import LaneInsight
from app.gui.compare.marks import TokenMark
from app.services.lane_analysis import Analysis, LaneDivergence

LINGER_MS = 250
"""A card that came on hover stays so long when the pointer has left the mark, so that it can be reached."""


class DivergenceCards(QObject):
    """Shows the one card of a page for what is pointed at or asked for."""

    def __init__(self, card: DivergenceCard, parent: QObject) -> None:
        super().__init__(parent)
        self._card = card
        self._analysis: Analysis | None = None
        self._shown_from: LaneInsight | None = None
        """The lane whose card was asked for, and stays until somebody puts it away."""
        self._linger = QTimer(self)
        self._linger.setSingleShot(True)
        self._linger.setInterval(LINGER_MS)
        self._linger.timeout.connect(self._leave)
        card.closed.connect(self._free)

    def show_analysis(self, analysis: Analysis | None) -> None:
        """Know what is to be said."""
        self._analysis = analysis

    def show_for(self, insight: LaneInsight) -> None:
        """Show why a lane leaves the baseline, or why all others leave it here; asked for, the card stays."""
        marks = insight.overlay.badges  # of the first line, as the letter beside it says
        found = self._found(marks[0].lanes if marks else (insight.column.lane.index,))
        if not found:
            return
        insight.reveal()
        place = QRect(insight.column.mapToGlobal(QPoint(0, insight.column.height() // 3)), insight.column.size() / 4)
        if marks:
            inside = insight.overlay.place_of(marks[0].span)
            place = QRect(insight.column.text.viewport().mapToGlobal(inside.topLeft()), inside.size())
        self._shown_from = insight
        self._card.show_found(found, self._baseline, place, takes_focus=True)

    def point(self, mark: TokenMark | None, place: QRect) -> None:
        """Show the card of the mark under the pointer; without one it goes in a moment."""
        if self._shown_from is not None:
            return
        if mark is None:
            self._linger.start()
            return
        self._linger.stop()
        found = self._found(mark.lanes)
        if found:
            self._card.show_found(found, self._baseline, place, takes_focus=False)

    def put_away(self) -> None:
        """Put the card away because what it is about is not shown any more."""
        self._shown_from = None
        self._card.hide()

    def _found(self, lanes: tuple[int, ...]) -> tuple[LaneDivergence, ...]:
        analysis = self._analysis
        if analysis is None:
            return ()
        found = (analysis.divergence(lane) for lane in lanes)
        if lanes == (analysis.baseline,):
            found = (each for each in analysis.divergences)
        return tuple(each for each in found if each is not None)

    @property
    def _baseline(self) -> int:
        return self._analysis.baseline if self._analysis is not None else 0

    def _leave(self) -> None:
        if self._shown_from is not None:
            return
        if self._card.rect().contains(self._card.mapFromGlobal(QCursor.pos())):
            self._linger.start()
        else:
            self._card.hide()

    def _free(self) -> None:
        if self._shown_from is not None:
            self._shown_from.link.setFocus()
            self._shown_from = None
