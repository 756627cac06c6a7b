"""The conversation that is open: sending, stopping, answering again, going on, and what came of it.

Keeps turns in memory; knows no widget and no engine, only the session that answers.
"""

from __future__ import annotations

import dataclasses

import msgspec

from app.core.chat import ChatPrompt, PromptMessage, clean_text
from app.core.events import Failed, FailureKind, Finished, PrefillProgress, PromptReady, Tokens
from app.core.sampling import SamplingSettings
from app.core.signal import Signal
from app.core.words import Sentence
from app.services.engine_session import AnswerEvent, EngineSession
from app.services.notices import Notice, Notices, Remedy
from app.services.sampling import Sampling
from app.services.turns import Beginning, Turn
from app.services.wishes import Question
from app.system.settings_file import SettingsFile

_KEPT_WITH_ITS_QUESTION: frozenset[FailureKind] = frozenset({"cancelled", "engine"})
_REMEDIES: dict[FailureKind, Remedy] = {
    "template_missing": "choose_template",
    "model": "open_model",
    "engine": "restart_engine",
    "memory": "load_anyway",
}


class Chat:
    """One conversation at a time; views listen to the signals and read the turns."""

    def __init__(self, session: EngineSession, sampling: Sampling, settings: SettingsFile, notices: Notices) -> None:
        self.cleared: Signal[()] = Signal()
        """Another conversation is open."""
        self.added: Signal[Turn] = Signal()
        """A turn was added at the end."""
        self.text_added: Signal[Turn, str] = Signal()
        """An answer grew by a text."""
        self.changed: Signal[Turn] = Signal()
        """A turn is another one than it was: its state, or all of its text."""
        self.removed: Signal[Turn] = Signal()
        """A turn was taken back from the end."""
        self.busy_changed: Signal[()] = Signal()
        """An answer began or ended."""
        self.prefilled: Signal[PrefillProgress | None] = Signal()
        """How far the prompt is read; None when that is over."""
        self.draft_returned: Signal[str] = Signal()
        """A question came to nothing, and its text goes back to where it was written."""
        self._session = session
        self._sampling = sampling
        self._settings = settings
        self._notices = notices
        self._turns: list[Turn] = []
        self._count = 0
        self._request: int | None = None
        self._earlier: Turn | None = None
        self._beginning = Beginning()
        self._early_ids = b""
        session.answer_told.connect(self._take)
        sampling.changed.connect(self._sampling_changed)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns, oldest first."""
        return tuple(self._turns)

    @property
    def busy(self) -> bool:
        """Whether an answer is being waited for or written."""
        return self._request is not None

    @property
    def request(self) -> int | None:
        """The request of the answer that is being waited for or written."""
        return self._request

    @property
    def can_answer_again(self) -> bool:
        """Whether there is a last answer that could be written anew."""
        return not self.busy and bool(self._turns) and self._turns[-1].role == "assistant"

    @property
    def can_go_on(self) -> bool:
        """Whether the last answer was stopped before its end and could go on."""
        return not self.busy and bool(self._turns) and self._turns[-1].can_go_on

    def send(self, text: str) -> bool:
        """Ask a question; False when it is blank or an answer is still being written."""
        text = clean_text(text)
        if self.busy or not text.strip():
            return False
        self._add(Turn(self._next_number(), "user", text))
        self._add(Turn(self._next_number(), "assistant", state="waiting", author=self._session.name or ""))
        self._ask()
        return True

    def answer_again(self) -> None:
        """Write the last answer anew; the old one stays until the new one has its first text."""
        if not self.can_answer_again:
            return
        self._begin_anew([])
        self._ask()

    def go_on(self) -> None:
        """Let the last answer go on where it was stopped; nothing of it is lost if that comes to nothing."""
        if not self.can_go_on:
            return
        turn = self._turns[-1]
        self._beginning = Beginning.of(turn)
        self._begin_anew(list(turn.notes))
        self._ask()

    def stop(self) -> None:
        """End the answer that is being waited for or written; what was written stays."""
        if self._request is not None:
            self._session.cancel(self._request)

    def note_ttft(self, ttft_ms: float | None) -> None:
        """Keep the time to the first painted character with the answer that is being written."""
        if self._request is not None:
            self._turns[-1].ttft_ms = ttft_ms

    def clear(self) -> None:
        """Begin a new conversation."""
        self.stop()
        self._end()
        self._turns.clear()
        self.cleared.emit()

    def _begin_anew(self, notes: list[Sentence]) -> None:
        """Wait for the last answer again, and remember it as it is."""
        turn = self._turns[-1]
        self._earlier = dataclasses.replace(turn)
        turn.state, turn.reason, turn.notes = "waiting", None, notes
        self.changed.emit(turn)

    def _ask(self) -> None:
        self._notices.dismiss()
        self._request = self._session.new_request()
        self._early_ids = b""
        self.busy_changed.emit()
        beginning = self._beginning
        self._session.ask(
            Question(
                self._request,
                ChatPrompt(tuple(self._messages()), continue_last=beginning.goes_on),
                self._wanted_settings(),
                when_full=self._settings.values.when_full,
                first_token=beginning.tokens,
            )
        )

    def _messages(self) -> list[PromptMessage]:
        system = clean_text(self._settings.values.system_prompt)
        messages = [PromptMessage("system", system)] if system.strip() else []
        for turn in self._turns[:-1]:
            if turn.text:
                whole = turn.finished is not None
                messages.append(PromptMessage(turn.role, turn.text, turn.ids if whole else b""))
        return [*messages, self._beginning.message()] if self._beginning.goes_on else messages

    def _wanted_settings(self) -> SamplingSettings:
        """Return the settings in force; an answer that goes on keeps its seed."""
        values, seed = self._sampling.values, self._beginning.seed
        return values if seed is None else msgspec.structs.replace(values, seed=seed)

    def _take(self, event: AnswerEvent) -> None:
        if event.request != self._request:
            return
        turn = self._turns[-1]
        match event:
            case PromptReady():
                self._take_prompt(turn, event)
            case PrefillProgress():
                self.prefilled.emit(event)
            case Tokens():
                self._grow(turn, event)
            case Finished():
                self._finish(turn, event)
            case Failed():
                self._fail(turn, event)
            case _:
                pass

    def _take_prompt(self, turn: Turn, event: PromptReady) -> None:
        turn.notes.extend(note for note in event.notes if note not in turn.notes)
        turn.author = self._session.name or turn.author
        self._beginning = self._beginning.as_sent(event)
        self._tell(event.notes)
        if turn.dropped != len(event.dropped):
            turn.dropped = len(event.dropped)
            self.changed.emit(turn)

    def _grow(self, turn: Turn, event: Tokens) -> None:
        if turn.state == "waiting":
            self.prefilled.emit(None)
            self._early_ids += event.ids
            if not event.text:
                return
            beginning = self._beginning
            turn.state, turn.finished = "writing", None
            turn.text, turn.ids = beginning.kept, beginning.ids + self._early_ids
            turn.ttft_ms = turn.ttft_ms if beginning.goes_on else None
            self.changed.emit(turn)
        else:
            turn.ids += event.ids
        if event.text:
            turn.text += event.text
            self.text_added.emit(turn, event.text)

    def _finish(self, turn: Turn, event: Finished) -> None:
        if turn.state == "waiting":
            if self._earlier is not None and event.stop_reason == "cancelled" and not event.text:
                self._restore(self._earlier)
                return
            turn.ttft_ms = turn.ttft_ms if self._beginning.goes_on else None
        whole = self._beginning.joined(event)
        rest = whole.text.removeprefix(turn.text) if whole.text.startswith(turn.text) else None
        if turn.state == "writing" and rest:
            self.text_added.emit(turn, rest)
        turn.text, turn.ids, turn.finished, turn.state = whole.text, whole.ids, whole, "done"
        turn.notes.extend(note for note in event.notes if note not in turn.notes)
        self._tell(event.notes)
        self._end()
        self.changed.emit(turn)

    def _fail(self, turn: Turn, event: Failed) -> None:
        earlier, wrote = self._earlier, turn.state == "writing"
        if not wrote and earlier is not None:
            self._restore(earlier)
        elif wrote or event.kind in _KEPT_WITH_ITS_QUESTION:
            turn.state, turn.reason = "interrupted", event.sentence
            self._end()
            self.changed.emit(turn)
        else:
            self._take_back()
            self._end()
        if event.kind != "cancelled":
            self._notices.post(Notice(event.sentence, remedy=_REMEDIES.get(event.kind), details=event.details))

    def _restore(self, earlier: Turn) -> None:
        self._turns[-1] = earlier
        self._end()
        self.changed.emit(earlier)

    def _take_back(self) -> None:
        answer, question = self._turns.pop(), self._turns.pop()
        self.removed.emit(answer)
        self.removed.emit(question)
        self.draft_returned.emit(question.text)

    def _end(self) -> None:
        if self._request is not None:
            self._request = self._earlier = None
            self._beginning = Beginning()
            self.prefilled.emit(None)
            self.busy_changed.emit()

    def _tell(self, notes: tuple[Sentence, ...]) -> None:
        for note in notes:
            self._notices.post(Notice(note, level="hint"))

    def _sampling_changed(self) -> None:
        if self._request is not None:
            self._session.change_settings(self._wanted_settings())

    def _add(self, turn: Turn) -> None:
        self._turns.append(turn)
        self.added.emit(turn)

    def _next_number(self) -> int:
        self._count += 1
        return self._count
