"""Where a comparison is set up: its prompt, a quick start, its lanes, and the button that begins it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.core.comparison import LETTERS, MOST_AT_ONCE
from app.core.sampling import BOUNDS, SamplingSettings
from app.gui import theme
from app.gui.compare.lane_row import LaneRow
from app.gui.compare.lane_settings import LaneSettingsDialog
from app.gui.compare.lane_words import BETWEEN, cell_name, lane_name, outlook_words, seed_words, shared_words
from app.gui.compare.lanes_draft import LanesDraft
from app.gui.compare.prompt_choice import PromptChoice
from app.gui.compare.removed_lane import RemovedLane
from app.gui.compare.start_cards import StartCards
from app.gui.icons import Icons
from app.gui.sampling.limits import ANSWER_STEP
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.gui.widgets.paragraph import Paragraph
from app.gui.widgets.words import render, set_hint
from app.services.comparing import Comparing
from app.services.lane_outlook import LaneOutlook
from app.services.lane_starts import Lanes, Start, differing, same_as
from app.services.sampling import Sampling
from app.services.turns import Turn

COLUMN_PX = 920
LIMIT_PX = 92


class SetupView(QWidget):
    """The page before a comparison runs."""

    started = Signal(object)
    """A comparison is to begin: its `Lanes`; the prompt is that of `prompt`."""
    running_wanted = Signal()
    """Somebody wants to see the comparison that runs."""

    def __init__(self, comparing: Comparing, sampling: Sampling, themes: theme.Themes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("compare_set_up")
        self._comparing = comparing
        self._sampling = sampling
        self._themes = themes
        self._icons = icons
        self._is_of_answer = False
        self.draft = LanesDraft(sampling.values)
        self.prompt = PromptChoice()
        self._starts = StartCards(themes)
        self._rows: list[LaneRow] = []
        self._list = QVBoxLayout()
        self._add = QPushButton(self.tr("Add a lane"))
        self._removed = RemovedLane()
        self._limit = NumberBox(
            BOUNDS["max_tokens"].low,
            BOUNDS["max_tokens"].high,
            whole=True,
            words={0: self.tr("no limit")},
            step=ANSWER_STEP,
        )
        self._start = QPushButton(self.tr("Start"))
        self._reason = FixedText(name="compare_reason")
        self._planned = Paragraph(lines=1, name="compare_outlook")
        self._outlook: LaneOutlook | None = None
        self._running = QPushButton(self.tr("Show the comparison that runs"))
        self._name_parts()
        self._lay_out()
        self.prompt.changed.connect(self.show_refusal)
        self.prompt.used.connect(self._start.click)
        self._starts.chosen.connect(self._use_start)
        self._starts.grid_made.connect(self._use_grid)
        self._add.clicked.connect(self._add_lane)
        self._removed.wanted.connect(self._restore_lane)
        self._limit.valueChanged.connect(self._use_limit)
        self._start.clicked.connect(lambda: self.started.emit(self.draft.lanes))
        self._running.clicked.connect(self.running_wanted)
        themes.text_size_changed.connect(self.prompt.use_text_size)
        self._show()

    def offer(self, question: Turn | None, draft: str, *, can_write: bool) -> None:
        """Offer what can be compared in the chat that is shown."""
        self.prompt.offer(question, draft, can_write=can_write)
        self.show_refusal()

    def begin_with(self, present: SamplingSettings, *, is_of_answer: bool = False) -> None:
        """Set up lanes from other settings: those of the chat, or those that an answer was written with."""
        self._is_of_answer = is_of_answer
        self.draft.begin_with(present)
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Begin from anywhere on the page with the key that sends a prompt."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._start.click()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """Show what the lanes would take now."""
        super().showEvent(event)
        self._show_outlook()

    def follow_outlook(self, outlook: LaneOutlook) -> Callable[[], None]:
        """Show what the lanes would take before they begin; call what is returned to listen no longer."""
        self._outlook = outlook
        self._watch()
        return outlook.changed.connect(self._show_outlook)

    def take_focus(self) -> None:
        """Give the keyboard to what comes next: the button that begins, or what is to be written first."""
        if self._start.isEnabled():
            self._start.setFocus()
        elif self.prompt.chosen is None:
            self.prompt.focus()

    def follow(self, present: SamplingSettings) -> None:
        """Follow the settings of the chat, as long as nobody set up anything else."""
        if not self._is_of_answer and self.draft.lanes == self.draft.begun:
            self.draft.begin_with(present)
            self._show()

    def use(self, lanes: Lanes) -> None:
        """Set up the lanes of a comparison that there was."""
        self.draft.use(lanes)
        self._show()

    def show_refusal(self) -> None:
        """Let people begin, or say why they cannot."""
        refusal = self._comparing.refusal(self.prompt.chosen, self.prompt.text)
        words = render(refusal) if refusal is not None else ""
        self._start.setEnabled(refusal is None)
        self._start.setAccessibleDescription(words)
        set_hint(self._start, words or self.tr("Read the prompt once, and write all lanes"))
        self._reason.set_text(words or seed_words(self.draft.settings, short=True))
        set_hint(self._reason, words or seed_words(self.draft.settings))
        self._watch()
        self._running.setVisible(self._comparing.running is not None)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give what the lanes would take a second line where it needs one."""
        super().resizeEvent(event)
        self._make_room()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let what stays below stand under the rest, also where that has a scroll bar beside it."""
        if event.type() == QEvent.Type.Resize and watched is self._area.viewport():
            beside_px = self._area.width() - self._area.viewport().width()
            self._around_bar.setContentsMargins(0, 0, beside_px, 0)
        return super().eventFilter(watched, event)

    def _watch(self) -> None:
        if self._outlook is not None:
            self._outlook.watch(self.prompt.chosen, self.prompt.text, self.draft.settings)
            self._show_outlook()

    def _show_outlook(self) -> None:
        if self._outlook is None or not self.isVisible():
            return
        known = self._outlook.of(self.draft.settings)
        words = outlook_words(known, self.draft.settings)
        self._planned.set_text(words, muted=known.refusal is None)
        set_hint(self._planned, words)
        self._make_room()

    def _make_room(self) -> None:
        needed = QFontMetrics(self._planned.font()).horizontalAdvance(str(self._planned.property("text")))
        self._planned.set_lines(2 if needed > max(self._planned.width(), 1) else 1)

    def _name_parts(self) -> None:
        self._add.setObjectName("add_lane_button")
        self._limit.setObjectName("compare_max_tokens_box")
        self._limit.setAccessibleName(self.tr("Longest answer of each lane, in tokens"))
        self._limit.setFixedWidth(theme.scaled(LIMIT_PX))
        set_hint(self._limit, self.tr("Each lane is cut after this many tokens; 0 is no limit but the context."))
        self._start.setObjectName("compare_start_button")
        self._start.setProperty("look", "primary")
        self._running.setObjectName("show_running_button")

    def _lay_out(self) -> None:
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_L)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Compare settings"), pixels=theme.TITLE_PX, bold=True))
        words = self.tr(
            "One prompt, read once: every lane answers it with settings of its own, live and side by side."
        )
        said = label(words, look="muted")
        said.setWordWrap(True)
        column.addWidget(said)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(self.prompt)
        column.addSpacing(theme.SPACE_S)
        column.addWidget(label(self.tr("Quick starts"), bold=True))
        column.addWidget(self._starts)
        column.addSpacing(theme.SPACE_S)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(label(self.tr("Lanes"), bold=True))
        row.addWidget(self._removed, 1)
        row.addWidget(self._add)
        column.addLayout(row)
        self._list.setSpacing(theme.SPACE_XS)
        column.addLayout(self._list)
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("compare_set_up_area")
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(_centred(inside))
        area.viewport().installEventFilter(self)
        self._area = area
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(area, 1)
        whole.addWidget(self._bar())

    def _bar(self) -> QFrame:
        """Return what stays below while the rest scrolls: the limit, why, and the button that begins."""
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_S, theme.SPACE_L, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self._planned)
        row = QHBoxLayout()
        column.addLayout(row)
        row.setSpacing(theme.SPACE_S)
        words = label(self.tr("Longest answer"))
        words.setBuddy(self._limit)
        row.addWidget(words)
        row.addWidget(self._limit)
        row.addSpacing(theme.SPACE_S)
        row.addWidget(self._reason, 1)
        row.addWidget(self._running)
        row.addWidget(self._start)
        bar = QFrame()
        bar.setProperty("look", "below_page")
        self._around_bar = QVBoxLayout(bar)
        self._around_bar.setContentsMargins(0, 0, 0, 0)
        self._around_bar.addWidget(_centred(inside))
        return bar

    def _use_start(self, start: Start, seeds: int) -> None:
        self.draft.use_start(start, seeds)
        self._show()

    def _use_grid(self, lanes: Lanes) -> None:
        self.draft.use(lanes)
        self._show()

    def _use_limit(self, tokens: float) -> None:
        self.draft.limit(int(tokens))
        self._starts.show_present(self.draft.present)
        self._show_lanes()
        self._watch()

    def _add_lane(self) -> None:
        self.draft.add()
        self._show()

    def _restore_lane(self) -> None:
        place = self.draft.restore()
        self._show()
        self._rows[place].remove.setFocus()

    def _do(self, lane: int, wish: str) -> None:
        match wish:
            case "edit":
                dialog = LaneSettingsDialog(lane, self.draft.settings[lane], self._sampling, self.window())
                dialog.used.connect(self._use_settings)
                dialog.open()
                return
            case "duplicate":
                self.draft.duplicate(lane)
            case "remove":
                self.draft.remove(lane)
            case "pin":
                self.draft.pin(lane)
        self._show()
        if wish == "remove":
            self._rows[min(lane, len(self._rows) - 1)].remove.setFocus()

    def _use_settings(self, lane: int, settings: SamplingSettings) -> None:
        self.draft.change(lane, settings)
        self._show()

    def _show(self) -> None:
        self._limit.blockSignals(True)
        self._limit.setValue(self.draft.max_tokens)
        self._limit.blockSignals(False)
        self._starts.show_present(self.draft.present)
        self._starts.show_start(self.draft.start, is_grid=self.draft.lanes.is_grid)
        self._show_lanes()
        self.show_refusal()

    def _show_lanes(self) -> None:
        settings = self.draft.settings
        while len(self._rows) > len(settings):
            gone = self._rows.pop()
            self._list.removeWidget(gone)
            gone.deleteLater()
        while len(self._rows) < len(settings):
            row = LaneRow(len(self._rows), self._themes, self._icons)
            row.wanted.connect(self._do)
            self._rows.append(row)
            self._list.addWidget(row)
            row.show()
        differs, lanes = differing(settings), self.draft.lanes
        for place, (row, each, same) in enumerate(zip(self._rows, settings, same_as(settings), strict=True)):
            name = cell_name(lanes.layout, each) if lanes.is_grid else lane_name(each, differs)
            shared = shared_words(each, differs)
            if same is not None:
                like = self.tr("Will write the same as lane {letter}").format(letter=LETTERS[same])
                shared = BETWEEN.join((like, shared)) if shared else like
            row.show_lane(name, shared, is_baseline=place == lanes.baseline)
            row.allow(duplicate=self.draft.can_add, remove=self.draft.can_remove)
        names, shares = zip(*(row.needed for row in self._rows), strict=True)
        for row in self._rows:
            row.share(max(names), max(shares))
        self._add.setEnabled(self.draft.can_add)
        removed = self.draft.removed[-1].settings if self.draft.removed else None
        self._removed.show_lane(lane_name(removed, differing((*settings, removed))) if removed is not None else "")
        words = self.tr("There are at most {most} lanes.").format(most=MOST_AT_ONCE)
        set_hint(self._add, "" if self.draft.can_add else words)


def _centred(inside: QWidget) -> QWidget:
    """Return a widget in whose middle another one stands, no wider than is pleasant."""
    inside.setMaximumWidth(theme.scaled(COLUMN_PX))
    around = QWidget()
    row = QHBoxLayout(around)
    row.setContentsMargins(0, 0, 0, 0)
    row.addStretch(1)
    row.addWidget(inside, 100_000)
    row.addStretch(1)
    return around
