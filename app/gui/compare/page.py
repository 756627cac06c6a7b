"""The page Compare: where a comparison is set up, or the one that people look at."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.compare.differences import Differences
from app.gui.compare.run_view import RunView
from app.gui.compare.setup_view import SetupView
from app.gui.compare.tall_page import TallPage
from app.gui.icons import Icons
from app.services.comparing import Comparing
from app.services.comparison_analysis import ComparisonAnalysis
from app.services.file_export import FileExport
from app.services.lane_starts import Lanes
from app.services.lanes_there import asked_again
from app.services.sampling import Sampling
from app.services.turns import Turn


class ComparePage(QWidget):
    """Shows what the service looks at."""

    begun = Signal(bool)
    """A comparison began; whether it is of a new question."""
    closed = Signal()
    """Somebody put the comparison away."""

    def __init__(
        self, comparing: Comparing, sampling: Sampling, themes: theme.Themes, icons: Icons, background: Background
    ) -> None:
        super().__init__()
        self.setObjectName("compare_page")
        self._comparing = comparing
        self._themes = themes
        self._icons = icons
        self._sampling = sampling
        self.setup_view = SetupView(comparing, sampling, themes, icons)
        self.run_view = RunView(comparing, themes, icons, background)
        self.differences: Differences | None = None
        """What an analysis of the lanes is needed for, once one can be had."""
        self._run_page = TallPage(self.run_view)
        self._run_page.room_changed.connect(self.run_view.take_room)
        self.run_view.reveal_wanted.connect(self._run_page.reveal)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.setup_view)
        self._pages.addWidget(self._run_page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.setup_view.started.connect(self._begin)
        self.setup_view.running_wanted.connect(self._show_running)
        self.run_view.wanted.connect(self._leave)
        self._disconnect = [
            comparing.opened.connect(self.show_opened),
            comparing.busy_changed.connect(self.setup_view.show_refusal),
            sampling.changed.connect(lambda: self.setup_view.follow(sampling.values)),
        ]
        self.show_opened()

    @property
    def shows_lanes(self) -> bool:
        """Whether a comparison is shown, and not where one is set up."""
        return self._pages.currentWidget() is self._run_page

    def analyse(self, analysis: ComparisonAnalysis, files: FileExport) -> None:
        """Show what an analysis finds in the lanes; `files` writes what somebody exports."""
        self.differences = Differences(self.run_view, analysis, self._themes, self._icons, files)
        self.differences.show_run(self._comparing.shown)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        if self.differences is not None:
            self.differences.disconnect_services()
        self.run_view.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show_opened(self) -> None:
        """Show the comparison that is looked at, or where one is set up."""
        run = self._comparing.shown
        has_keyboard = self.isAncestorOf(self.window().focusWidget())
        self.run_view.show_run(run)
        if self.differences is not None:
            self.differences.show_run(run)
        self._pages.setCurrentWidget(self._run_page if run is not None else self.setup_view)
        self.setup_view.show_refusal()
        if run is None and has_keyboard:
            self.setup_view.take_focus()
        else:
            self.run_view.take_focus()

    def set_up(self, question: Turn | None, present: SamplingSettings) -> None:
        """Set up a comparison of a question, with the settings of its answer or of the chat."""
        self.setup_view.begin_with(present, is_of_answer=present != self._sampling.values)
        self.setup_view.offer(question, self.setup_view.prompt.text, can_write=True)
        self.setup_view.prompt.choose_question()
        self._pages.setCurrentWidget(self.setup_view)

    def _begin(self, lanes: Lanes) -> None:
        prompt = self.setup_view.prompt
        question = prompt.chosen
        if self._comparing.begin(lanes, question, prompt.text):
            self.begun.emit(question is None)

    def _show_running(self) -> None:
        if self._comparing.running is not None:
            self._comparing.open(self._comparing.running.comparison.id)

    def _leave(self, wish: str) -> None:
        run = self._comparing.shown
        if wish == "new" and run is not None:
            self.setup_view.use(asked_again(run))
        self._comparing.close()
        if wish == "close":
            self.closed.emit()
