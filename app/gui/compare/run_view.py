"""A comparison that runs or has ended: what all lanes share above, the lanes side by side below."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.comparison import MOST_AT_ONCE
from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.compare.deleted_cell import DeletedCell, deleted_places
from app.gui.compare.lane_column import LaneColumn
from app.gui.compare.lane_feed import LaneFeed
from app.gui.compare.lane_words import lane_key
from app.gui.compare.lanes_area import LanesArea
from app.gui.compare.prompt_band import PromptBand
from app.gui.icons import Icons
from app.gui.widgets.words import render
from app.services.comparing import Comparing
from app.services.lanes_run import LanesRun

FIGURES_MS = 200
"""Figures of lanes that are written are shown anew this often."""


class RunView(QWidget):
    """The comparison that people look at."""

    wanted = Signal(str)
    """Something is wanted of the whole comparison: “new” or “close”."""
    kept = Signal()
    """A lane is the answer now."""
    copied = Signal(str)
    """Somebody wants a text on the clipboard."""
    settings_wanted = Signal(int)
    """Somebody wants the chat to have the settings of a lane."""
    link_clicked = Signal(str)
    """Somebody wants to open an address."""
    room_changed = Signal()
    """The page is higher or lower: `room`."""
    reveal_wanted = Signal(QWidget)
    """A part of the page is to be in view."""
    figures_shown = Signal()
    """The figures of lanes that are written were shown anew."""

    def __init__(self, comparing: Comparing, themes: theme.Themes, icons: Icons, background: Background) -> None:
        super().__init__()
        self._comparing = comparing
        self._themes = themes
        self._icons = icons
        self.background = background
        self._run: LanesRun | None = None
        self._columns: dict[int, LaneColumn] = {}
        """By lane."""
        self.room = 0
        """So many pixels of the page can be seen at once, from top to bottom."""
        self.band = PromptBand(themes, icons)
        self.area = LanesArea()
        self.views = QHBoxLayout()
        """Above the lanes: tabs, once there is another view of them."""
        self.strip = QVBoxLayout()
        """Below the lanes: their figures."""
        self._feed = LaneFeed(self.area.is_seen, self)
        self._figures = QTimer(self)
        self._figures.setInterval(FIGURES_MS)
        self._figures.timeout.connect(self._show_figures)
        self.band.wanted.connect(self._do_with_all)
        self.band.keyboard_left.connect(self.take_focus)
        self.area.seen_changed.connect(self._feed.flush)
        self.area.laid_out.connect(self._feed.later)
        self._lay_out()
        self._make_keys()
        self._disconnect = [
            comparing.changed.connect(self._show_changed),
            comparing.busy_changed.connect(self._show_changed),
            comparing.lane_grew.connect(self._take_text),
            comparing.lane_changed.connect(self._take_lane),
        ]

    @property
    def columns(self) -> tuple[LaneColumn, ...]:
        """The lanes that are shown, in their order."""
        return tuple(self._columns.values())

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._figures.stop()
        for disconnect in self._disconnect:
            disconnect()

    def show_run(self, run: LanesRun | None) -> None:
        """Show another comparison, or none."""
        self._run = run
        lanes = run.lanes if run is not None else ()
        made = {
            lane.index: LaneColumn(run, lane, self._themes, self._icons, self.background)
            for lane in lanes
            if run is not None
        }
        self._columns = made
        for column in made.values():
            column.wanted.connect(self._do)
            column.neighbour_wanted.connect(lambda lane, by: self._focus_place(self._place_of(lane) + by))
            column.text.link_clicked.connect(self.link_clicked)
        self._feed.follow(made)
        if run is not None and (across := run.comparison.layout.columns):
            gaps = {place: DeletedCell(run, place, self._themes) for place in deleted_places(run)}
            self.area.show_grid({**made, **gaps}, across)
        else:
            self.area.show_columns(self.columns)
        self._show_figures()
        self._show_changed()

    def take_room(self, height: int) -> None:
        """Know how much of the page can be seen."""
        self.room = height
        self.room_changed.emit()

    def has_room_for(self, height: int) -> bool:
        """Return whether the lanes keep what they need while the strip under them is so high."""
        layout = self.layout()
        assert layout is not None
        margins = layout.contentsMargins()
        around = margins.top() + margins.bottom() + self.band.sizeHint().height() + self.views.sizeHint().height()
        return self.room >= around + 3 * layout.spacing() + self.area.minimumHeight() + height

    def showEvent(self, event: QShowEvent) -> None:
        """Show what came while people were elsewhere."""
        super().showEvent(event)
        self._feed.later()

    def take_focus(self) -> None:
        """Give the keyboard to the first lane."""
        self._focus_place(0)

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.band)
        column.addLayout(self.views)
        column.addWidget(self.area, 1)
        column.addLayout(self.strip)

    def _make_keys(self) -> None:
        for place in range(MOST_AT_ONCE):
            keys = QShortcut(QKeySequence(lane_key(place)), self)
            keys.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            keys.activated.connect(lambda place=place: self._focus_place(place))

    def _place_of(self, lane: int) -> int:
        return list(self._columns).index(lane)

    def _focus_place(self, place: int) -> None:
        if 0 <= place < len(self._columns):
            column = self.columns[place]
            self.area.reveal(column)
            column.text.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_changed(self) -> None:
        run = self._run
        if run is None:
            self._figures.stop()
            return
        refusal = self._comparing.refusal(run.question)
        self.band.show_run(run, render(refusal) if refusal is not None else "")
        for column in self._columns.values():
            column.show_state()
        if run.is_running and not self._figures.isActive():
            self._figures.start()
        elif not run.is_running:
            self._figures.stop()
            self._show_figures()

    def _show_figures(self) -> None:
        for column in self._columns.values():
            if self.area.is_seen(column) or not column.lane.is_open:
                column.show_figures()
            if column.lane.turn.state == "waiting":
                column.show_state()  # others may have begun
        self.band.show_cells()
        self.figures_shown.emit()

    def _take_text(self, comparison: int, lane: int, text: str) -> None:
        if self._run is not None and self._run.comparison.id == comparison:
            self._feed.grow(lane, text)

    def _take_lane(self, comparison: int, lane: int) -> None:
        if self._run is not None and self._run.comparison.id == comparison:
            self._feed.refresh(lane)

    def _do(self, lane: int, wish: str) -> None:
        match wish:
            case "stop":
                self._comparing.stop_lane(lane)
            case "pin":
                self._comparing.pin(lane)
            case "keep":
                if self._comparing.keep(lane):
                    self.kept.emit()
            case "settings":
                self.settings_wanted.emit(lane)
            case "copy":
                self.copied.emit(self._columns[lane].lane.turn.said)
                self._columns[lane].tick()

    def _do_with_all(self, wish: str) -> None:
        match wish:
            case "stop":
                self._comparing.stop()
            case "again":
                self._comparing.run_again()
            case _:
                self.wanted.emit(wish)
