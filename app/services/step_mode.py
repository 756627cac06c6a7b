"""Step mode: the pace at which people want to read answers, and the one that waits for them before its next token.

The pace is a wish of people, for all answers that they look at; it is not kept. Knows no view, and not how an answer waits.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from app.core.events import Failed, Finished, Held, Tokens
from app.core.signal import Signal
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.comparing import Comparing
from app.services.engine_session import EngineSession
from app.services.open_conversation import OpenConversation, Run
from app.services.questions import AnswerEvent
from app.services.turns import CHOSEN, Turn, chosen_words

MOST_SPEED = 60
"""Tokens/s; who wants more reads them as fast as they come."""


class _Place(NamedTuple):
    """A token of an answer: its request, and its place among those of the request, from 0."""

    request: int
    token: int


class StepMode:
    """How fast answers are written: as fast as it goes, so many tokens/s, or one by one."""

    def __init__(self, session: EngineSession, answers: Answers, chat: Chat, comparing: Comparing) -> None:
        self.changed: Signal[()] = Signal()
        """The pace is another one, or what waits for somebody."""
        self._session = session
        self._answers = answers
        self._comparing = comparing
        self._speed: float | None = None
        self._is_one_by_one = False
        self._at: _Place | None = None
        """Before which token the engine said that an answer is held."""
        self._is_taken = False
        """Whether that token was asked for, or is there."""
        self._chosen: tuple[_Place, int] | None = None
        """What somebody chose last, until it is in the answer."""
        self._held: Run | None = None
        answers.pace_of = self._pace_of
        session.answer_told.connect(self._take)
        answers.busy_changed.connect(lambda _conversation: self._look())
        chat.opened.connect(self._use_pace)
        comparing.busy_changed.connect(self._use_pace)

    @property
    def speed(self) -> float | None:
        """How many tokens/s an answer has that is not written one by one; None is as fast as it goes."""
        return self._speed

    @property
    def is_one_by_one(self) -> bool:
        """Whether each token waits for somebody."""
        return self._is_one_by_one

    @property
    def held(self) -> Run | None:
        """The answer that waits for somebody, between two steps as well."""
        return self._held

    @property
    def next_token(self) -> int:
        """Which token of its answer comes next while one is held, from 1."""
        if self._held is None or self._at is None:
            return 0
        return self._held.beginning.tokens + self._at.token + 1

    def pause(self) -> None:
        """Hold the answer before its next token, and those that begin from now on before their first."""
        self._is_one_by_one = True
        self._use_pace()

    def run(self) -> None:
        """Let answers be written to their ends."""
        self._is_one_by_one = False
        self._use_pace()

    def toggle(self) -> None:
        """Hold what is written, or let it go on."""
        if self._is_one_by_one:
            self.run()
        else:
            self.pause()

    def step(self) -> None:
        """Let one token follow; where nothing is held yet, hold it first."""
        if not self._is_one_by_one:
            self.pause()
        elif self._held is not None and self._at is not None:
            self._go_on(self._at, None)

    def choose(self, request: int, place: int, token: int) -> None:
        """Let the answer that is held before this place go on by this token; anything else comes too late."""
        at = _Place(request, place)
        if self._held is not None and at == self._at and not self._is_taken:
            self._chosen = (at, token)
            self._go_on(at, token)

    def set_speed(self, tokens_per_s: float | None) -> None:
        """Write answers that are not held at another speed; None is as fast as it goes."""
        self._speed = tokens_per_s
        self._use_pace()

    def end(self) -> None:
        """Leave step mode: everything is written as fast as it goes."""
        self._speed, self._is_one_by_one = None, False
        self._use_pace()

    def _go_on(self, at: _Place, token: int | None) -> None:
        if not self._is_taken:
            self._is_taken = True
            self._session.step_on(at.request, at.token, token)

    def _pace_of(self, conversation: OpenConversation) -> float | None:
        # Who leaves a chat cannot see that its answer waits, and what is asked elsewhere waits behind it: it runs on as
        # fast as it goes, and slows down again for who comes back. So it does while a comparison has its own page.
        if conversation is not self._answers.shown or self._comparing.running is not None:
            return None
        return 0.0 if self._is_one_by_one else self._speed

    def _use_pace(self) -> None:
        self._answers.use_pace()
        self._look()

    def _take(self, event: AnswerEvent) -> None:
        match event:
            case Held():
                self._at, self._is_taken = _Place(event.request, event.token), False
                self._look()
            case Tokens():
                self._take_tokens(event)
            case Finished() | Failed() if self._at is not None and event.request == self._at.request:
                self._at = None
                self._look()
            case _:
                pass

    def _take_tokens(self, event: Tokens) -> None:
        at, end = self._at, event.first + event.count
        if at is not None and event.request == at.request and at.token < end:
            if self._held is None:
                self._at = None
            self._is_taken = True
        if self._chosen is None or event.request != self._chosen[0].request:
            return
        (_request, place), token = self._chosen
        if event.first <= place < end:
            self._chosen = None
            run = self._run_of(event.request)
            if run is not None and array("i", event.ids)[place - event.first] == token:
                _note_chosen(run.turn)

    def _run_of(self, request: int) -> Run | None:
        return next((run for run in self._answers.runs if run.request == request), None)

    def _look(self) -> None:
        """Find out anew which answer waits for somebody, and let its turn say so."""
        run = self._run_of(self._at.request) if self._at is not None else None
        now = run if run is not None and self._pace_of(run.conversation) == 0 else None
        if now is None:
            self._is_taken = False  # an answer that runs on forgets the steps that were given and not taken
        before, self._held = self._held, now
        if before is not now:
            for each in (before, now):
                if each is not None:
                    each.turn.is_held = each is now
                    if each.conversation.run is each:  # one that is over says so itself
                        self._answers.changed.emit(each.conversation, each.turn)
        self.changed.emit()


def _note_chosen(turn: Turn) -> None:
    """Note with an answer that one more of its tokens was chosen."""
    note = chosen_words(turn.chosen + 1)
    turn.notes = [*(each for each in turn.notes if CHOSEN not in each.values), note]
