"""How many tokens the next send takes, counted by the engine while people type.

One question of each kind is open at a time and the newest text comes next; reads the vocabulary only, never the cache.
Knows no clock: whoever types decides how often it asks, and whoever shows the count how often it follows an answer.
"""

from __future__ import annotations

import msgspec

from app.core.chat import ChatPrompt, clean_text
from app.core.commands import Render, Tokenize
from app.core.events import (
    Compared,
    Failed,
    Finished,
    LaneTokens,
    PrefillProgress,
    PromptReady,
    Rendered,
    Tokenized,
    Tokens,
)
from app.core.model import ModelInfo
from app.core.ports import EnginePort
from app.core.replay_events import Reproduced
from app.core.signal import Signal
from app.core.token_ids import common_start
from app.core.words import translate
from app.services.asked_count import AskedCount, Send
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.next_send import Count
from app.services.open_conversation import prompt_messages, prompt_turns
from app.services.questions import AnswerEvent, LanesEvent, ReplayEvent
from app.services.sampling import Sampling
from app.services.templates import Templates
from app.system.settings_file import SettingsFile

_ID_BYTES = 4


class PromptCount:
    """Counts the draft, and the whole prompt that it would be sent with."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        chat: Chat,
        templates: Templates,
        settings: SettingsFile,
        sampling: Sampling,
    ) -> None:
        """`templates` knows what people chose instead of the model's own, `settings` what becomes of a full context."""
        self.changed: Signal[()] = Signal()
        """A count is another one; while an answer is written it is told once, until somebody has read it."""
        self._session = session
        self._engine = engine
        self._chat = chat
        self._templates = templates
        self._settings = settings
        self._asked = False
        self._waits = False
        """Whether what is written in the conversation that is shown is not known yet."""
        self._text = ""
        self._pasted: tuple[str, ...] = ()
        self._model: ModelInfo | None = None
        self._tokenizing: tuple[int, str] | None = None
        self._rendering: AskedCount | None = None
        self._tokens: dict[str, int | None] = {}
        self._rendered: Send | None = None
        self._ahead: tuple[str, tuple[int, ...]] | None = None
        """A text that was asked about while an answer was written, and what would be left out with it."""
        self._next = b""
        """Token ids of the prompt that was counted last."""
        self._cells = bytearray()
        """Token ids that the cells hold, those of the prompt that is being read included."""
        self._used: int | None = None
        """The cells in use that `count` does not say yet."""
        self._held: int | None = None
        """The answer that the cells end with, where its conversation was shown while it was written."""
        self._begun: tuple[int, int] | None = None
        """The question that the engine works on or worked on last, and the tokens of its prompt."""
        self._sent: Count | None = None
        """What was known of the prompt that is being answered, if it was counted before it was sent."""
        self._count = Count()
        session.changed.connect(self.look_again)
        session.answer_told.connect(self._follow)
        session.replayed.connect(self._follow)
        session.lanes_told.connect(self._follow)
        chat.busy_changed.connect(self.look_again)
        chat.opened.connect(self._forget_prompt)
        chat.rebranched.connect(self._look_at_branch)
        sampling.changed.connect(self._look_at_settings)

    @property
    def count(self) -> Count:
        """What is known now."""
        if self._used is not None:
            self._use_cells(self._used)
        return self._count

    def set_draft(self, text: str, pasted: tuple[str, ...] = ()) -> None:
        """Count another message: all of its text, and each pasted part of it by itself."""
        self._asked, self._waits = True, False
        self._text, self._pasted = text, pasted
        kept = {text, *pasted}
        self._tokens = {known: tokens for known, tokens in self._tokens.items() if known in kept}
        self.look_again()

    def take(self, event: Tokenized | Rendered | Failed) -> None:
        """Take in a count; one that nobody waits for any more is ignored."""
        if self._tokenizing is not None and event.request == self._tokenizing[0]:
            _, text = self._tokenizing
            self._tokenizing = None
            self._tokens[text] = len(event.ids) // _ID_BYTES if isinstance(event, Tokenized) else None
        elif self._rendering is not None and event.request == self._rendering.request:
            asked, self._rendering = self._rendering, None
            self._take_prompt(asked, event)
        else:
            return
        self.look_again()

    def _take_prompt(self, asked: AskedCount, event: Tokenized | Rendered | Failed) -> None:
        """Take in how long a prompt is and what is left out of it, or that the engine would refuse it."""
        rendered = event if isinstance(event, Rendered) else None
        owners = [asked.turns[index] for index in rendered.dropped] if rendered is not None else []
        left_out = tuple(turn.number for turn in owners if turn is not None)
        if asked.is_ahead:
            self._ahead = (asked.message, left_out)
            return
        self._rendered, self._next = asked.send, rendered.ids if rendered is not None else b""
        failed = event if isinstance(event, Failed) else None
        refused = failed is not None and failed.kind == "prompt_too_long"
        self._set(
            message=asked.message,
            prompt=len(self._next) // _ID_BYTES if rendered is not None else None,
            left_out=left_out,
            refused=refused,
            needed=failed.tokens if failed is not None else None,
            reason=failed.sentence if failed is not None else None,
            cached=self._common(),
            holds_chat=self._holds_chat(),
        )

    def _follow(self, event: AnswerEvent | ReplayEvent | LanesEvent) -> None:
        match event:
            case PromptReady():
                self._cells = bytearray(event.ids)
                self._held = None
                self._begun = (event.request, len(event.ids) // _ID_BYTES)
                self._use_cells(event.from_cache)
            case PrefillProgress():
                if event.done >= event.total:
                    self._hold(event.request)
                self._use_cells(event.done)
            case Tokens():
                self._hold(event.request)
                self._cells += event.ids
                self._use_later(event.cells_used)
            case LaneTokens():
                self._use_later(event.tokens.cells_used)
            case Failed() if self.count.in_cache is not None:
                self._use_cells(min(self.count.in_cache, len(self._cells) // _ID_BYTES))
            case Finished() | Reproduced() | Compared():
                used = (event.metrics.kv if isinstance(event, Finished) else event.kv).cells_used
                del self._cells[used * _ID_BYTES :]
                self._use_cells(used)
            case _:
                pass

    def _use_later(self, used: int) -> None:
        """So many cells are in use: worked out when somebody asks."""
        is_told, self._used = self._used is not None, used
        if not is_told:
            self.changed.emit()

    def _use_cells(self, used: int) -> None:
        """So many cells are in use now, whosever they are."""
        self._used = None
        cached = min(used, self._common())
        self._set(in_cache=used, cached=cached, holds_chat=self._holds_chat(), **self._under_way(used))

    def _under_way(self, used: int | None) -> dict[str, object]:
        """Return what is known of the prompt that is being answered; the cells are its own once the engine began it."""
        shown, run = self._chat.shown, self._chat.shown.run
        if run is None:
            return {"asked": None, "kept": None}
        if self._begun is not None and run.request == self._begun[0]:
            sent = [
                turn.number
                for turn in prompt_turns(shown.head.system_prompt, shown.before(run.turn))
                if turn is not None
            ]
            return {"asked": self._begun[1], "kept": used, "left_out": self._least(tuple(sent[: run.turn.dropped]))}
        if self._sent is None:
            return {"asked": None, "kept": None, "left_out": self._least(())}
        return {"asked": self._sent.prompt, "kept": self._common(), "left_out": self._least(self._sent.left_out)}

    def _ahead_of_draft(self) -> tuple[str, tuple[int, ...]] | None:
        """Return that nothing is asked of a text which was just sent: it is no draft any more, though nobody said so."""
        run = self._chat.shown.run
        asked = run.asked if run is not None else None
        return (self._text, ()) if asked is not None and asked.text == clean_text(self._text) else None

    def _least(self, left_out: tuple[int, ...]) -> tuple[int, ...]:
        """Return what is left out of the prompt that is being answered, or already known to be of the next one."""
        ahead = self._ahead[1] if self._ahead is not None and self._count.drops else ()
        return max(left_out, ahead, key=len)

    def _counted_as_sent(self) -> Count | None:
        """Return what is known of the prompt that was just sent, if it was this one that was counted last."""
        shown, counted = self._chat.shown, self._rendered
        if shown.run is None or counted is None or self._rendering is not None or self._count.prompt is None:
            return None
        sent = tuple(prompt_messages(shown.head.system_prompt, shown.before(shown.run.turn)))
        return self._count if msgspec.structs.replace(counted.prompt, messages=sent) == counted.prompt else None

    def held_of(self, ids: bytes) -> int:
        """Return how many tokens that a prompt begins with are in the cells; its last one is read anyway."""
        return min(common_start(ids, self._cells), max(0, len(ids) // _ID_BYTES - 1))

    def _common(self) -> int:
        """Return how many tokens of the prompt that was counted last are in the cells."""
        return self.held_of(self._next)

    def _hold(self, request: int) -> None:
        """Note whose answer follows in the cells, now that all of its prompt was read."""
        run = self._chat.shown.run
        if run is not None and run.request == request:
            self._held = run.message

    def _holds_chat(self) -> bool:
        """Whether the cells end with the last answer of the conversation: what follows is marks alone."""
        return bool(self._chat.turns) and self._chat.turns[-1].message == self._held

    def look_again(self) -> None:
        """Ask what is not known of the newest text, as the settings are now, if there is a model that can say it."""
        model = self._session.model
        if model is not self._model:
            self._model = model
            self._tokenizing = self._rendering = self._rendered = self._ahead = None
            self._tokens.clear()
            self._next, self._cells, self._used, self._held = b"", bytearray(), None, None
            self._begun = self._sent = None
            self._count = _nothing_asked(model)
            self.changed.emit()
        if not self._asked:
            return
        self._set(drops=self._settings.values.when_full == "drop_oldest")
        if self._model is not None and self._session.phase in ("ready", "busy"):
            self._tokenize()
            self._render()
        self._set(draft=self._tokens_of(self._text), pasted=tuple(map(self._tokens_of, self._pasted)))

    def _tokenize(self) -> None:
        if self._tokenizing is not None:
            return
        for text in (self._text, *self._pasted):
            if text and text not in self._tokens:
                request = self._session.new_request()
                self._tokenizing = (request, text)
                self._engine.send(Tokenize(request, text))
                return

    def _render(self) -> None:
        """Count the whole prompt; while its last answer is still being written, ask only what is left out at least."""
        if self._chat.busy:
            if not self._count.answering:
                self._sent, self._ahead = self._counted_as_sent(), self._ahead_of_draft()
            if not self._text.strip():
                self._ahead = None
            self._rendered = None
            asked = self._under_way(self.count.in_cache)
            self._set(prompt=None, refused=False, needed=None, answering=True, reason=_ANSWERING, **asked)
            if self._count.drops and self._text.strip() and (self._ahead is None or self._ahead[0] != self._text):
                self._ask(is_ahead=True)
            return
        self._set(answering=False, asked=None, kept=None, holds_chat=self._holds_chat())
        if not self._text.strip() and not self._chat.turns:
            self._rendered, self._next = None, b""
            self._set(message="", prompt=0, left_out=(), cached=0, refused=False, needed=None, reason=None)
        else:
            self._ask(is_ahead=False)

    def _ask(self, *, is_ahead: bool) -> None:
        if self._rendering is not None or self._waits:
            return
        prompt = ChatPrompt(self._chat.messages_with(self._text), self._templates.for_model(self._session.ref))
        send = Send(prompt, self._settings.values.when_full, self._room())
        if send == self._rendered:
            return
        shown = self._chat.shown
        turns = tuple(prompt_turns(shown.head.system_prompt, shown.turns))
        self._rendering = AskedCount(self._session.new_request(), self._text, send, turns, is_ahead)
        self._engine.send(Render(self._rendering.request, *send))

    def _room(self) -> int:
        """Return the longest answer that gets room; it matters only where the oldest turns go for it."""
        return self._chat.shown.head.settings.validated().max_tokens if self._count.drops else 0

    def _look_at_branch(self, _first: int) -> None:
        """Count other turns; where an answer is about to be waited for, that is told in a moment."""
        turns = self._chat.turns
        if not turns or turns[-1].state != "waiting":
            self.look_again()

    def _look_at_settings(self) -> None:
        """Count again where another length of the answer can mean that other turns go."""
        if self._rendered is not None and self._rendered.max_tokens != self._room():
            self.look_again()

    def _tokens_of(self, text: str) -> int | None:
        return self._tokens.get(text) if text and self._model is not None else 0 if self._model is not None else None

    def _forget_prompt(self) -> None:
        """Another conversation is shown: what was counted was the other one's. It is counted once its draft is set."""
        self._waits, self._text, self._pasted = True, "", ()
        self._rendering = self._rendered = self._sent = self._ahead = None
        self._set(prompt=None, left_out=(), cached=0, refused=False, needed=None, reason=None)
        self.look_again()

    def _set(self, **changes: object) -> None:
        count = msgspec.structs.replace(self._count, **changes)
        if count != self._count:
            self._count = count
            self.changed.emit()


def _nothing_asked(model: ModelInfo | None) -> Count:
    """Return what is known of a model that was just loaded."""
    if model is None:
        return Count()
    trained, kind = model.trained_context, model.memory_kind
    return Count(in_cache=0, cells=model.context, trained=trained, memory_kind=kind)


_ANSWERING = translate("PromptCount", "It is counted as soon as the answer is written.")
