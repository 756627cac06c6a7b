"""What if a lane had been written with other settings: sliders, and what its record says of each of its tokens then."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.compare.marks import is_unlikely
from app.gui.compare.stage_legend import StageLegend
from app.gui.compare.what_if_settings import WhatIfSettings
from app.gui.compare.what_if_strip import WhatIfStrip
from app.gui.compare.what_if_words import cut_words, exactness_words, greedy_words, likelihood_words
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.gui.widgets.words import render
from app.services.lane_analysis import LaneWhatIf, TextSpan
from app.services.lanes_run import Lane

SETTINGS_PX = 380
BESIDE_TEXT_PX = 330
"""What is left for them beside a text to be read."""


class WhatIfPanel(QWidget):
    """Asks for a replay whenever something moves; what came of it is shown once it is there."""

    asked = Signal(int, object)
    """Somebody wants to know: the lane and other `SamplingSettings`."""
    chosen = Signal(int)
    """Somebody chose a lane."""
    looked_at = Signal(object)
    """Another token is looked at: its `TextSpan`, or None."""
    grown = Signal()
    """It became higher: all of it is to be in view."""

    def __init__(self, themes: theme.Themes, text: QWidget | None = None) -> None:
        """`text` is that of a single answer, which has no letter: it stands above what is said of it."""
        super().__init__()
        self.setObjectName("what_if_panel")
        self._text = text
        self._lanes: dict[int, Lane] = {}
        self._settings: SamplingSettings | None = None
        self._is_chosen = False
        """Whether somebody chose the lane: then it stays."""
        self._box = ChoiceBox()
        self._box.setObjectName("what_if_lane_box")
        self._box.setAccessibleName(self.tr("Lane whose answer is replayed"))
        self._reset = QPushButton(self.tr("As it was"))
        self._reset.setObjectName("what_if_reset_button")
        self._sliders = WhatIfSettings(grows=text is None)
        self._cuts = label(bold=True, name="what_if_cuts")
        self._likelihood = label(name="what_if_likelihood")
        self._greedy = label(name="what_if_greedy")
        self._token = label(look="muted", pixels=theme.SMALL_PX, name="what_if_token")
        self._exactness = label(look="muted", pixels=theme.SMALL_PX, name="what_if_exactness")
        self._legend = StageLegend(themes)
        self._strip = WhatIfStrip(themes) if text is None else WhatIfStrip(themes, "stage_sampling")
        for each in (self._cuts, self._likelihood, self._greedy, self._token, self._exactness):
            each.setWordWrap(True)
        self._lay_out()
        self._box.currentIndexChanged.connect(lambda _index: self._take_lane())
        self._box.activated.connect(lambda index: self.choose(self._box.itemData(index)))
        self._reset.clicked.connect(self._take_lane)
        self._strip.token_changed.connect(self._show_token)
        self._strip.looked_at.connect(self.looked_at)
        self._sliders.changed.connect(self._take_settings)
        self._sliders.grown.connect(self.grown)

    @property
    def lane(self) -> int | None:
        """Index of the lane that is looked at."""
        return self._box.currentData() if self._lanes else None

    def show_lanes(self, lanes: Sequence[tuple[Lane, str]], baseline: int) -> None:
        """Offer lanes that have ended, each with its name; the one that somebody chose stays."""
        before = self.lane
        known = [lane.index for lane, _name in lanes]
        is_same = before in known and self._lanes.get(before or 0) is next(
            (lane for lane, _name in lanes if lane.index == before), None
        )
        wanted = before if self._is_chosen and is_same else baseline
        self._lanes = {lane.index: lane for lane, _name in lanes}
        with QSignalBlocker(self._box):
            self._box.clear()
            for lane, name in lanes:
                self._box.addItem(f"{LETTERS[lane.index]}  {name}" if self._text is None else name, lane.index)
            self._box.setCurrentIndex(max(self._box.findData(wanted), 0))
        is_any = bool(lanes)
        for widget in (self._box, self._reset):
            widget.setEnabled(is_any)
        self._sliders.set_usable(is_any)
        if not is_any:
            self.show_found(None)
            self._cuts.setText(self.tr("A lane that has ended can be replayed under other settings."))
        elif self.lane != before or not is_same or self._settings is None:
            self._take_lane()
        else:
            self._show_settings()

    def choose(self, lane: int) -> None:
        """Look at a lane."""
        place = self._box.findData(lane)
        self._is_chosen = True
        if place >= 0:
            self._box.setCurrentIndex(place)
            self.chosen.emit(lane)

    def look_at(self, span: TextSpan) -> None:
        """Look at a token that somebody points at in the text."""
        self._strip.look_at(span)

    def take_focus(self) -> None:
        """Let the keyboard begin with the first slider."""
        self._sliders.take_focus()

    def ask(self) -> None:
        """Ask again, as the sliders stand."""
        if self._settings is not None and self.lane is not None:
            self.asked.emit(self.lane, self._settings)

    def show_found(self, found: LaneWhatIf | None) -> None:
        """Show what came of a question; what is about another lane is not shown."""
        if found is not None and found.lane != self.lane:
            return
        lane = self._lanes.get(found.lane) if found is not None else None
        known = found if found is not None and found.problem is None else None
        self._strip.show_found(known, lane.turn.text if lane is not None else "")
        if known is not None and lane is not None:
            self._show_known(known, lane)
            return
        for each in (self._likelihood, self._greedy):
            each.setText("")
        problem = found.problem if found is not None else None
        self._cuts.setText(render(problem) if problem is not None else "")
        self._say_exactness("")
        self._legend.show_cuts({}, 0)

    def show_problem(self, words: str) -> None:
        """Say why nothing came of a question."""
        self.show_found(None)
        self._cuts.setText(words)

    def _show_known(self, known: LaneWhatIf, lane: Lane) -> None:
        unlikely = sum(map(is_unlikely, known.tokens))
        leaves_greedy = known.greedy_leaves_at is not None
        self._legend.show_cuts(known.cuts, known.unknown, unlikely, leaves_greedy=leaves_greedy)
        self._cuts.setText(cut_words(known))
        self._likelihood.setText(likelihood_words(known))
        self._greedy.setText(greedy_words(known))
        self._say_exactness(exactness_words(known.settings, lane.turn, known))

    def _say_exactness(self, words: str) -> None:
        self._exactness.setText(words)
        self._exactness.setVisible(bool(words))

    def _lay_out(self) -> None:
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_XS)
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.setContentsMargins(0, 0, theme.SPACE_S, 0)  # as far from the edge as the sliders
        if self._text is None:
            head.addWidget(self._box, 1)
        else:
            self._box.setParent(self)  # it stays, and says which answer it is
            self._box.hide()
            head.addWidget(label(self.tr("Replayed with"), bold=True), 1)
        head.addWidget(self._reset)
        left.addLayout(head)
        left.addWidget(self._sliders, 1)
        held = QWidget()
        held.setFixedWidth(theme.scaled(SETTINGS_PX if self._text is None else BESIDE_TEXT_PX))
        left.setContentsMargins(0, 0, 0, 0)
        held.setLayout(left)
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_XS)
        if self._text is not None:
            right.addWidget(self._text, 1)
            right.addSpacing(theme.SPACE_XS)
        for widget in (self._cuts, self._legend, self._strip, self._token, self._likelihood, self._greedy):
            right.addWidget(widget)
        right.addWidget(self._exactness)
        if self._text is None:
            right.addStretch(1)
        both = QHBoxLayout(self)
        both.setContentsMargins(0, 0, 0, 0)
        both.setSpacing(theme.SPACE_XL)
        both.addWidget(held)
        both.addLayout(right, 1)

    def _take_lane(self) -> None:
        """Begin with the settings that the lane was written with."""
        lane = self._lanes.get(self.lane) if self.lane is not None else None
        if lane is not None:
            self._settings = lane.settings
            self._show_settings()
            self.ask()

    def _take_settings(self, settings: SamplingSettings) -> None:
        self._settings = settings
        self._show_reset()
        self.ask()

    def _show_settings(self) -> None:
        if self._settings is not None:
            self._sliders.show_values(self._settings)
            self._show_reset()

    def _show_reset(self) -> None:
        lane = self._lanes.get(self.lane) if self.lane is not None else None
        self._reset.setEnabled(lane is not None and self._settings != lane.settings)

    def _show_token(self, said: str) -> None:
        hint = self.tr("Point at a bar, or walk them with the arrow keys.") if self._strip.has_tokens else ""
        self._token.setText(said or hint)
