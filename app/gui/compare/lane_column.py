"""One lane on the page: what it is called and what differs, its text, its figures, and what can be done with it."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.compare.lane_mark import LaneLine, LaneMark
from app.gui.compare.lane_text import LaneText
from app.gui.compare.lane_words import (
    BETWEEN,
    interrupted_word,
    run_lane_name,
    shared_words,
    short_cell_name,
    short_lane_parts,
    state_words,
)
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton, TickButton
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.words import set_hint
from app.services.lane_analysis import LaneFigures as AnalysedFigures
from app.services.lane_starts import differing
from app.services.lanes_run import Lane, LanesRun
from app.services.units import UNKNOWN, count, milliseconds, rate, short_milliseconds

ROOMY_PX = 300
"""From this width on buttons say all of what they do."""


class LaneFigures(NamedTuple):
    """The figures of a lane as people read them."""

    rate: str
    gap: str
    tokens: str
    hint: str
    short_tokens: str = ""
    """Where the tokens do not fit."""


class LaneColumn(QFrame):
    """A lane beside others; in a grid it is a cell, which has less room and is named by its two values."""

    wanted = Signal(int, str)
    """Something is wanted of a lane: “stop”, “pin”, “keep”, “copy” or “settings”."""
    menu_opens = Signal(QMenu)
    """A menu with what can be done with the lane is about to open; others may add to it."""
    neighbour_wanted = Signal(int, int)
    """From this lane somebody wants to the one so many places further on."""

    def __init__(self, run: LanesRun, lane: Lane, themes: theme.Themes, icons: Icons, background: Background) -> None:
        super().__init__()
        self.lane = lane
        self._run = run
        self._is_cell = bool(run.comparison.layout.columns)
        self._letter = LETTERS[lane.index].lower()
        self._analysed: AnalysedFigures | None = None
        self.setObjectName(f"lane_{self._letter}")
        self.setProperty("look", "lane")
        self.text = LaneText(lane.index, themes, background, is_cell=self._is_cell)
        self.text.neighbour_wanted.connect(lambda by: self.neighbour_wanted.emit(lane.index, by))
        self.text.turn_menu_opens.connect(lambda menu, _turn: self._add_to(menu))
        self._mark = LaneMark(lane.index, themes, with_line=False)
        self._name = FixedText(pixels=theme.BASE_PX, bold=True, muted=False, name=f"lane_name_{self._letter}")
        self._shared = FixedText(name=f"lane_shared_{self._letter}")
        self._state = FixedText(name=f"lane_state_{self._letter}")
        self._rate = FixedText(muted=False, room_for="100 tok/s", name=f"lane_rate_{self._letter}")
        self._gap = FixedText(room_for="p50 100 ms", name=f"lane_gap_{self._letter}")
        self._tokens = FixedText(right=True, name=f"lane_tokens_{self._letter}")
        self._make_buttons(icons)
        self._line = LaneLine(lane.index, themes)
        self.figures = QHBoxLayout()
        """The row of figures; what is drawn of the entropy belongs at its end."""
        self._lay_out()
        self.text.show_lane(lane.turn)
        self._show_words()
        self.show_state()

    def grow(self, text: str) -> None:
        """Show text that was added."""
        self.text.grow(self.lane.turn, text)

    def refresh(self) -> None:
        """Show the lane anew, with all of its text."""
        self.text.refresh(self.lane.turn)
        self.show_state()
        self.show_figures()

    def show_state(self) -> None:
        """Show what the lane does, and what can be done with it now."""
        is_open, has_text = self.lane.is_open, bool(self.lane.turn.text)
        state = state_words(self._run, self.lane)
        self._state.set_text(state, interrupted_word() if self.lane.turn.state == "interrupted" else "")
        set_hint(self._state, state)
        if self._is_cell:  # there is room for one of the two
            self._rate.setVisible(self.lane.turn.state == "writing")
            self._state.setVisible(self.lane.turn.state != "writing")
        had_keyboard = self._stop.hasFocus()
        self._stop.setVisible(is_open and not self._is_cell)
        self._copy.setVisible(not is_open and has_text and not self._is_cell)
        self._keep.setVisible(not is_open and has_text and not self._is_cell)
        if had_keyboard and not is_open:
            self.text.setFocus()
        is_baseline = self._run.comparison.baseline == self.lane.index
        self._pin.set_icon("pinned" if is_baseline else "pin")
        self._pin.setChecked(is_baseline)
        self._pin.setVisible(is_baseline or not self._is_cell)
        self._pin.set_name(self.tr("Baseline: the others are compared with it") if is_baseline else self._pin_words)
        self._show_keep()
        self._say(is_baseline=is_baseline)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Say less on a button where there is less room."""
        super().resizeEvent(event)
        self._show_keep()
        self._show_words()
        self.show_figures()

    def show_figures(self) -> None:
        """Show how fast the lane is, and how long."""
        figures = self.figures_now()
        self._rate.set_text(figures.rate)
        self._gap.set_text(figures.gap)
        self._tokens.set_text(figures.tokens, figures.short_tokens)
        self._show_gap(figures.short_tokens)
        for widget in (self._rate, self._gap, self._tokens):
            set_hint(widget, figures.hint)

    def show_analysed(self, figures: AnalysedFigures | None) -> None:
        """Know what an analysis says: of a lane that was interrupted nobody else does once the program has ended."""
        self._analysed = figures
        self.show_figures()

    def _show_gap(self, tokens: str) -> None:
        """Leave the gap between tokens to the hint where there is no room for it and the number of tokens."""
        inside = self.width() - theme.SPACE_M - 2 * theme.SPACE_S
        beside = self._rate.width() + self._gap.width() + 2 * theme.SPACE_S
        needed = QFontMetrics(self._tokens.font()).horizontalAdvance(tokens) + 2
        self._gap.setVisible(not self._is_cell and inside - beside >= needed)

    def figures_now(self) -> LaneFigures:
        """Return the figures: of the last moment while it is written, and then those of all of it."""
        lane, finished = self.lane, self.lane.turn.finished
        metrics = finished.metrics if finished is not None else None
        if metrics is not None:
            speed, gaps = metrics.decode_tokens_per_s, metrics.itl_ms
        else:
            speed, gaps = lane.pace.rate_now(), lane.pace.quantiles()
        gap = gaps.p50 if gaps is not None else None
        if metrics is None and self._analysed is not None and not lane.is_open:
            speed, gap = self._analysed.tokens_per_s, self._analysed.itl_p50_ms
        tokens = metrics.sampled_tokens if metrics is not None else lane.tokens
        hint = [self.tr("Tokens per second, the usual gap between two tokens, and how many there are.")]
        if metrics is not None and metrics.ttft_ms is not None:
            shared = self.tr("Time to the first token: {time} (shared: the prompt was read once for all lanes)")
            hint.append(shared.format(time=milliseconds(metrics.ttft_ms)))
        return LaneFigures(
            self.tr("{rate} tok/s").format(rate=rate(speed)),
            self.tr("p50 {time} ms").format(time=short_milliseconds(gap)),
            self.tr("1 token") if tokens == 1 else self.tr("{count} tokens").format(count=count(tokens)),
            "\n".join(hint),
            self.tr("{count} tok").format(count=count(tokens)),
        )

    @property
    def last_in_header(self) -> QWidget:
        """What the keyboard leaves the header from."""
        return self._more

    def tick(self) -> None:
        """Show that the text is on the clipboard."""
        self._copy.tick()

    @property
    def _pin_words(self) -> str:
        return self.tr("Make this the baseline")

    def _make_buttons(self, icons: Icons) -> None:
        name = self._letter
        self._pin = IconButton(icons, "pin", self._pin_words, object_name=f"pin_lane_{name}")
        self._pin.setCheckable(True)
        self._more = IconButton(icons, "more", self.tr("More for this lane"), object_name=f"more_lane_{name}")
        self._stop = IconButton(icons, "stop", self.tr("Stop this lane"), object_name=f"stop_lane_{name}")
        self._copy = TickButton(icons, "copy", self.tr("Copy the text"), object_name=f"copy_lane_{name}")
        self._keep = QPushButton(self.tr("Use this answer"))
        self._keep.setObjectName(f"keep_lane_{name}")
        set_hint(self._keep, self.tr("Make this lane's text the answer in the chat, and go on from there"))
        wishes = ((self._pin, "pin"), (self._stop, "stop"), (self._copy, "copy"), (self._keep, "keep"))
        for button, wish in wishes:
            button.clicked.connect(lambda _checked=False, wish=wish: self._want(wish))
        self._more.clicked.connect(self._open_menu)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        head.addStrut(self._more.sizeHint().height())  # as high without buttons, in a picture
        head.addWidget(self._mark)
        head.addWidget(self._name, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        buttons.addWidget(self._pin)
        buttons.addWidget(self._more)
        head.addLayout(buttons)
        self.figures.setSpacing(theme.SPACE_S)
        self.figures.addWidget(self._rate)
        self.figures.addWidget(self._gap)
        if self._is_cell:
            self.figures.addWidget(self._state, 2)
        self.figures.addWidget(self._tokens, 1)
        upper = QVBoxLayout()
        around_px = theme.SPACE_XS if self._is_cell else theme.SPACE_S
        upper.setContentsMargins(theme.SPACE_M, around_px, theme.SPACE_S, around_px)
        upper.setSpacing(0 if self._is_cell else theme.SPACE_XS)
        upper.addLayout(head)
        upper.addWidget(self._shared)
        upper.addLayout(self.figures)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.setSpacing(0)
        column.addLayout(upper)
        column.addWidget(self._line)
        column.addWidget(self.text, 1)
        column.addWidget(below := self._below())
        if self._is_cell:
            for widget in (self._shared, self._gap, below):
                widget.hide()

    def _below(self) -> QWidget:
        """Return what stands under the text; what a cell can do is in its menu alone."""
        made = QWidget()
        row = QHBoxLayout(made)
        row.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        if not self._is_cell:
            row.addWidget(self._state, 1)
        for button in (self._keep, self._copy, self._stop):
            row.addWidget(button)
        return made

    def _show_words(self) -> None:
        settings = self.lane.settings
        differs = differing(each.settings for each in self._run.lanes)
        name, shared = run_lane_name(self._run, self.lane), shared_words(settings, differs)
        parts = [] if self._is_cell else short_lane_parts(settings, differs)
        metrics = QFontMetrics(self._name.font())
        shown = len(parts)
        while shown > 1 and metrics.horizontalAdvance(BETWEEN.join(parts[:shown])) > self._name.width():
            shown -= 1
        layout = self._run.comparison.layout
        short = short_cell_name(layout, settings) if self._is_cell else BETWEEN.join(parts[:shown])
        self._name.set_text(name, short)
        is_whole = metrics.horizontalAdvance(name) <= self._name.width()
        rest = [] if is_whole else parts[shown:]  # what the name has no room for is said first in the line below it
        self._shared.set_text(BETWEEN.join((*rest, *((shared,) if shared else ()))))
        for widget in (self._name, self._shared, self._mark):
            set_hint(widget, BETWEEN.join(part for part in (name, shared) if part))

    def _say(self, *, is_baseline: bool) -> None:
        """Let those who listen know which lane has the keyboard, and what it does."""
        called = self.tr("Lane {letter}: {name}").format(
            letter=self._letter.upper(), name=self._name.property("text")
        )
        if is_baseline:
            called = self.tr("{lane}, baseline").format(lane=called)
        self.setAccessibleName(called)
        self.text.setAccessibleName(called)
        self.text.setAccessibleDescription(str(self._state.property("text")) or UNKNOWN)

    def _show_keep(self) -> None:
        """Name the button that makes the lane the answer, in as many words as fit beside how the lane ended."""
        is_kept = self.lane.index in self._run.comparison.kept
        words = self.tr("Go to it in the chat") if is_kept else self.tr("Use this answer")
        short = self.tr("In the chat") if is_kept else self.tr("Use this")
        self._keep.setText(words if self.width() >= theme.scaled(ROOMY_PX) else short)
        self._keep.setAccessibleName(words)

    def _want(self, wish: str) -> None:
        self._pin.setChecked(self._run.comparison.baseline == self.lane.index)
        self.wanted.emit(self.lane.index, wish)

    def _open_menu(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("lane_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_to(menu)
        menu.popup(self._more.mapToGlobal(QPoint(0, self._more.height())))

    def _add_to(self, menu: QMenu) -> None:
        """Offer in a menu what can be done with the lane."""
        has_text, is_open = bool(self.lane.turn.text), self.lane.is_open
        is_baseline = self._run.comparison.baseline == self.lane.index
        entries = (
            (self._keep.accessibleName(), "keep", has_text and not is_open),
            (self._pin_words, "pin", not is_baseline),
            (self.tr("Stop this lane"), "stop", is_open),
            (self.tr("Copy the text"), "copy", has_text),
            (self.tr("Use these settings in the chat"), "settings", True),
        )
        for words, wish, can in entries:
            action = menu.addAction(words)
            action.setObjectName(f"{wish}_lane_action")
            action.setEnabled(can)
            action.triggered.connect(lambda _checked=False, wish=wish: self._want(wish))
        self.menu_opens.emit(menu)
