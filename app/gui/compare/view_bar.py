"""The row over the lanes: lanes or branches, which differences are marked, and what leaves the program."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.exporting import ExportButton
from app.gui.compare.marks import Shown
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.words import set_hint


class ViewBar(QWidget):
    """Knows no lane and no analysis."""

    view_wanted = Signal(str)
    """Somebody wants to see “lanes” or “branches”."""
    shown_changed = Signal()
    """Other differences are to be marked: `shown` and `pair`."""
    zoom_wanted = Signal(int)
    """Somebody wants the branches larger (1) or smaller (-1)."""
    fit_wanted = Signal()
    """Somebody wants all of the branches in view."""

    def __init__(self, export: ExportButton) -> None:
        super().__init__()
        self.setObjectName("compare_view_bar")
        self.tabs = PageTabs(
            [
                ("lanes", "compare_lanes_tab", self.tr("Lanes"), self.tr("All lanes side by side")),
                (
                    "branches",
                    "compare_branches_tab",
                    self.tr("Branches"),
                    self.tr("All lanes as one tree that forks"),
                ),
            ]
        )
        self._differences = ChoiceBox()
        self._differences.setObjectName("differences_box")
        self._differences.setAccessibleName(self.tr("Differences that are marked"))
        choices: tuple[tuple[str, Shown], ...] = (
            (self.tr("First token"), "tokens"),
            (self.tr("Words"), "words"),
            (self.tr("Off"), "off"),
        )
        for words, shown in choices:
            self._differences.addItem(words, shown)
        set_hint(
            self._differences,
            self.tr("First token: where each lane leaves the baseline. Words: all words in which two lanes differ."),
        )
        self._first, self._second = ChoiceBox(), ChoiceBox()
        for box, name, words in (
            (self._first, "first_lane_box", self.tr("First lane whose words are compared")),
            (self._second, "second_lane_box", self.tr("Second lane whose words are compared")),
        ):
            box.setObjectName(name)
            box.setAccessibleName(words)
            set_hint(box, words)
        self._between = label("↔", look="muted")
        self._caption = label(self.tr("Differences"), look="muted", pixels=theme.SMALL_PX)
        self._caption.setBuddy(self._differences)
        self._smaller = _button("branches_smaller", "−", self.tr("Smaller (−)"))
        self._larger = _button("branches_larger", "+", self.tr("Larger (+)"))
        self._fit = _button("branches_fit", self.tr("Fit"), self.tr("Fit into the view (0)"))
        self._said = FixedText(name="compare_said_text")
        self._lay_out(export)
        self.tabs.wanted.connect(self.show_view)
        self._differences.currentIndexChanged.connect(lambda _index: self._change())
        for box in (self._first, self._second):
            box.currentIndexChanged.connect(lambda _index: self.shown_changed.emit())
        self._smaller.clicked.connect(lambda _checked=False: self.zoom_wanted.emit(-1))
        self._larger.clicked.connect(lambda _checked=False: self.zoom_wanted.emit(1))
        self._fit.clicked.connect(lambda _checked=False: self.fit_wanted.emit())
        self.show_view("lanes")

    @property
    def shown(self) -> Shown:
        """Which differences are marked."""
        found: Shown = self._differences.currentData()
        return found

    @property
    def pair(self) -> tuple[int, int] | None:
        """The two lanes whose words are compared; None where fewer are there."""
        first, second = self._first.currentData(), self._second.currentData()
        return None if first is None or second is None else (first, second)

    def show_view(self, name: str) -> None:
        """Show the lanes or the branches."""
        is_tree = name == "branches"
        self.tabs.show_page(name)
        for widget in (self._smaller, self._larger, self._fit):
            widget.setVisible(is_tree)
        self._caption.setVisible(not is_tree)
        self._differences.setVisible(not is_tree)
        self._show_pair(is_tree=is_tree)
        self.view_wanted.emit(name)

    def begin(self) -> None:
        """Another comparison is shown: at first plainly, whatever somebody wanted to see of an earlier one."""
        self._differences.setCurrentIndex(0)
        self.show_view("lanes")

    def say(self, words: str) -> None:
        """Say why nothing came of an analysis, or where a file is that was saved; nothing else."""
        self._said.set_text(words)
        set_hint(self._said, words)

    def offer(self, lanes: Sequence[int], baseline: int) -> None:
        """Offer lanes to be compared word by word, at first the baseline and another one."""
        before = self.pair
        others = [lane for lane in lanes if lane != baseline]
        wanted = before if before is not None and all(lane in lanes for lane in before) else None
        first, second = wanted or (baseline, others[0] if others else baseline)
        for box, lane in ((self._first, first), (self._second, second)):
            with QSignalBlocker(box):
                box.clear()
                for each in lanes:
                    box.addItem(LETTERS[each], each)
                box.setCurrentIndex(box.findData(lane))

    def _change(self) -> None:
        self._show_pair(is_tree=False)
        self.shown_changed.emit()

    def _show_pair(self, *, is_tree: bool) -> None:
        for widget in (self._first, self._between, self._second):
            widget.setVisible(self.shown == "words" and not is_tree)

    def _lay_out(self, export: ExportButton) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.tabs)
        row.addWidget(self._said, 1)
        for widget in (
            self._caption,
            self._differences,
            self._first,
            self._between,
            self._second,
            self._smaller,
            self._larger,
            self._fit,
        ):
            row.addWidget(widget)
        row.addWidget(export)


def _button(name: str, words: str, hint: str) -> QToolButton:
    made = QToolButton()
    made.setObjectName(name)
    made.setProperty("look", "outlined")
    made.setText(words)
    made.setAccessibleName(hint)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    set_hint(made, hint)
    return made
