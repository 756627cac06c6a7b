"""The candidates of the latest step, raw and after the chain of the settings that are in force now.

While an answer is held they are those of the next token, which is not drawn yet. Must not know what shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.core.commands import Watch
from app.core.events import Failed, Finished, Held, Loaded, LoadProgress, PromptReady, Step, Tokens
from app.core.ports import EnginePort
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.answers import Answers
from app.services.conversations import Conversations
from app.services.divergence_words import GRAMMAR_NOT_COUNTED
from app.services.engine_session import EngineSession
from app.services.questions import AnswerEvent
from app.services.sampling import Sampling
from app.services.step_answer import StepAnswer, first_of
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary

if TYPE_CHECKING:
    from app.probability.dry import Breakers
    from app.services.step_candidates import Candidate, StepCandidates


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """One token of the latest step."""

    token: int
    text: str | None
    """What it says, parts of characters as `<0xD7>`; None where that is not known yet."""
    rank: int | None
    """Its place by falling raw probability, 1 for the most likely. None for a drawn token of which no more is known."""
    raw: float
    """Probability as the model gave it, 0 to 1."""
    after: float | None
    """Probability after the chain; 0 for one that was cut. None where nobody knows what a grammar cut before."""
    cut_by: str | None
    """The stage that cut it, as `probability.stages` calls it; None for one that is left, and where nobody knows."""
    is_drawn: bool
    is_end: bool = False
    """Whether the answer ends at it: its text is a name that is never shown."""


@dataclass(frozen=True, slots=True)
class CandidatesView:
    """The latest step under the settings in force now."""

    rows: tuple[CandidateRow, ...]
    """By falling raw probability; the drawn token last where it is not among the most likely."""
    survivors: int | None  # None where nobody knows
    vocabulary: int
    is_exact: bool
    doubt: Sentence | None
    """Why the figures are not exact; None where they are."""
    request: int
    """The answer that the step belongs to."""
    token: int
    """The step's place among the tokens of the request, from 0."""
    whose: str
    """The title of its conversation where another one is shown; else empty."""
    origin: Sentence | None = None
    """Which answer of the conversation it is of, where that is not the last one that is shown."""
    is_held: bool = False
    """Whether the answer waits for somebody before this token: it is not drawn yet."""


@dataclass(slots=True)
class _Answer(StepAnswer):
    """The answer, and where people see it."""

    conversation: int | None = None
    """None where it is an answer of no conversation."""
    turn: Turn | None = None


class NextToken:
    """Follows the steps of the session while somebody looks."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        sampling: Sampling,
        vocabulary: Vocabulary,
        answers: Answers | None = None,
        conversations: Conversations | None = None,
    ) -> None:
        """Without conversations, every answer belongs to what is shown."""
        self.changed: Signal[bool] = Signal()
        """The candidates are others; whether that is to be seen at once: somebody did something, or the answer ended."""
        self._session = session
        self._engine = engine
        self._sampling = sampling
        self._vocabulary = vocabulary
        self._answers = answers
        self._conversations = conversations
        self._whose: str | None = ""
        """As `CandidatesView.whose`; None where the conversation is gone."""
        self._origin: Sentence | None = None
        self._watchers: frozenset[str] = frozenset()
        self._wants_whole = False
        self._whole: Step | None = None
        """The newest whole row that came for somebody else: it is shown once it turns out to be the last."""
        self._missed = False
        """Whether the latest steps came while nobody looked."""
        self._answer: _Answer | None = None
        self._shown: tuple[_Answer, int, StepCandidates] | None = None
        self._is_held = False
        """Whether the token of what is shown is not drawn yet."""
        self._view: CandidatesView | None = None
        self._breakers: tuple[tuple[str, ...], int, Breakers] | None = None
        session.answer_told.connect(self._follow_answer)
        session.load_told.connect(self._follow_load)
        session.changed.connect(self._follow_session)
        sampling.changed.connect(lambda: self._tell(moved=True))
        vocabulary.changed.connect(self._take_vocabulary)
        if conversations is not None:
            conversations.changed.connect(self._follow_conversations)

    def warm_up(self) -> None:
        """Load what the first step needs; takes a moment, and may be called by any thread."""
        _step_candidates()

    def watch(self, on: bool, who: str = "section") -> None:
        """Say whether somebody looks, and who: only then the engine tells its steps."""
        before, self._watchers = self._watchers, self._watchers | {who} if on else self._watchers - {who}
        if bool(before) != bool(self._watchers):
            self._tell_engine()

    def watch_whole(self, on: bool) -> None:
        """Say whether somebody else wants the steps with all of their rows, whoever looks here."""
        if on != self._wants_whole:
            self._wants_whole = on
            self._tell_engine()

    @property
    def reason(self) -> Sentence:
        """Why there are no candidates."""
        if self._session.model is None:
            return _NO_MODEL
        return _MISSED if self._missed else _NO_STEP

    def candidates(self) -> CandidatesView | None:
        """Return the latest step under the settings in force now; None, and `reason`, where there is none."""
        if self._view is None and self._shown is not None and self._whose is not None:
            self._view = self._made(*self._shown)
        return self._view

    def _made(self, answer: _Answer, token: int, step: StepCandidates) -> CandidatesView:
        settings = self._sampling.values
        doubt = None
        decides = False
        if settings.xtc_probability > 0 and "xtc" in settings.stages and not settings.is_greedy:
            if answer.seed is None:
                doubt = _XTC_UNKNOWN
            else:
                decides = step.xtc_decides(answer.seed, answer.first + token, settings.xtc_probability)
        breakers, is_known = self._breakers_of(settings)
        outcome = step.outcome(settings, decides, breakers)
        if settings.grammar is not None and not step.has_grammar:
            doubt = _GRAMMAR_UNKNOWN
        elif not step.is_counted:
            doubt = GRAMMAR_NOT_COUNTED
        elif not is_known:
            doubt = _BREAKERS_UNKNOWN
        elif not outcome.is_exact:
            doubt = _SHORT
        rows = tuple(self._row_of(row, step) for row in outcome.rows)
        return CandidatesView(
            rows=rows,
            survivors=outcome.survivors,
            vocabulary=step.vocabulary,
            is_exact=doubt is None,
            doubt=doubt,
            request=answer.request,
            token=token,
            whose=self._whose or "",
            origin=self._origin,
            is_held=self._is_held,
        )

    def _row_of(self, row: Candidate, step: StepCandidates) -> CandidateRow:
        token, words = row.token, self._vocabulary
        shown = (token, words.text(token), row.rank, row.raw, row.after, row.cut_by)
        return CandidateRow(*shown, token == step.drawn, words.ends_answers(token))

    def _breakers_of(self, settings: SamplingSettings) -> tuple[Breakers, bool]:
        """Return DRY's breakers, and whether they are all that the engine has."""
        texts = settings.dry_sequence_breakers if settings.dry_reach(1) else ()
        known = self._vocabulary.known
        if self._breakers is None or self._breakers[:2] != (texts, known):
            tokens = {token for text in texts for token in self._vocabulary.holding(text.encode())}
            self._breakers = (texts, known, _step_candidates().breakers(tokens))
        # A breaker of several bytes may also end within the next token, which only the engine can tokenise.
        is_known = all(len(text.encode()) <= 1 for text in texts) and (not texts or known >= self._vocabulary.size)
        return self._breakers[2], is_known

    def _follow_answer(self, event: AnswerEvent) -> None:
        answer = self._answer
        match event:
            case PromptReady():
                self._answer = self._begun(event)
            case Tokens() if answer is not None and answer.request == event.request:
                answer.sampled.frombytes(event.ids)
                self._end_hold()
                self._note_missed()
            case Held() if answer is not None and answer.request == event.request:
                self._take_held(answer, event)
            case Step() if answer is not None and answer.request == event.request:
                self._take_step(answer, event)
            case Finished() if answer is not None and answer.request == event.request:
                was_held, self._is_held = self._is_held, False
                self._show_last(answer)
                if answer.seed != event.seed or was_held:
                    answer.seed = event.seed
                    self._tell(moved=was_held)
            case Failed() if answer is not None and answer.request == event.request and self._is_held:
                self._is_held = False
                self._tell(moved=True)
            case _:
                pass

    def _note_missed(self) -> None:
        """Let go of a step that is not the latest any more, because nobody looks at those that follow."""
        if not self._watchers and not self._missed:
            self._missed, self._shown = True, None
            self._tell()

    def _begun(self, event: PromptReady) -> _Answer:
        runs = () if self._answers is None else self._answers.runs
        run = next((run for run in runs if run.request == event.request), None)
        conversation, turn = (run.conversation.head.id, run.turn) if run is not None else (None, None)
        return _Answer(event.request, event.ids, first_of(event), event.seed, conversation=conversation, turn=turn)

    def _take_step(self, answer: _Answer, event: Step) -> None:
        model = self._session.model
        if not self._watchers or model is None:
            return
        drawn = answer.sampled[event.token] if event.token < len(answer.sampled) else None
        is_for_others = self._wants_whole and not event.ids
        self._whole = event if is_for_others else None
        shown = _step_candidates().largest(event) if is_for_others else event
        self._show_step(answer, shown, model.vocabulary, drawn)
        self._tell(moved=not shown.ids)  # the last step comes with all of its row

    def _show_last(self, answer: _Answer) -> None:
        """Show the last step with all of its row, as it comes without anybody else who looks."""
        step, self._whole = self._whole, None
        shown, model = self._shown, self._session.model
        if step is None or shown is None or model is None:
            return
        if shown[0] is answer and shown[1] == step.token:
            drawn = answer.sampled[step.token] if step.token < len(answer.sampled) else None
            self._show_step(answer, step, model.vocabulary, drawn)
            self._tell(moved=True)

    def _take_held(self, answer: _Answer, event: Held) -> None:
        """Show the next token's row, which comes once: also to those who look later."""
        if (model := self._session.model) is not None:
            step = Step(event.request, event.token, b"", event.logits, event.log_sum_exp, event.grammar)
            self._show_step(answer, step, model.vocabulary, None)
            self._is_held = True
            self._tell(moved=True)

    def _show_step(self, answer: _Answer, event: Step, vocabulary: int, drawn: int | None) -> None:
        step = _step_candidates()(event, vocabulary, answer.before(event.token), drawn)
        self._shown, self._missed, self._is_held = (answer, event.token, step), False, False
        self._whose, self._origin = self._whose_is_shown(), self._origin_of_shown()

    def _end_hold(self) -> None:
        """Mark the token that was drawn, or chosen, from the row that was shown before."""
        if self._is_held and self._shown is not None and self._shown[1] < len(self._shown[0].sampled):
            answer, token, step = self._shown
            self._shown, self._is_held = (answer, token, step.drawn_as(answer.sampled[token])), False
            self._tell(moved=True)

    def _whose_is_shown(self) -> str | None:
        conversation = None if self._shown is None else self._shown[0].conversation
        if conversation is None or self._conversations is None or conversation == self._conversations.open_id:
            return ""
        return next((head.title for head in self._conversations.heads if head.id == conversation), None)

    def _origin_of_shown(self) -> Sentence | None:
        """Return which answer is shown in place of the last one; an answer that is waited for takes its place soon."""
        turn, shown = self._shown[0].turn if self._shown else None, self._answers.shown if self._answers else None
        if turn is None or shown is None or self._shown is None or self._shown[0].conversation != shown.head.id:
            return None
        last = shown.turns[-1] if shown.turns else None
        if last is None or last.state == "waiting" or last.message == turn.message:
            return None
        if all(each.message != turn.message for each in shown.turns):
            return _OTHER_VERSION if turn.deleted_ms is None else _DELETED
        return _EARLIER

    def _follow_conversations(self) -> None:
        found = self._whose_is_shown(), self._origin_of_shown()
        if found != (self._whose, self._origin):
            self._whose, self._origin = found
            self._tell(moved=True)

    def _follow_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if isinstance(event, Loaded):
            self._tell_engine()

    def _follow_session(self) -> None:
        """Show why there is nothing in other words, once the model is another one."""
        if self._shown is None:
            self._tell()

    def _take_vocabulary(self) -> None:
        """Read the tokens again; those of another tokenizer say nothing of the step that is shown."""
        if self._vocabulary.known == 0:
            self._shown, self._answer, self._is_held = None, None, False
        self._tell()

    def _tell(self, *, moved: bool = False) -> None:
        self._view = None
        self.changed.emit(moved)

    def _tell_engine(self) -> None:
        """The wish to see steps is kept by the engine's process: a new one has to hear it, none is started for it."""
        if self._engine.running and self._session.model is not None:
            self._engine.send(Watch(bool(self._watchers) or self._wants_whole, self._wants_whole))


def _step_candidates() -> type[StepCandidates]:
    # Loads numpy, which costs 130 ms: the window's start need not wait for it.
    from app.services.step_candidates import StepCandidates  # noqa: PLC0415  loaded when the first step comes

    return StepCandidates


_NO_MODEL = translate("NextToken", "Open a model, then send a message to see which tokens it weighs.")
_NO_STEP = translate("NextToken", "Send a message to see which tokens the model weighs.")
_MISSED = translate("NextToken", "The latest tokens came while this was closed: send a message to see the next ones.")
_OTHER_VERSION = translate("NextToken", "another version")
_EARLIER = translate("NextToken", "earlier answer")
_DELETED = translate("NextToken", "deleted answer")
_SHORT = translate("NextToken", "Worked out from the most likely tokens alone; exact once the answer has ended.")
_GRAMMAR_UNKNOWN = translate("NextToken", "What a grammar would cut of an answer that has none is not worked out.")
_XTC_UNKNOWN = translate("NextToken", "Whether XTC takes effect here is known once the answer has ended.")
_BREAKERS_UNKNOWN = translate("NextToken", "Only the engine knows exactly where DRY's breakers end a repetition.")
