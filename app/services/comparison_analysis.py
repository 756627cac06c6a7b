"""Analyses the comparison that is looked at: when it was opened, when a lane has ended, when another baseline is pinned.

The work is done by the background jobs, which load numpy; knows no view.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.job_events import LanesAnalysed
from app.core.ports import StorePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.store_events import PiecesRead, PromptRead, RecordRead
from app.core.words import Sentence, translate
from app.services.comparing import Comparing
from app.services.comparison_reads import ComparisonReads
from app.services.engine_session import EngineSession
from app.services.lane_analysis import Analysis, LaneWhatIf, LaneWords
from app.services.lane_inputs import LaneInputs
from app.services.lanes_run import LanesRun
from app.services.latest_job import LatestJob
from app.services.vocabulary import Vocabulary
from app.system.jobs import Jobs

SOON = "a moment for the window"
PICTURE_S = 0.1
"""Lanes that end are painted within this time: Python runs one thread at a time, and a job would take half of it.

What ends within it is analysed together.
"""


class _State(NamedTuple):
    """What makes another analysis necessary when it changes."""

    baseline: int
    ended: tuple[int, ...]
    is_running: bool


class _Wished(NamedTuple):
    """What somebody asked for in words or settings of single lanes."""

    what_if: tuple[int, SamplingSettings] | None = None
    words: tuple[int, int] | None = None


class ComparisonAnalysis:
    """The newest analysis of the comparison that is looked at, and what somebody asked about its lanes."""

    def __init__(
        self, comparing: Comparing, session: EngineSession, store: StorePort, vocabulary: Vocabulary, jobs: Jobs
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Something else is known, or is being worked out."""
        self._comparing = comparing
        self._session = session
        self._store = store
        self._vocabulary = vocabulary
        self._jobs = jobs
        self._is_soon = False
        """Whether lanes are analysed in a moment: they ended, and are painted first."""
        self._reads: ComparisonReads | None = None
        self._state: _State | None = None
        """What the newest wish for an analysis was made of."""
        self._wished = _Wished()
        self._shown: Analysis | None = None
        self._what_if: LaneWhatIf | None = None
        self._words: LaneWords | None = None
        self._problem: Sentence | None = None
        self._analysing: LatestJob[Analysis] = LatestJob(jobs, "analysis of lanes", self._take_analysis)
        self._replaying: LatestJob[LaneWhatIf] = LatestJob(jobs, "what if of a lane", self._take_what_if)
        self._comparing_words: LatestJob[LaneWords] = LatestJob(jobs, "words of two lanes", self._take_words)
        comparing.opened.connect(self._open)
        comparing.changed.connect(self._look_soon)
        comparing.lane_changed.connect(self._look_at_lane)
        vocabulary.changed.connect(self._take_vocabulary)

    @property
    def shown(self) -> Analysis | None:
        """The newest analysis of the comparison that is looked at; None before there is one."""
        return self._shown

    @property
    def what_if(self) -> LaneWhatIf | None:
        """What came of the newest question about other settings."""
        return self._what_if

    @property
    def words(self) -> LaneWords | None:
        """What came of the newest question about the words of two lanes."""
        return self._words

    @property
    def problem(self) -> Sentence | None:
        """Why the newest wish came to nothing; None where it did not."""
        return self._problem

    @property
    def is_busy(self) -> bool:
        """Whether something is being read or worked out."""
        is_reading = self._reads is not None and not self._reads.is_whole
        jobs = self._analysing, self._replaying, self._comparing_words
        return self._is_soon or is_reading or any(job.is_busy for job in jobs)

    def refresh(self) -> None:
        """Analyse the lanes as they are now, also while they are written."""
        if self._reads is not None and self._reads.is_whole:
            self._state = _state_of(self._reads.run)
            inputs = self._reads.inputs()
            self._analysing.want(lambda: _analyse(inputs))
            self.changed.emit()

    def ask_what_if(self, lane: int, settings: SamplingSettings) -> None:
        """Have the record of a lane replayed under other settings; `what_if` is the newest that was asked for."""
        self._wished = self._wished._replace(what_if=(lane, settings))
        self._grant()

    def ask_words(self, first: int, second: int) -> None:
        """Have two lanes compared word by word; `words` is the newest that was asked for."""
        self._wished = self._wished._replace(words=(first, second))
        self._grant()

    def take_read(self, event: RecordRead | PromptRead | PiecesRead) -> None:
        """Take in what the store knows of the comparison that is looked at."""
        reads = self._reads
        if reads is not None and reads.take(event) and reads.is_whole:
            self._look()
            self._grant()

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has found, or that it is time for the next one."""
        if event.job == SOON:
            self._is_soon = False
            self._look()
        self._analysing.take(event)
        self._replaying.take(event)
        self._comparing_words.take(event)

    def _open(self) -> None:
        """Look at another comparison, or at none."""
        run = self._comparing.shown
        self._shown = self._what_if = self._words = self._problem = self._state = None
        self._wished = _Wished()
        for job in (self._analysing, self._replaying, self._comparing_words):
            job.forget()
        self._reads = None
        if run is not None:
            self._reads = ComparisonReads(run, self._session, self._store, self._vocabulary)
            self._reads.begin()
            self._look()
        self.changed.emit()

    def _look(self) -> None:
        """Analyse anew where a lane has ended since, or another baseline was pinned."""
        if self._is_due:
            self.refresh()

    def _look_soon(self) -> None:
        """Analyse lanes that have ended once the window has painted that; at once where somebody waits for it."""
        reads, state = self._reads, self._state
        if reads is None or not self._is_due:
            return
        if state is not None and state._replace(baseline=reads.run.comparison.baseline) == _state_of(reads.run):
            self.refresh()  # another baseline was pinned
        elif not self._is_soon:
            self._is_soon = True
            self._jobs.submit(SOON, lambda: LanesAnalysed(0, SOON), after_s=PICTURE_S)

    @property
    def _is_due(self) -> bool:
        reads = self._reads
        if reads is None or reads.run is not self._comparing.shown or not reads.is_whole:
            return False
        state = _state_of(reads.run)
        return state != self._state and (bool(state.ended) or not state.is_running)

    def _look_at_lane(self, comparison: int, _lane: int) -> None:
        if self._reads is not None and self._reads.run.comparison.id == comparison:
            self._look_soon()

    def _take_vocabulary(self) -> None:
        """Say what the tokens say, once that is known."""
        if self._reads is not None and self._state is not None and self._reads.lacks_pieces:
            self.refresh()

    def _grant(self) -> None:
        """Begin with what was asked for, once everything was read."""
        reads, wished = self._reads, self._wished
        if reads is None or not reads.is_whole or wished == _Wished():
            return
        self._wished = _Wished()
        inputs = reads.inputs()
        if wished.what_if is not None and inputs.lane(wished.what_if[0]) is not None:
            lane, settings = wished.what_if
            self._replaying.want(lambda: _replay(inputs, lane, settings))
        if wished.words is not None and all(inputs.lane(each) is not None for each in wished.words):
            first, second = wished.words
            self._comparing_words.want(lambda: _compare(inputs, first, second))
        self.changed.emit()

    def _take_analysis(self, made: Analysis | None) -> None:
        self._shown = made or self._shown
        self._end(_FAILED if made is None else None)

    def _take_what_if(self, made: LaneWhatIf | None) -> None:
        self._what_if = made
        self._end(_FAILED if made is None else None)

    def _take_words(self, made: LaneWords | None) -> None:
        self._words = made
        self._end(_FAILED if made is None else None)

    def _end(self, problem: Sentence | None) -> None:
        self._problem = problem
        self.changed.emit()


def _state_of(run: LanesRun) -> _State:
    ended = tuple(lane.index for lane in run.lanes if not lane.is_open)
    return _State(run.comparison.baseline, ended, run.is_running)


def _analyse(inputs: LaneInputs) -> Analysis:
    # Loads numpy, which costs 130 ms: the window's start need not wait for it.
    from app.services.analysing import analyse  # noqa: PLC0415  loaded by the first job that needs it

    return analyse(inputs)


def _replay(inputs: LaneInputs, lane: int, settings: SamplingSettings) -> LaneWhatIf | None:
    from app.services.analysing import replayed  # noqa: PLC0415  loaded by the first job that needs it

    return replayed(inputs, lane, settings)


def _compare(inputs: LaneInputs, first: int, second: int) -> LaneWords | None:
    from app.services.analysing import compared_words  # noqa: PLC0415  loaded by the first job that needs it

    return compared_words(inputs, first, second)


_FAILED = translate("ComparisonAnalysis", "The lanes could not be analysed; the log has the details.")
