"""Which step the sampler laboratory looks at: the newest one, one that stays, or a token of an answer as it is kept.

Steps of an answer that is written are shown with that answer alone. Knows no cards and no view.
"""

from __future__ import annotations

import dataclasses

from app.core.events import Held, PromptReady, Step, Tokens
from app.core.signal import Signal
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.lab_values import KeptStep, LabSource, LabStep
from app.services.questions import AnswerEvent
from app.services.step_answer import StepAnswer, answer_of, first_of
from app.services.turns import Turn


class LabFocus:
    """Follows the answer that is written, as long as nobody wants to see something else."""

    def __init__(self, chat: Chat, session: EngineSession, inspecting: Inspecting) -> None:
        self.changed: Signal[()] = Signal()
        """Another step may be the one to look at, or it comes from elsewhere now."""
        self._chat = chat
        self._inspecting = inspecting
        self._is_pinned = False
        self._is_passing = False
        """Whether the token that is looked at was only pointed at while its answer was written."""
        self._frozen: LabStep | None = None
        """The step that stays while others come."""
        self._frozen_turn: Turn | None = None
        self._answer: StepAnswer | None = None
        self._step: LabStep | None = None
        """The step that the engine told last."""
        self._step_turn: Turn | None = None
        """The answer that it is of."""
        session.answer_told.connect(self._follow)
        chat.opened.connect(self._leave)
        chat.changed.connect(lambda _turn: self.changed.emit())
        chat.busy_changed.connect(self.changed.emit)
        inspecting.token_changed.connect(self._take_token)
        inspecting.opened.connect(self.changed.emit)
        inspecting.changed.connect(self.changed.emit)

    @property
    def can_follow(self) -> bool:
        """Whether an answer is written and something else is looked at than its newest step."""
        return self._chat.shown.run is not None and not self.follows

    @property
    def follows(self) -> bool:
        """Whether the newest step is looked at, or will be when it comes."""
        run = self._chat.shown.run
        is_there = run is None or run.turn is self._inspecting.turn
        return is_there and self._frozen is None and self._token is None

    @property
    def _token(self) -> int | None:
        return None if self._is_passing else self._inspecting.token

    def freeze(self, on: bool) -> None:
        """Stay at the step that is shown while the answer is written, or follow the newest one again."""
        frozen = self._step if on else None
        if frozen is not self._frozen:
            self._frozen, self._frozen_turn = frozen, self._step_turn
            self.changed.emit()

    def follow(self) -> None:
        """Look at the newest step of the answer that is written."""
        run = self._chat.shown.run
        self._frozen = None
        if run is not None and run.turn is not self._inspecting.turn:
            self._inspecting.open(run.turn)
        self._inspecting.look_at(None)
        self.changed.emit()

    def pin(self, on: bool) -> None:
        """Say whether somebody chose the token that is looked at: one that is pointed at ends no following."""
        self._is_pinned = on
        self._take_token(self._inspecting.token)

    def forget(self) -> None:
        """Know of no step any more: its tokens are not those of the model."""
        self._answer = self._step = self._frozen = None
        self.changed.emit()

    def wanted(self, before: LabStep | KeptStep | None, *, has_cards: bool) -> LabStep | KeptStep | None:
        """Return what is to be looked at; `before` is what was, which may have cards already."""
        token, inputs = self._token, self._inspecting.inputs
        if token is None:
            return self._told()
        if inputs is None:
            return None
        if not isinstance(before, KeptStep) or before.position != token:
            return KeptStep(inputs, token)
        # What else is known of an answer that grows changes no cards, unless there are none yet.
        is_same = before.inputs is inputs or (has_cards and before.inputs.comparison == inputs.comparison)
        return before if is_same else KeptStep(inputs, token)

    def source_of(self, step: LabStep | KeptStep) -> LabSource:
        """Return where a step comes from."""
        if isinstance(step, KeptStep):
            return "kept"
        run = self._chat.shown.run
        if self._frozen is not None:
            newest = run.request if run is not None else self._answer.request if self._answer is not None else None
            return "past" if newest not in (None, step.request) else "frozen"
        if run is None or run.request != step.request:
            return "ended"
        return "held" if step.is_held else "live"

    def message_of(self, step: LabStep | KeptStep) -> int | None:
        """Return by its message of which answer a step is; None where nobody knows."""
        kept, told = self._inspecting.turn, self._frozen_turn if step is self._frozen else self._step_turn
        turn = kept if isinstance(step, KeptStep) else told
        return None if turn is None else turn.message

    def _told(self) -> LabStep | None:
        """Return the step that the engine told, unless another answer is looked at."""
        shown, run = self._inspecting.turn, self._chat.shown.run
        if run is not None and self._answer is not None and run.request == self._answer.request:
            self._step_turn = run.turn
        if self._frozen is not None:
            turns = (self._frozen_turn, self._step_turn, None if run is None else run.turn)
            return self._frozen if shown is None or any(turn is shown for turn in turns) else None
        return self._step if shown is None or self._step_turn is shown else None

    def _take_token(self, token: int | None) -> None:
        run = self._chat.shown.run
        is_written = run is not None and run.turn is self._inspecting.turn
        self._is_passing = token is not None and is_written and not self._is_pinned
        self.changed.emit()

    def _follow(self, event: AnswerEvent) -> None:
        answer, run = self._answer, self._chat.shown.run
        if run is not None and answer is not None and run.request == answer.request:
            self._step_turn = run.turn
        match event:
            case PromptReady() if run is not None and run.request == event.request:
                self._answer = StepAnswer(event.request, event.ids, first_of(event), event.seed)
                self._step_turn = run.turn
                if self._step is not self._frozen:
                    self._step = None  # it is of an earlier answer
            case Tokens() if answer is not None and answer.request == event.request:
                answer.sampled.frombytes(event.ids)
                answer.chosen.update(event.chosen)
                self._end_hold(answer)
                return
            case Held() if answer is not None and answer.request == event.request:
                self._take_row(answer, event, is_held=True)
            case Step() if answer is not None and answer.request == event.request and not event.ids:
                self._take_row(answer, event, is_held=False)
            case _:
                return
        self.changed.emit()

    def _take_row(self, answer: StepAnswer, event: Step | Held, *, is_held: bool) -> None:
        token = event.token
        taken = answer.sampled[token] if token < len(answer.sampled) else None
        self._step = LabStep(
            answer.request,
            token,
            event.logits,
            answer.before(token),
            answer.seed,
            answer.first + token,
            taken,
            is_held=is_held,
            grammar=event.grammar,
            chosen=event.forced if isinstance(event, Held) else taken if token in answer.chosen else None,
        )

    def _end_hold(self, answer: StepAnswer) -> None:
        """Know which token came of the step that was held, also where that stays."""
        step = self._step
        if step is not None and step.is_held and step.request == answer.request and step.token < len(answer.sampled):
            taken = answer.sampled[step.token]
            chosen = taken if step.token in answer.chosen else None
            drawn = dataclasses.replace(step, taken=taken, is_held=False, chosen=chosen)
            if self._frozen is step:
                self._frozen = drawn
            self._step = drawn
            self.changed.emit()

    def _leave(self) -> None:
        """Another chat is shown, perhaps one whose answer is written."""
        run = self._chat.shown.run
        self._answer = None if run is None else answer_of(run)
        self._step_turn = None if run is None else run.turn
        self._step = self._frozen = None
        self._is_passing = False
        self.changed.emit()
