"""The picture of the loop: what the answer that is looked at shows of each stage, while it is written and afterwards.

Follows the engine's events, the model that is loaded and the answer that people look at (`inspecting`); makes plain values
of them when somebody asks. Knows no view.
"""

from __future__ import annotations

import msgspec

from app.core.events import Failed, Finished, Held, PrefillProgress, PromptReady, Tokens
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.answer_what_if import changes_of
from app.services.answers import Answers
from app.services.embedding_row import EmbeddingRow
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.loop_end import end_of, ends_with_a_token
from app.services.loop_figures import cells_of, kv_of, pace_of, phase_of, prefill_of, written_by
from app.services.loop_model import model_of
from app.services.loop_place import as_at_step, tokens_before
from app.services.loop_prompt import prompt_of
from app.services.loop_run import LoopRun
from app.services.loop_step import step_of_record, step_of_view
from app.services.loop_values import (
    LoopPrompt,
    LoopStep,
    LoopValues,
    loop_model,
)
from app.services.loop_wait import run_of, waits_for
from app.services.loop_words import last_token, last_words
from app.services.next_token import NextToken
from app.services.open_conversation import Run
from app.services.questions import AnswerEvent, Replay
from app.services.turns import Turn
from app.services.vocabulary import Vocabulary

_WHO = "loop"


class LoopPicture:
    """Values are made anew when they are asked for and something changed."""

    def __init__(
        self,
        session: EngineSession,
        answers: Answers,
        inspecting: Inspecting,
        next_token: NextToken,
        vocabulary: Vocabulary,
        embedding: EmbeddingRow,
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The values are others; told only while somebody looks."""
        self._session = session
        self._answers = answers
        self._inspecting = inspecting
        self._next_token = next_token
        self._vocabulary = vocabulary
        self._embedding = embedding
        self._is_watched = False
        self._run: LoopRun | None = None
        """The answer that was begun last."""
        self._of: Run | None = None
        """Until it has ended: a run holds its whole chat."""
        self._turn: Turn | None = None
        """What it became, once it has ended."""
        self._pinned: tuple[Turn, int] | None = None
        """The last token of an answer that was over, where nobody chose another: one that goes on is followed again."""
        self._values: LoopValues | None = None
        session.answer_told.connect(self._follow)
        session.changed.connect(self._tell)
        next_token.changed.connect(lambda _moved: self._tell())
        answers.changed.connect(lambda _conversation, _turn: self._look())
        inspecting.token_changed.connect(lambda _token: self._look())
        embedding.changed.connect(self._tell)
        for signal in (inspecting.opened, inspecting.changed):
            signal.connect(self._look)

    @property
    def values(self) -> LoopValues:
        """What the picture shows now."""
        if self._values is None:
            self._values = self._made()
        return self._values

    @property
    def token(self) -> int | None:
        """The token of the answer that is on its way through the loop, counted from 0; None for none."""
        step = self.values.step
        return step.place if step is not None else self._inspecting.token

    def watch(self, on: bool) -> None:
        """Say whether somebody looks at the picture."""
        self._is_watched = on
        self._next_token.watch(on, _WHO)
        if on:
            self._look()

    def look_at(self, token: int | None) -> None:
        """Show another token of the answer; None is the newest, also of an answer that grows."""
        turn = self._inspecting.turn
        last = len(turn.ids) // 4 - 1 if turn is not None else -1
        is_newest = turn is not None and turn.state == "writing" and token is not None and token > last
        chosen = None if token is None or last < 0 or is_newest else min(max(token, 0), last)
        is_end = turn is not None and turn.state in ("done", "interrupted") and chosen == last
        self._pinned = (turn, last) if turn is not None and is_end else None
        self._inspecting.look_at(chosen)

    def read_embedding(self) -> None:
        """Have the numbers read of the token that goes in for the one that is shown."""
        self._embedding.read(_goes_in(self.values.step))

    def _follow(self, event: AnswerEvent) -> None:
        run = self._run
        if isinstance(event, PromptReady):
            run = self._run = LoopRun(event.request)
            self._of = next((each for each in self._answers.runs if each.request == event.request), None)
            self._turn = None
        if run is None or event.request != run.request:
            return
        match event:
            case PromptReady():
                run.begin(event)
            case PrefillProgress():
                run.read(event)
            case Tokens():
                run.write(event)
            case Held():
                run.hold(event)
            case Finished():
                run.finish(event)
            case Failed():
                run.fail()
            case _:
                pass
        if isinstance(event, (Tokens, Held)) and run is self._own_run():
            self._follow_on()
        is_stepped = isinstance(event, (Held, Finished)) and run.is_stepped
        if is_stepped and self._is_watched and run is self._own_run():
            self._inspecting.look_at(None)  # who lets one token follow wants to see it
        if isinstance(event, (Finished, Failed)):
            self._let_go()
        self._tell()

    def _follow_on(self) -> None:
        """Follow an answer that goes on where its end was looked at before it did."""
        pinned, self._pinned = self._pinned, None
        turn, token = self._inspecting.turn, self._inspecting.token
        if pinned is not None and turn is pinned[0] and token == pinned[1]:
            self._inspecting.look_at(None)

    def _let_go(self) -> None:
        """Keep what the answer became, which has ended, and not the chat around it."""
        if self._of is not None and not self._of.came_to_nothing:
            self._turn = self._of.turn
        self._of = None

    def _look(self) -> None:
        """Show the last token of an answer that is over, where nothing else is looked at."""
        turn, answer = self._inspecting.turn, self._inspecting.answer
        is_over = turn is not None and turn.state in ("done", "interrupted")
        if self._is_watched and is_over and answer is not None and answer.ids and self._inspecting.token is None:
            self._values = None
            is_whole = turn is not None and len(answer) >= len(turn.ids) // 4
            if turn is not None and self.values.step is None and is_whole:
                self._pinned = turn, len(answer) - 1
                self._inspecting.look_at(len(answer) - 1)
        self._tell()

    def _tell(self) -> None:
        self._values = None
        if self._is_watched:
            self.changed.emit()

    def _made(self) -> LoopValues:
        turn, run = self._inspecting.turn, self._own_run()
        model, why = model_of(self._session, turn)
        kv = kv_of(turn)
        shown = loop_model(model, kv) if model is not None else None
        step = self._step_of(turn, run)
        place = _goes_in(step)
        hindrance = self._embedding.hindrance(place)
        prompt = self._prompt_of(turn, run)
        used, cells, size = cells_of(turn, run, shown)
        waits = waits_for(self._session, run_of(self._answers, turn))
        made = LoopValues(
            phase=phase_of(turn, run) if waits is None else "queued",
            waits_for=waits,
            model=shown,
            model_why=why,
            prompt=prompt,
            prefill=prefill_of(turn, run, prompt.tokens),
            embedding=self._embedding.row(place),
            embedding_of=self._embedding.token(place),
            embedding_why=hindrance or self._embedding.problem(place),
            can_read_embedding=hindrance is None,
            reads_embedding=self._embedding.is_reading(place),
            cells_used=used,
            cells=cells,
            window_used=kv.window_cells_used if kv is not None else None,
            cache_bytes=size,
            step=step,
            step_why=self._why_no_step(turn) if step is None else None,
            written=written_by(turn, run),
            tokens_per_s=pace_of(turn, run),
            settings=self._settings_of(turn, run),
            end=end_of(turn),
            is_reproduced=self._is_reproduced(turn),
        )
        kept, answer = self._inspecting.prompt, self._inspecting.answer
        made = as_at_step(made, self._inspecting.token, tokens_before(turn, kept, run))
        if answer is None or turn is None or answer.message != turn.message:
            return made
        is_held = made.phase == "held" and not made.is_back
        upto = made.had if made.had is not None else made.written
        ids = memoryview(turn.ids).cast("i")[len(answer.ids) : upto]  # the picture is ahead of what is worked out
        later = [self._vocabulary.piece(token) for token in ids]
        return msgspec.structs.replace(
            made,
            last_words=last_words(answer, upto, has_end=ends_with_a_token(turn), later=later),
            before=last_token(answer, made.written) if is_held else None,
        )

    def _own_run(self) -> LoopRun | None:
        """Return what the events told of the answer that is looked at."""
        turn, of, own = self._inspecting.turn, self._of, self._turn
        if of is not None and not of.came_to_nothing:
            own = of.turn
        if turn is None or own is not turn:
            return None
        asked = run_of(self._answers, turn)
        return self._run if asked is None or asked is of else None  # of one that goes on, nothing is told yet

    def _is_reproduced(self, turn: Turn | None) -> bool:
        """Return whether an answer is written once more; the session tells when that begins and ends."""
        asked = self._session.opened()
        return turn is not None and isinstance(asked, Replay) and asked.command.ids == turn.ids

    def _prompt_of(self, turn: Turn | None, run: LoopRun | None) -> LoopPrompt:
        question = self._inspecting.question_of(turn) if turn is not None else None
        return prompt_of(turn, question, run, self._inspecting.prompt, self._vocabulary.text)

    def _step_of(self, turn: Turn | None, run: LoopRun | None) -> LoopStep | None:
        inspecting = self._inspecting
        if turn is None:
            return None
        if inspecting.token is None:
            return self._newest_step(turn, run) if run is not None else None
        answer, insight = inspecting.answer, inspecting.insight
        if answer is None or insight is None or insight.message != turn.message or insight.index != inspecting.token:
            return None
        return step_of_record(insight, answer)

    def _newest_step(self, turn: Turn, run: LoopRun) -> LoopStep | None:
        """Return the newest step; None for one of another answer, and for one that nothing was drawn at."""
        view = self._next_token.candidates()
        if view is None or view.request != run.request:
            return None
        step, is_open = step_of_view(view, run.first), turn.state in ("waiting", "writing")
        written = written_by(turn, run)
        is_there = (step.place < written if is_open else step.place == written - 1) if step.is_drawn else is_open
        return step if is_there else None

    def _why_no_step(self, turn: Turn | None) -> Sentence:
        if turn is None:
            return _NO_ANSWER
        if turn.state == "waiting":
            return _NOT_YET
        return _READING if self._inspecting.is_busy else _NOT_RECORDED

    def _settings_of(self, turn: Turn | None, run: LoopRun | None) -> SamplingSettings | None:
        if turn is None:
            return None
        is_open = turn.state in ("waiting", "writing")
        changes = self._of.made.settings if is_open and run is not None and self._of is not None else changes_of(turn)
        if changes:
            return changes[-1].settings
        return self._of.conversation.head.settings if is_open and self._of is not None and run is not None else None


def _goes_in(step: LoopStep | None) -> int | None:
    """Return the place of the token that goes through the layers so that the one of the step comes: the one before."""
    return step.place - 1 if step is not None else None


_NO_ANSWER = translate("Loop", "Send a message to see how its answer comes about.")
_NOT_YET = translate("Loop", "The first token is drawn once the prompt is read.")
_READING = translate("Loop", "This is being read.")
_NOT_RECORDED = translate("Loop", "It was not recorded what else could have come at this token.")
