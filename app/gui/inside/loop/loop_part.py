"""The part “Loop” of the page Inside: the whole process in one picture, and below it what the chosen stage is."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.loop.loop_map import LoopMap
from app.gui.inside.loop.place_row import PlaceRow
from app.gui.inside.loop.stage_sheet import StageSheet
from app.gui.inside.loop.step_follow import StepFollow
from app.gui.inside.loop.time_ruler import TimeRuler
from app.gui.inside.loop.time_words import time_face
from app.gui.inside.loop.tour_card import TourCard
from app.gui.inside.page import InsidePart
from app.services.inspecting import Inspecting
from app.services.loop_example import example, example_time
from app.services.loop_snapshot import LoopSnapshot, snapshot_of
from app.services.loop_values import LoopValues, StageName
from app.services.process_views import ProcessViews
from app.services.timeline_values import until_now
from app.system.settings_file import SettingsFile

PAINT_MS = 200
"""The picture is painted anew so often at most."""


class LoopPart(InsidePart):
    """Follows the service while it is seen."""

    is_whole = True

    def __init__(
        self,
        views: ProcessViews,
        inspecting: Inspecting,
        themes: theme.Themes,
        icons: Icons,
        has_part: Callable[[str], bool],
        settings: SettingsFile,
    ) -> None:
        super().__init__()
        self.setObjectName("loop_view")
        self.setAccessibleName(self.tr("The loop that an answer comes out of"))
        picture = self._picture = views.loop
        self._timeline = views.timeline
        self._inspecting = inspecting
        self._settings = settings
        self._is_behind = False
        self._steps = StepFollow()
        self.shown = LoopSnapshot(picture.values)
        """What all of it is painted from."""
        self.now_ns: Callable[[], int] = time.perf_counter_ns
        """The engine's clock."""
        self._rest = self._timer(self._catch_up, is_once=True)
        self._settling = self._timer(is_once=True)
        """Runs while the words of another stage are laid out, which may make the page higher."""
        self._clock = self._timer(self._tick)
        """Runs while nobody tells anything but time goes by: a chunk of the prompt is read at once."""
        self.place = PlaceRow(icons)
        self.map = LoopMap(themes, icons)
        self.sheet = StageSheet(themes, icons, has_part)
        self.tour = TourCard()
        self.time = TimeRuler(themes, icons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        for widget in (self.place, self.map, self.tour, self.sheet):
            column.addWidget(widget)
        column.addStretch(1)
        column.addWidget(self.time)
        self.place.token_wanted.connect(picture.look_at)
        self.place.tour_wanted.connect(self.begin_tour)
        self.place.chat_wanted.connect(self.chat_wanted)
        self.map.chosen.connect(self._take_stage)
        self.tour.moved.connect(self._show_step)
        self.tour.ended.connect(self.end_tour)
        self.sheet.part_wanted.connect(self.part_wanted)
        self.sheet.lit_wanted.connect(self._follow)
        for card in (self.sheet, self.tour):
            card.row_wanted.connect(picture.read_embedding)
        self.time.clicked.connect(lambda _checked=False: self.part_wanted.emit("time"))
        self._disconnect = [
            picture.changed.connect(self._take_change),
            views.timeline.changed.connect(self._take_time),
        ]
        self._show()

    def _timer(self, then: Callable[[], None] | None = None, *, is_once: bool = False) -> QTimer:
        made = QTimer(self)
        made.setSingleShot(is_once)
        made.setInterval(PAINT_MS)
        if then is not None:
            made.timeout.connect(then)
        return made

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._rest.stop()
        self._clock.stop()
        self._picture.watch(False)
        for disconnect in self._disconnect:
            disconnect()

    def leave(self) -> None:
        """End the tour, else follow the newest token again."""
        if self.is_touring:
            self.end_tour()
        else:
            self._picture.look_at(None)

    @property
    def is_behind(self) -> bool:
        """Whether something new waits for its turn to be painted."""
        return self._is_behind

    @property
    def is_touring(self) -> bool:
        """Whether somebody is being shown around."""
        return not self.tour.isHidden()

    def begin_tour(self) -> None:
        """Show people around, in place of the explanation of one stage."""
        self.sheet.hide()
        self.place.tour.hide()
        self.tour.begin()

    def end_tour(self) -> None:
        """Remember that the tour was seen, and explain the stage that it came to."""
        focus: QWidget | None = self.window().focusWidget()
        had_keyboard = focus is not None and self.tour.isAncestorOf(focus)
        self._settings.change(loop_tour_seen=True)
        for widget, is_shown in ((self.tour, False), (self.sheet, True), (self.place.tour, True)):
            widget.setVisible(is_shown)
        self._show()
        if had_keyboard:
            self.map.boxes[self.map.stage].setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        """Begin to look."""
        super().showEvent(event)
        self._picture.watch(True)
        self._show()
        if not self._settings.values.loop_tour_seen and not self.is_touring:
            self.begin_tour()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep in sight what was just brought there."""
        super().resizeEvent(event)
        if self._settling.isActive():
            QTimer.singleShot(0, self, self._bring_in_sight)

    def hideEvent(self, event: QHideEvent) -> None:
        """Look no longer."""
        super().hideEvent(event)
        self._rest.stop()
        self._clock.stop()
        self._is_behind = False
        self._picture.watch(False)

    def _take_change(self) -> None:
        if self._rest.isActive():
            self._is_behind = True
        else:
            self._show()
            self._rest.start()

    def _take_time(self) -> None:
        """The timeline tells also of what nobody looks at here."""
        if self.isVisible():
            self._take_change()

    def _catch_up(self) -> None:
        if self._is_behind:
            self._is_behind = False
            self._show()
            self._rest.start()

    def _show_step(self) -> None:
        """Show another step of the tour, in sight also where the window is low."""
        self._show()
        self._show_in_low_window()

    def _show_in_low_window(self) -> None:
        """Bring what is explained in sight with its words, once they are laid out."""
        self._settling.start()
        QTimer.singleShot(0, self, self._bring_in_sight)

    def _bring_in_sight(self) -> None:
        """What comes last is seen also where there is no room for all: beside no tour that is what people use."""
        box = self.map.boxes[self.map.stage]
        if self.is_touring:
            wanted: tuple[QWidget, ...] = (box, self.tour)
        elif self.isVisible():
            focus: QWidget | None = self.window().focusWidget()
            wanted = (self.sheet, box, *((focus,) if focus is not None else ()))
        else:
            wanted = ()
        for widget in wanted:
            self.view_wanted.emit(widget)

    def _take_stage(self, stage: StageName) -> None:
        """Somebody who chooses a stage goes on alone."""
        self._steps.choose(stage)
        if self.is_touring:
            self.end_tour()
        else:
            self._show()
        self._show_in_low_window()

    def _follow(self) -> None:
        """Explain the lit stage again, step by step."""
        self._steps.follow()
        self._show()
        self.map.boxes[self.map.stage].setFocus()  # the button that was pressed is gone

    def _explain(self, values: LoopValues) -> None:
        """Explain the stage that was chosen; while the answer goes step by step, the lit one."""
        lit = self._steps.take(values)
        if lit is not None and lit != self.map.stage:
            has_keyboard = any(box.hasFocus() for box in self.map.boxes.values())
            self.map.mark(lit)
            if has_keyboard:
                self.map.boxes[lit].setFocus()
            self._show_in_low_window()
        self.map.show_values(values)
        self.sheet.show_stage(self.map.stage, values, is_kept=self._steps.is_kept)

    def _show(self) -> None:
        shown = snapshot_of(self._picture.values, self._timeline.timeline, self._picture.token)
        if self.is_touring and (not self._inspecting.answers or shown.values.model is None):
            shown = LoopSnapshot(example(), example_time(), shown.token)
        self.shown, values = shown, shown.values
        if not self.is_touring:
            self._explain(values)
        else:
            stages = self.tour.stop.stages
            self.map.mark(stages[0])
            self.map.show_values(values, stages)
            self.tour.show_number(values)
        self._show_time()
        self.place.show_values(values, shown.token, is_chosen=self._inspecting.token is not None)

    def _show_time(self) -> None:
        """Show the time, and have it go on by itself where it does."""
        line, phase = self.shown.line, self.shown.values.phase
        runs = line is not None and line.awaits_first and phase == "reading" and self.isVisible()
        if runs and line is not None:
            line = until_now(line, self.now_ns())
        written = self.shown.values.written if phase in ("writing", "held") else None
        self.time.show_face(time_face(line, self.map.stage, phase, written))
        if runs != self._clock.isActive():
            self._clock.start() if runs else self._clock.stop()

    def _tick(self) -> None:
        """Show how late it is; all else stays as it is."""
        self._show_time()
