"""Where the time of the answer went: a sentence, the timeline, how long it took from token to token, and the operations."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.icons import Icons
from app.gui.inside.empty_page import lay_out_empty
from app.gui.inside.open_pass import OpenPass
from app.gui.inside.page import InsidePart
from app.gui.inside.pass_row import progress_of_another
from app.gui.inside.timing.bar_words import summary_words, unknown_sentence, unknown_words
from app.gui.inside.timing.gap_histogram import GapHistogram
from app.gui.inside.timing.gap_words import bins_sentence
from app.gui.inside.timing.operations_panel import OperationsPanel
from app.gui.inside.timing.pauses import PauseLegend
from app.gui.inside.timing.steady_label import SteadyLabel
from app.gui.inside.timing.timeline_view import ZOOM, TimelineView
from app.gui.widgets.diagnosis_details import DiagnosisDetails
from app.gui.widgets.labels import label
from app.gui.widgets.memory_speed import MemorySpeedRow
from app.gui.widgets.words import render, set_hint
from app.services.gap_bins import GapBins, bins_of, quantiles_of
from app.services.operations import Operations
from app.services.timeline import Timeline
from app.services.timeline_values import AnswerTimeline, until_now

WHY_SHARE = 2
"""Of three: figures far from their names are hard to read."""
REPAINT_MS = 200
"""While an answer is written the picture follows five times a second."""


class TimePart(InsidePart):
    """Follows the service while it is seen."""

    def __init__(
        self,
        service: Timeline,
        operations: Operations,
        themes: theme.Themes,
        icons: Icons,
        measuring: MemorySpeedRow | None = None,
    ) -> None:
        """`measuring` has the memory measured that some of the figures rest on."""
        super().__init__()
        self.setObjectName("inside_time")
        self.setAccessibleName(self.tr("Where the time of the answer went"))
        self._service = service
        self.now_ns: Callable[[], int] = time.perf_counter_ns
        """The engine's clock."""
        self._drawn: AnswerTimeline | None = None
        self._bins: GapBins | None = None
        self.said = label(name="time_diagnosis")
        self.said.setWordWrap(True)
        self.why = DiagnosisDetails("time_why")
        self.why.remedy_wanted.connect(self.remedy_wanted)
        self._measuring = measuring
        if measuring is not None:
            self.why.add(measuring)
        self.summary = SteadyLabel(1, look="muted", name="time_summary")
        self.view = TimelineView(themes, icons)
        self.bar_text = SteadyLabel(2, name="time_bar_text")
        self.pauses = PauseLegend(themes)
        self.missing = label(look="muted", pixels=theme.SMALL_PX, name="time_unknown")
        self.missing.setWordWrap(True)
        self.gaps_title = label(self.tr("Time from token to token"), bold=True, name="gaps_title")
        self.histogram = GapHistogram(themes)
        self.gap_text = SteadyLabel(1, look="muted", name="gap_text")
        self.operations, self._measures = OperationsPanel(operations, themes), operations
        self._pages, self._scrolled = QStackedWidget(), QScrollArea()
        self._lay_out()
        self._wants_result = False
        """Whether the operations are to be brought in sight once they are laid out."""
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._bring_result)
        self.operations.result_came.connect(self._want_result)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(REPAINT_MS)
        self._timer.timeout.connect(self._show)
        self.view.bar_changed.connect(self._show_bar)
        self.histogram.bar_changed.connect(self._show_gap)
        self._disconnect = [service.changed.connect(self._want), operations.changed.connect(self._show_other)]
        self._show()
        self._show_other()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for timer in (self._timer, self._soon):
            timer.stop()
        if self._measuring is not None:
            self._measuring.disconnect_services()
        self.operations.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def leave(self) -> None:
        """Look at no bar any more."""
        self.view.look_at(None)

    def showEvent(self, event: QShowEvent) -> None:
        """Catch up with what came meanwhile."""
        super().showEvent(event)
        self._show()
        if self._wants_result:
            self._soon.start()

    def _want_result(self) -> None:
        """Follow the result below the button, unless somebody has scrolled on from there."""
        if not self.isVisible() or not self.operations.said.visibleRegion().isEmpty():
            self._wants_result = True
            self._soon.start()

    def _bring_result(self) -> None:
        """Scroll no further than to its end, nor past its title."""
        if not self._wants_result or not self.isVisible():
            return
        self._wants_result = False
        if self.operations.found.isVisible():
            there, bar = self.operations.geometry(), self._scrolled.verticalScrollBar()
            end = there.bottom() + 1 - self._scrolled.viewport().height()
            bar.setValue(max(bar.value(), min(there.top(), end)))

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.summary, 1)
        for name, words, hint, do in (
            ("time_zoom_out", "−", self.tr("See more (−)"), lambda: self.view.zoom(1 / ZOOM)),
            ("time_zoom_in", "+", self.tr("See less, but larger (+)"), lambda: self.view.zoom(ZOOM)),
            (
                "time_beginning",
                self.tr("First token"),
                self.tr("See all until the first text"),
                self.view.show_beginning,
            ),
            ("time_fit", self.tr("All"), self.tr("See the whole answer (0)"), self.view.fit),
        ):
            button = QPushButton(words)
            button.setObjectName(name)
            button.setAccessibleName(hint)
            set_hint(button, hint)
            button.clicked.connect(lambda _checked=False, do=do: do())
            row.addWidget(button)
        contents, scrolled = QWidget(), self._scrolled
        self._pages.addWidget(scrolled)
        self._pages.addWidget(self._empty())
        scrolled.setFrameShape(QFrame.Shape.NoFrame)
        scrolled.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scrolled.setWidgetResizable(True)
        scrolled.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scrolled.setWidget(contents)
        around = QVBoxLayout(self)
        around.setContentsMargins(0, 0, 0, 0)
        around.addWidget(self._pages)
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.said)
        beside = QHBoxLayout()
        beside.addWidget(self.why, WHY_SHARE)
        beside.addStretch(1)
        column.addLayout(beside)
        column.addLayout(row)
        above: tuple[QWidget, ...] = (self.view, self.pauses, self.bar_text, self.missing)
        below: tuple[QWidget, ...] = (self.gaps_title, self.histogram, self.gap_text)
        for widget in above:
            column.addWidget(widget)
        column.addSpacing(theme.SPACE_S)
        for widget in below:
            column.addWidget(widget)
        column.addWidget(self.operations)
        column.addStretch(1)

    def _empty(self) -> QWidget:
        """Return what is shown where there is no answer."""
        page, words = QWidget(), label(look="muted", pixels=theme.READING_PX, name="time_empty")
        words.setText(self.tr("There is no answer here yet. Ask something in the chat, and its time is shown here."))
        button = QPushButton(self.tr("Go to the chat"))
        button.setObjectName("time_chat_button")
        button.clicked.connect(lambda _checked=False: self.chat_wanted.emit())
        self.other = OpenPass("time_other", self.tr("How many tokens were read"), button)
        self.other.cancelled.connect(self._measures.cancel)
        lay_out_empty(page, words, button, self.other)
        return page

    def _show_other(self) -> None:
        """Have what goes on for another answer cancelled here too."""
        progress = self._measures.progress
        self.other.show_state(progress, progress_of_another(*progress) if progress is not None else "")

    def _want(self) -> None:
        """Show soon what is new; another answer at once."""
        if not self.isVisible():
            return
        turn = self._service.inspecting.turn
        if self._drawn is None or turn is None or turn.message != self._drawn.message:
            self._show()
        elif not self._timer.isActive():
            self._timer.start()

    def _show(self) -> None:
        line = self._drawn = self._service.timeline
        if line is not None and line.awaits_first:
            line = until_now(line, self.now_ns())
            if self.isVisible():
                self._timer.start()  # nobody tells anything meanwhile, and time goes by
        self._pages.setCurrentIndex(0 if line is not None else 1)
        self.view.show_timeline(line, self._service.answer)
        self.said.setText(self._diagnosis(line))
        self.why.show_diagnosis(line.diagnosis if line is not None else None)
        self.why.setVisible(line is not None and line.diagnosis is not None)
        self.summary.setText(summary_words(line) if line is not None else "")
        self.pauses.show_of(line)
        missing = unknown_sentence(line) if line is not None else ""
        self.missing.setText(missing)
        self.missing.setVisible(bool(missing))
        gaps = line.ordered_ms if line is not None else ()
        itl = line.itl_ms if line is not None and line.itl_ms is not None else quantiles_of(gaps)
        self._bins = bins_of(gaps)
        self.histogram.show_bins(self._bins, itl)
        self._show_bar()

    def _diagnosis(self, line: AnswerTimeline | None) -> str:
        if line is None:
            return ""
        if line.is_held:
            return self.tr(
                "The answer is held: it waits for you before its next token, and that time counts nowhere."
            )
        if line.diagnosis is not None:
            return render(line.diagnosis.sentence)
        if "waits" in line.unknown:
            return unknown_words("waits")
        if line.is_open:
            return self.tr("The answer is being written: the picture grows with it.")
        return self.tr("The answer was interrupted: this is what is known of its time.")

    def _show_bar(self) -> None:
        hint = self.tr(
            "Click a bar or go from bar to bar with the arrow keys. Ctrl and the wheel, or + and −, zoom; drag to move."
        )
        said = self.view.sentence()
        self.bar_text.setText(said or hint)
        self.bar_text.setProperty("look", "" if said else "muted")
        self.bar_text.style().polish(self.bar_text)

    def _show_gap(self) -> None:
        said = self.histogram.sentence()
        self.gap_text.setText(said or bins_sentence(self._bins))
