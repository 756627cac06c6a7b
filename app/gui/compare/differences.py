"""Joins the analysis of a comparison to its page: marks in the lanes, the card, figures, what if, branches and export."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QMenu, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.gui import theme
from app.gui.compare.branch_view import BranchView
from app.gui.compare.divergence_card import DivergenceCard
from app.gui.compare.divergence_cards import DivergenceCards
from app.gui.compare.exporting import ExportButton
from app.gui.compare.lane_column import LaneColumn
from app.gui.compare.lane_insight import LaneInsight
from app.gui.compare.lane_words import run_lane_name
from app.gui.compare.lower_strip import LowerStrip
from app.gui.compare.marks import Marks, token_marks, what_if_marks, word_marks
from app.gui.compare.picture_steps import Done, PictureSteps
from app.gui.compare.run_picture import Shown, Tools, page_picture
from app.gui.compare.run_view import RunView
from app.gui.compare.view_bar import ViewBar
from app.gui.icons import Icons
from app.gui.widgets.words import render
from app.services.comparison_analysis import ComparisonAnalysis
from app.services.file_export import FileExport
from app.services.lane_analysis import Analysis, LaneWords, TextSpan
from app.services.lanes_run import LanesRun, still_run

REFRESH_MS = 1000
"""Figures and branches of lanes that are written are at most so old, and what comes before that, where they are seen."""


class Differences(QObject):
    """Everything on the page that an analysis is needed for."""

    def __init__(
        self,
        view: RunView,
        analysis: ComparisonAnalysis,
        themes: theme.Themes,
        icons: Icons,
        files: FileExport,
    ) -> None:
        super().__init__(view)
        self._view = view
        self._service = analysis
        self._themes = themes
        self._icons = icons
        self._drawing = PictureSteps(self)
        self._run: LanesRun | None = None
        self._analysis: Analysis | None = None
        self._last_shown: int | None = None
        """The comparison that was shown last."""
        self._insights: dict[int, LaneInsight] = {}
        """By lane."""
        self.branches = BranchView(themes)
        self.card = DivergenceCard(view, themes, icons)
        self._cards = DivergenceCards(self.card, self)
        self.strip = LowerStrip(themes, icons)
        self.export = ExportButton(themes, icons, self._picture, files)
        self.bar = ViewBar(self.export)
        self._asked_words: tuple[Analysis | None, tuple[int, int] | None, LaneWords | None] = (None, None, None)
        """Of which analysis which two lanes were asked about, and what was known of words before."""
        self._was_running = False
        self._lay_out()
        self.bar.view_wanted.connect(self._show_view)
        self.bar.shown_changed.connect(self._show_marks)
        self.bar.zoom_wanted.connect(self.branches.zoom_by)
        self.bar.fit_wanted.connect(self.branches.fit)
        self.branches.lane_wanted.connect(self._go_to)
        self.strip.figures.lane_wanted.connect(self._go_to)
        self.strip.page_changed.connect(self._take_page)
        self.strip.chosen.connect(lambda: self._view.reveal_wanted.emit(self.strip))
        self._view.room_changed.connect(self._follow_room)
        self._view.figures_shown.connect(self._show_live)
        self._refreshing = QTimer(self)
        self._refreshing.setInterval(REFRESH_MS)
        self._refreshing.timeout.connect(self._refresh)
        self.strip.what_if.asked.connect(analysis.ask_what_if)
        self.strip.what_if.chosen.connect(self._show_lane)
        self.strip.what_if.looked_at.connect(self._frame)
        self.strip.what_if.grown.connect(lambda: self._view.reveal_wanted.emit(self.strip))
        self._disconnect = [analysis.changed.connect(self._take_analysis), files.changed.connect(self._say)]

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._drawing.stop()
        self.export.disconnect_services()
        for disconnect in self._disconnect:
            disconnect()

    def show_run(self, run: LanesRun | None) -> None:
        """Show another comparison, whose lanes are in the view already, or none."""
        is_other = run is not None and run.comparison.id != self._last_shown
        self._run, self._analysis = run, None
        self._was_running = run is not None and run.is_running
        if run is not None and run.is_running:
            self.strip.begin()
        self._cards.put_away()
        self._insights = {}
        for column in self._view.columns:
            insight = LaneInsight(column, self._themes)
            insight.overlay.pointed.connect(self._cards.point)
            insight.overlay.token_under.connect(self.strip.what_if.look_at)
            insight.asked.connect(self._show_card)
            column.menu_opens.connect(lambda menu, lane=column.lane.index: self._add_to(menu, lane))
            self._insights[column.lane.index] = insight
        if run is not None and is_other:
            self._last_shown = run.comparison.id
            self.bar.begin()
            self.export.look_away()
        self._take_analysis()
        self._show_analysis()

    def what_if(self, lane: int) -> None:
        """Show a lane under other settings."""
        self.strip.choose("what_if")
        self.strip.what_if.choose(lane)

    def _lay_out(self) -> None:
        self._view.views.addWidget(self.bar)
        self._view.strip.addWidget(self.strip)
        layout = self._view.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(layout.indexOf(self._view.area) + 1, self.branches, 1)
        self.branches.hide()

    def _take_analysis(self) -> None:
        """Show what is known now; what only concerns one question is shown without everything else."""
        found = self._service.shown
        run = self._run
        is_theirs = found is not None and run is not None and found.comparison == run.comparison.id
        analysis = found if is_theirs else None
        if analysis is not self._analysis:
            self._analysis = analysis
            self._show_analysis()
        self._follow_room()
        self._say()
        if self.strip.page == "what_if":
            self.strip.what_if.show_found(self._service.what_if)
        self._show_marks()
        if analysis is not None and run is not None and self._was_running and not run.is_running:
            self._was_running = False
            self._come_to_rest()

    def _come_to_rest(self) -> None:
        """Show, now that all is written, where lanes part."""
        for insight in self._insights.values():
            if insight.column.text.come_to_rest():
                insight.reveal()

    def _show_analysis(self) -> None:
        run, analysis = self._run, self._analysis
        lanes = run.lanes if run is not None else []
        names = [(lane, run_lane_name(run, lane)) for lane in lanes] if run is not None else []
        baseline = analysis.baseline if analysis is not None else run.comparison.baseline if run is not None else 0
        ended = [(lane, name) for lane, name in names if not lane.is_open and lane.turn.ids]
        self.strip.figures.figures.show_analysis(analysis, [(lane.index, name) for lane, name in names])
        self.strip.what_if.show_lanes(ended, baseline)
        self.branches.show_analysis(analysis)
        self._cards.show_analysis(analysis)
        self.export.show_analysis(run, analysis)
        self.bar.offer([lane.index for lane in lanes], baseline)
        self._follow_room()
        for insight in self._insights.values():
            insight.show_analysis(analysis)

    def _follow_room(self) -> None:
        """Open the strip or close it where nobody did: the lanes come first."""
        is_running = self._run is not None and self._run.is_running
        has_room = self._view.has_room_for(self.strip.height_with_figures)
        self.strip.follow(is_running=is_running, has_room=has_room)

    def _refresh(self) -> None:
        """Have lanes that are written analysed anew, as long as somebody looks at what is made of that."""
        if self._run is None or not self._run.is_running:
            self._refreshing.stop()
        elif (self.branches.isVisible() or self.strip.inside.isVisible()) and not self._service.is_busy:
            self._service.refresh()

    def _show_live(self) -> None:
        """Show how undecided the model is in lanes that are written, all of them measured alike."""
        run = self._run
        if run is None or not run.is_running:
            return
        if not self._refreshing.isActive():
            self._refreshing.start()
        top = max((insight.most_entropy for insight in self._insights.values()), default=1.0)
        for insight in self._insights.values():
            if self._view.area.is_seen(insight.column):
                insight.show_live(run, self._analysis, top)

    def _show_marks(self) -> None:
        """Mark in each lane what is to be marked."""
        if self._analysis is not None and self.bar.shown == "words" and self.bar.pair is not None:
            self._ask_words(self._analysis, self.bar.pair)
        self._view.area.show_only(self._columns_beside)
        for lane, insight in self._insights.items():
            insight.overlay.show_marks(self._marks_of(lane))

    def _ask_words(self, analysis: Analysis, pair: tuple[int, int]) -> None:
        """Ask about the words of two lanes, once for each analysis."""
        if self._asked_words[0] is not analysis or self._asked_words[1] != pair:
            self._asked_words = (analysis, pair, self._service.words)
            self._service.ask_words(*pair)

    @property
    def _columns_beside(self) -> list[QWidget]:
        """The two lanes whose words are compared; none where all lanes are shown."""
        pair = (self.bar.pair or ()) if self.bar.shown == "words" else ()
        return [self._insights[lane].column for lane in pair if lane in self._insights]

    @property
    def _words(self) -> LaneWords | None:
        """What is known of the words of the two lanes as they are now."""
        words = self._service.words
        is_theirs = words is not None and (words.first, words.second) == self.bar.pair
        return words if is_theirs and words is not self._asked_words[-1] else None

    def _marks_of(self, lane: int) -> Marks:
        analysis, shown = self._analysis, self.bar.shown
        known = analysis.lane(lane) if analysis is not None else None
        column = self._column(lane)
        if analysis is None or known is None or column is None or known.text != column.lane.turn.text:
            return Marks()
        marks = Marks()
        if shown == "tokens":
            marks = token_marks(analysis, lane)
        words = self._words if shown == "words" else None
        if words is not None:
            marks = Marks(words=word_marks(words, lane))
        found = self._service.what_if
        if self.strip.page == "what_if" and found is not None and found.lane == lane == self.strip.what_if.lane:
            seen = what_if_marks(found)
            marks = marks._replace(stages=seen.stages, unlikely=seen.unlikely, greedy=seen.greedy)
        return marks

    def _say(self) -> None:
        """Say over the lanes where a file was saved, or why nothing came of the analysis."""
        problem = self._service.problem
        self.bar.say(render(problem) if problem is not None else self.export.saved_words)

    def _show_view(self, name: str) -> None:
        self._cards.put_away()
        views: tuple[QWidget, QWidget] = self.branches, self._view.area
        hidden, shown = views if name == "lanes" else views[::-1]
        takes_keyboard = hidden.isAncestorOf(hidden.window().focusWidget())  # Qt would give it to any button
        hidden.hide()
        shown.show()
        if takes_keyboard:
            shown.setFocus()

    def _take_page(self) -> None:
        if self.strip.page == "what_if":
            self.strip.what_if.ask()
        else:
            self._frame(None)
        self._show_marks()

    def _show_lane(self, lane: int) -> None:
        """Bring the lane that is replayed into view: most of its marks are in its text."""
        column = self._column(lane)
        if column is not None and not column.isHidden():
            self._view.area.reveal(column)

    def _frame(self, span: TextSpan | None) -> None:
        """Frame in its lane the token that is looked at in “what if”."""
        for lane, insight in self._insights.items():
            insight.overlay.look_at(span if lane == self.strip.what_if.lane else None)

    def _column(self, lane: int) -> LaneColumn | None:
        return next((column for column in self._view.columns if column.lane.index == lane), None)

    def _go_to(self, lane: int, token: int | None = None) -> None:
        """Show a lane with the keyboard in it: at one of its tokens, or where it leaves the baseline."""
        column = self._column(lane)
        if column is None:
            return
        self.bar.show_view("lanes")
        if column.isHidden():  # two others are compared word by word
            self.bar.begin()
        self._view.area.reveal(column)
        column.text.setFocus()
        known = self._analysis.lane(lane) if self._analysis is not None else None
        starts = known.token_starts if known is not None and token is not None else ()
        self._frame(None)
        if token is not None and token + 1 < len(starts):
            self._insights[lane].go_to(TextSpan(starts[token], starts[token + 1]))
        else:
            self._insights[lane].reveal()

    def _show_card(self, lane: int) -> None:
        """Show why a lane leaves the baseline, or why all others leave it here."""
        insight = self._insights.get(lane)
        if insight is not None:
            self._cards.show_for(insight)

    def _add_to(self, menu: QMenu, lane: int) -> None:
        """Offer in the menu of a lane what an analysis is needed for."""
        insight = self._insights.get(lane)
        if insight is None:
            return
        menu.addSeparator()
        shows = menu.addAction(self.tr("Show where {lane} differs").format(lane=LETTERS[lane]))
        shows.setObjectName("show_divergence_action")
        shows.setEnabled(insight.link.isEnabled())
        shows.triggered.connect(lambda _checked=False: self._show_card(lane))
        asks = menu.addAction(self.tr("What if: other settings…"))
        asks.setObjectName("what_if_action")
        asks.setEnabled(not insight.column.lane.is_open and bool(insight.column.lane.turn.ids))
        asks.triggered.connect(lambda _checked=False: self.what_if(lane))

    def _picture(self, done: Done) -> None:
        """Hand on a picture of what is shown: all branches, or the page with its lanes."""
        run = self._run
        if run is not None and self.branches.isVisible():
            self._drawing.start((self.branches.picture(run) for _ in range(1)), done)
        elif run is not None:
            marks = {lane: self._marks_of(lane).of_lanes() for lane in self._insights}
            header = self.strip.figures.horizontalHeader()
            order = header.sortIndicatorSection(), header.sortIndicatorOrder()
            tools = Tools(self._themes, self._icons, self._view.background)
            self._drawing.start(page_picture(Shown(still_run(run), self._analysis, marks, order), tools), done)
