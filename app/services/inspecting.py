"""The answer whose tokens people look at one by one: which it is, what is known of it, and which token is looked at.

Follows the newest answer of the conversation that is shown, also while it is written, until somebody chooses another.
It is read as the one lane of a comparison that nobody keeps. The work is done by the background jobs, which load numpy;
knows no view.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.events import PromptReady, Tokens
from app.core.job_events import LanesAnalysed
from app.core.ports import StorePort
from app.core.signal import Signal
from app.core.store_events import PiecesRead, PromptRead, RecordRead
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.comparison_reads import ComparisonReads
from app.services.engine_session import EngineSession
from app.services.inspected_lane import Grounds, can_be_looked_at, found, insight, is_open, run_of, whole
from app.services.inspection import InspectedAnswer, InspectedPrompt, TokenInsight
from app.services.lane_inputs import LaneInputs
from app.services.latest_job import LatestJob
from app.services.questions import AnswerEvent
from app.services.reread_prompt import tokens_before, written_before
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary
from app.system.jobs import Jobs

FOLLOW_S = 0.2
"""What is written meanwhile is looked at so often."""
_ID_BYTES = 4


class Problems(NamedTuple):
    """What is said of work that broke; None where it did not."""

    answer: Sentence | None
    """Why the answer's tokens are not known, or not the newest."""
    insight: Sentence | None
    """Why it is not known what could have come at the token that is looked at."""


class Inspecting:
    """One answer at a time; nothing is read while nobody looks."""

    def __init__(
        self, chat: Chat, session: EngineSession, store: StorePort, vocabulary: Vocabulary, jobs: Jobs
    ) -> None:
        self.opened: Signal[()] = Signal()
        """Another answer is looked at, or none any more."""
        self.changed: Signal[()] = Signal()
        """More is known of it: its tokens, its prompt, or what could have come at the token that is looked at."""
        self.token_changed: Signal[int | None] = Signal()
        """Another token of it is looked at, counted from 0; None for none."""
        self.chat = chat
        """Whose answers they are."""
        self._session = session
        self._store = store
        self._vocabulary = vocabulary
        self._is_watched = False
        self._follows = True
        """Whether the newest answer is looked at, whichever that is."""
        self._turn: Turn | None = None
        self._reads: ComparisonReads | None = None
        self._is_live = False
        """Whether the answer was being written when it was looked at."""
        self._how: tuple[str, bool] | None = None
        """How far the answer was when that was told last, and whether it waited for somebody."""
        self._is_behind = False
        """Whether more came since the last look at a growing answer began."""
        self._early: list[bytes] | None = None
        """Blocks of its record that came since the store was asked; None once that has answered."""
        self._answer: InspectedAnswer | None = None
        self._prompt: InspectedPrompt | None = None
        self._token: int | None = None
        self._insight: TokenInsight | None = None
        self._problem: Sentence | None = None
        self._insight_problem: Sentence | None = None
        self._grounds: Grounds | None = None
        """What the insight is worked out from."""
        self._reading: LatestJob[_Found] = LatestJob(jobs, "tokens of an answer", self._take_found)
        self._following: LatestJob[_Found] = LatestJob(
            jobs, "tokens of a growing answer", self._take_followed, after_s=FOLLOW_S
        )
        self._looking: LatestJob[TokenInsight] = LatestJob(jobs, "one token of an answer", self._take_insight)
        session.answer_told.connect(self._follow)
        chat.opened.connect(self._open_newest)
        chat.rebranched.connect(lambda _first: self._look())
        chat.changed.connect(self._look_at_changed)
        vocabulary.changed.connect(self._take_vocabulary)

    @property
    def turn(self) -> Turn | None:
        """The answer that is looked at; None while there is none."""
        return self._turn

    @property
    def token(self) -> int | None:
        """The token that is looked at, counted from 0 in `turn.ids`; None for none."""
        return self._token

    @property
    def answer(self) -> InspectedAnswer | None:
        """What is known of the answer's tokens; None before it is."""
        return self._answer

    @property
    def insight(self) -> TokenInsight | None:
        """What could have come at the token that is looked at; None before that is known, and where it is not."""
        return self._insight

    @property
    def problems(self) -> Problems:
        """What could not be worked out, and what would help."""
        return Problems(self._problem, self._insight_problem)

    @property
    def prompt(self) -> InspectedPrompt | None:
        """What is known of the answer's prompt; None before it is, and where it is not kept."""
        return self._prompt

    @property
    def inputs(self) -> LaneInputs | None:
        """The answer as the one lane of a comparison (index 0), its record among it, for jobs that replay it."""
        reads = self._reads
        return reads.inputs() if reads is not None and reads.is_whole else None

    @property
    def is_busy(self) -> bool:
        """Whether something is being read or worked out."""
        is_reading = self._reads is not None and not self._reads.is_whole
        return is_reading or self._reading.is_busy or self._following.is_busy or self._looking.is_busy

    @property
    def answers(self) -> tuple[Turn, ...]:
        """The answers of the branch that is shown which have tokens or will have, oldest first."""
        return tuple(turn for turn in self.chat.turns if can_be_looked_at(turn))

    def question_of(self, turn: Turn) -> Turn | None:
        """Return the question that an answer answers."""
        return self.chat.shown.known.get(turn.parent) if turn.parent is not None else None

    def watch(self, on: bool) -> None:
        """Say whether somebody looks: nothing is read or worked out for nobody."""
        if on == self._is_watched:
            return
        self._is_watched = on
        if on:
            self._look()
        else:
            self._forget()

    def open(self, turn: Turn, token: int | None = None) -> None:
        """Look at an answer of the branch that is shown; the newest one is followed by those that come after it."""
        answers = self.answers
        self._follows = not answers or turn is answers[-1]
        if turn is self._turn and is_open(turn) and self._is_watched:
            self._begin(turn)  # what it begins with is known by now
        self._use(turn)
        self.look_at(token)

    def look_at(self, token: int | None) -> None:
        """Look at another token of the answer."""
        if token == self._token:
            return
        self._token = token
        self._insight_problem = None
        if self._insight is not None and self._insight.index != token:
            self._insight = None
        self.token_changed.emit(token)
        self._look_closer()

    def take_read(self, event: RecordRead | PromptRead | PiecesRead) -> None:
        """Take in what the store knows of the answer."""
        reads = self._reads
        if reads is None or not reads.take(event):
            return
        if isinstance(event, RecordRead) and self._early is not None:
            reads.run.lanes[0].record += self._early
            self._early = None
        if reads.is_whole:
            self._work(self._reading)

    def take(self, event: LanesAnalysed) -> None:
        """Take in what a job has found."""
        for job in (self._reading, self._following, self._looking):
            job.take(event)

    def _open_newest(self) -> None:
        """Another conversation is shown: its newest answer is looked at."""
        self._follows = True
        self._use(None)
        self._look()

    def _look(self) -> None:
        """Look at the newest answer if that is wanted, and leave the one that is gone from the branch."""
        if not self._is_watched:
            return
        answers = self.answers
        newest = answers[-1] if answers else None
        is_there = any(each is self._turn for each in answers)
        if not is_there:
            self._follows = True
        self._use(newest if self._follows else self._turn)

    def _look_at_changed(self, turn: Turn) -> None:
        """An answer that has ended is read once more, whole; one that began is followed."""
        if not self._is_watched:
            return
        self._look()
        if turn is self._turn and self._is_live != is_open(turn):
            self._begin(turn)
        how = (turn.state, turn.is_held)
        if turn is self._turn and how != self._how:
            self._how = how
            self.changed.emit()

    def _use(self, turn: Turn | None) -> None:
        if turn is self._turn and (turn is None or self._reads is not None or not self._is_watched):
            return
        is_other = turn is not self._turn
        self._forget()
        self._turn = turn
        if is_other and self._token is not None:
            self._token = None
            self.token_changed.emit(None)
        if turn is not None and self._is_watched:
            self._begin(turn)
        self.opened.emit()

    def _forget(self) -> None:
        for job in (self._reading, self._following, self._looking):
            job.forget()
        self._reads = self._early = self._answer = self._prompt = self._insight = None
        self._problem = self._insight_problem = self._grounds = None

    def _begin(self, turn: Turn) -> None:
        """Ask for what is not in memory."""
        for job in (self._reading, self._following):
            job.forget()
        run, writing = run_of(turn, self.chat.shown), self.chat.shown.run
        early: list[bytes] = []
        if writing is not None and writing.turn is turn:
            run.ready, run.lanes[0].turn = writing.prompt, whole(writing)
            if writing.prompt is None:  # its beginning is kept with its prompt
                early += writing.beginning.record
            elif turn.state == "waiting" and writing.goes_on:  # nothing of it is kept before it says something
                early += [event.record for event in writing.early]
        self._early, self._is_live = early, is_open(turn)
        self._reads = ComparisonReads(run, self._session, self._store, self._vocabulary)
        self._reads.begin()

    def _follow(self, event: AnswerEvent) -> None:
        """Take down what is recorded of an answer while it is written."""
        writing = self.chat.shown.run
        reads = self._reads
        if reads is None or writing is None or event.request != writing.request or writing.turn is not self._turn:
            return
        if isinstance(event, PromptReady):
            self._begin(writing.turn)  # what it begins with is kept now
        elif isinstance(event, Tokens):
            reads.run.lanes[0].turn = whole(writing)
            (reads.run.lanes[0].record if self._early is None else self._early).append(event.record)
            self._catch_up()

    def _catch_up(self) -> None:
        """Work out what came, unless that is being done: another wish would make that one worth nothing."""
        self._is_behind = self._following.is_busy
        if not self._is_behind:
            self._work(self._following)

    def _take_followed(self, made: _Found | None) -> None:
        self._take_found(made)
        if self._is_behind:
            self._catch_up()

    def _work(self, job: LatestJob[_Found]) -> None:
        reads = self._reads
        if reads is None or not reads.is_whole:
            return
        inputs, prompt = reads.inputs(), self._prompt_of(reads)
        job.want(lambda: found(inputs, prompt))

    def _prompt_of(self, reads: ComparisonReads) -> InspectedPrompt | None:
        """Return the prompt without the texts of its tokens."""
        kept = reads.kept_prompt or reads.run.ready
        if kept is None or self._turn is None:
            return None
        end = tokens_before(kept)
        ids = memoryview(kept.ids[: end * _ID_BYTES]).cast("i").tolist()
        spans = tuple(span for span in kept.spans if span.end <= end)
        last = max((span.message for span in spans), default=0)
        written = reversed(written_before(self.chat.shown, self._turn))  # from the end: there may have been another
        answers = tuple(last - place for place, is_answer in enumerate(written) if is_answer)  # system prompt
        model = self._session.model
        is_theirs = model is not None and model.tokenizer == self._turn.tokenizer
        begin = model.begin_token if model is not None and is_theirs else None
        return InspectedPrompt(self._turn.message, tuple(ids), (), spans, written=answers, begin_token=begin)

    def _take_vocabulary(self) -> None:
        """Say what the tokens say, once somebody knows."""
        if self._reads is not None and self._reads.is_whole and self._reads.lacks_pieces:
            self._catch_up()

    def _take_found(self, made: _Found | None) -> None:
        if self._turn is None or (made is not None and made[0].message != self._turn.message):
            return
        self._problem = None if made is not None else _NOT_READ
        if made is not None:
            self._answer, self._prompt = made
        # An answer that grows has more tokens than are worked out.
        known = max(len(self._turn.ids) // _ID_BYTES, len(self._answer or ()))
        if self._answer is not None and self._token is not None and self._token >= known:
            self.look_at(None)
        self.changed.emit()
        self._look_closer()

    def _look_closer(self) -> None:
        """Have the tokens worked out that could have come at the token that is looked at, with all that is known now."""
        inputs, token, answer = self.inputs, self._token, self._answer
        if inputs is None or answer is None or token is None:
            self._looking.forget()
            self._grounds = None
            return
        grounds = Grounds.of(inputs, answer, token)
        if grounds != self._grounds:
            self._grounds = grounds
            self._looking.want(lambda: insight(inputs, token))

    def _take_insight(self, made: TokenInsight | None) -> None:
        self._insight, self._insight_problem = made, None if made is not None else _NOT_SEEN
        self.changed.emit()


_Found = tuple[InspectedAnswer, InspectedPrompt | None]


_NOT_READ = translate(
    "Inspecting",
    "The tokens of this answer could not be worked out: go to the chat and come back to try again. The log has the details.",
)
_NOT_SEEN = translate(
    "Inspecting",
    "What could have come here could not be worked out: look at another token. The log has the details.",
)
