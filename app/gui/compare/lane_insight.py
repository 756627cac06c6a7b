"""What an analysis adds to one lane: the marks in its text, a line that says where it differs, and its entropy."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.divergence_link import DivergenceLink
from app.gui.compare.divergence_words import card_words, shortest_words
from app.gui.compare.entropy_line import EntropyLine
from app.gui.compare.lane_column import LaneColumn
from app.gui.compare.lane_overlay import LaneOverlay
from app.services.lane_analysis import Analysis, TextSpan
from app.services.lanes_run import Lane, LanesRun
from app.services.live_lane import LiveLane
from app.services.units import count

_PLACE = 1
"""In the column: under the header, over the line."""


class LaneInsight(QObject):
    """Belongs to a column, and goes with it."""

    asked = Signal(int)
    """Somebody wants to know why a lane differs."""

    def __init__(self, column: LaneColumn, themes: theme.Themes) -> None:
        super().__init__(column)
        self.column = column
        lane = column.lane.index
        letter = LETTERS[lane].lower()
        self.overlay = LaneOverlay(lane, column.text, themes)
        self._live = LiveLane(column.lane)
        self.link = DivergenceLink(f"lane_divergence_{letter}")
        self._entropy = EntropyLine(lane, themes, f"lane_entropy_{letter}")
        self.link.clicked.connect(lambda: self.asked.emit(lane))
        layout = column.layout()
        assert isinstance(layout, QVBoxLayout)
        self._row = QWidget()
        row = QHBoxLayout(self._row)
        row.setContentsMargins(theme.SPACE_XS + 1, 0, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(self.link)
        row.addStretch(1)
        row.addWidget(self._entropy)
        layout.insertWidget(_PLACE, self._row)
        QWidget.setTabOrder(column.last_in_header, self.link)
        if column.text.margin_px < theme.SPACE_L:  # a small multiple has no room: its menu and the figures say it
            self._row.hide()

    def show_analysis(self, analysis: Analysis | None) -> None:
        """Show what is known of the lane now."""
        lane = self.column.lane.index
        known = analysis.lane(lane) if analysis is not None else None
        self.column.show_analysed(known.figures if known is not None else None)
        if self.column.lane.is_open:  # more of it came since
            self._show_link(analysis, lane)
            return
        values = known.entropies if known is not None else self._live.entropies
        whole = analysis.lanes if analysis is not None else ()
        known_of_all = (each for other in whole for each in other.entropies if each is not None)
        self._entropy.show_values(values, max(known_of_all, default=self._live.most_entropy or 1.0))
        self._show_link(analysis, lane)

    @property
    def most_entropy(self) -> float:
        """The highest entropy of the lane so far, in nats."""
        self._live.look()
        return self._live.most_entropy

    def show_live(self, run: LanesRun, analysis: Analysis | None, top: float) -> None:
        """Show how undecided the model was so far, and whether the lane left the baseline."""
        self._live.look()
        lane = self.column.lane
        if lane.is_open:
            self._entropy.show_values(self._live.entropies, top)
        if analysis is not None and analysis.divergence(lane.index) is not None:
            return
        baseline = next((each for each in run.lanes if each.index == run.comparison.baseline), None)
        if baseline is None or not (lane.is_open or baseline.is_open):
            return
        self.link.show_words(self._so_far(lane.index, baseline), self._later, can_press=False)

    @property
    def _later(self) -> str:
        return self.tr("Why lanes differ is known once they have ended.")

    def _so_far(self, lane: int, baseline: Lane) -> str:
        if lane == baseline.index:
            return self.tr("Baseline")
        if not self._live.lane.turn.ids or not baseline.turn.ids:
            return ""
        token = self._live.leaves(baseline)
        if token is None:
            return self.tr("The same as {baseline} so far").format(baseline=baseline.letter)
        words = self.tr("Leaves {baseline} at token {number}")
        return words.format(baseline=baseline.letter, number=count(token + 1))

    def reveal(self) -> None:
        """Scroll to the first token that differs."""
        if self.overlay.marks.tokens:
            self.overlay.reveal(self.overlay.marks.tokens[0].span)

    def go_to(self, span: TextSpan) -> None:
        """Frame a token and scroll to it."""
        self.overlay.look_at(span)
        self.overlay.reveal(span)

    def _same_words(self, analysis: Analysis, lane: int) -> str:
        """Return that a lane has the tokens of the baseline, as far as both are there."""
        both = [each for each in (analysis.lane(lane), analysis.lane(analysis.baseline)) if each is not None]
        if any(not each.figures.length for each in both):
            own = analysis.lane(lane)
            wrote_none = own is not None and not own.figures.length
            return self.tr("It wrote nothing") if wrote_none else self.tr("{baseline} wrote nothing")
        if any(each.is_open or each.is_cut_short for each in both):
            return self.tr("The same tokens as {baseline} so far")
        return self.tr("The same tokens as {baseline}")

    def _is_to_go_on(self, analysis: Analysis, lane: int) -> bool:
        both = analysis.lane(lane), analysis.lane(analysis.baseline)
        return any(each is not None and each.is_open for each in both)

    def _show_link(self, analysis: Analysis | None, lane: int) -> None:
        if analysis is None or analysis.lane(lane) is None:
            if not self.column.lane.is_open:
                self.link.show_words("", self._later, can_press=False)
            return
        baseline = LETTERS[analysis.baseline]
        if lane == analysis.baseline:
            found = [each for each in analysis.divergences if each is not None]
            first = min((each.token for each in found), default=None)
            if first is None:
                words = self.tr("Baseline; no lane differs from it")
                if not self.column.lane.turn.ids:
                    words = self.tr("Baseline; it wrote nothing")
                elif any(each.is_open or each.is_cut_short for each in analysis.lanes):
                    words = self.tr("Baseline; no lane differs from it so far")
            else:
                words = self.tr("Others leave at {number}").format(number=count(first + 1))
            self.link.show_words(words, "", can_press=bool(found))
            return
        found_here = analysis.divergence(lane)
        if found_here is None and self._is_to_go_on(analysis, lane):
            return  # what is known so far is said while it is written
        if found_here is None:
            self.link.show_words(self._same_words(analysis, lane).format(baseline=baseline), "", can_press=False)
            return
        said = card_words(found_here, analysis.baseline)
        self.link.show_words(shortest_words(found_here), said, can_press=True)
