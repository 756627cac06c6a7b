"""How many tokens the next send takes, counted by the engine while people type.

One question of each kind is open at a time and the newest text comes next; reads the vocabulary only, never the cache.
Knows no clock: whoever types decides how often it asks.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.chat import ChatPrompt
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Finished, PrefillProgress, PromptReady, Rendered, Tokenized, Tokens
from app.core.model import ModelInfo
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.core.words import translate
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.next_send import UNCOUNTED, Count
from app.services.questions import AnswerEvent
from app.services.templates import Templates
from app.system.settings_file import SettingsFile

_ID_BYTES = 4


class _Asked(NamedTuple):
    """A prompt that is being counted."""

    request: int
    message: str
    prompt: ChatPrompt
    """All of it, also where only what must stay of it is counted."""
    whole: dict[str, object] | None = None
    """What is known of all of it, while what must stay is counted."""


class PromptCount:
    """Counts the draft, and the whole prompt that it would be sent with."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        chat: Chat,
        templates: Templates,
        settings: SettingsFile,
    ) -> None:
        """`templates` knows what people chose instead of the model's own, `settings` what becomes of a full context."""
        self.changed: Signal[()] = Signal()
        """A count is another one."""
        self._session = session
        self._engine = engine
        self._chat = chat
        self._templates = templates
        self._settings = settings
        self._asked = False
        self._text = ""
        self._pasted: tuple[str, ...] = ()
        self._model: ModelInfo | None = None
        self._tokenizing: tuple[int, str] | None = None
        self._rendering: _Asked | None = None
        self._tokens: dict[str, int | None] = {}
        self._rendered: ChatPrompt | None = None
        self._next = b""
        """Token ids of the prompt that was counted last."""
        self._cells = bytearray()
        """Token ids that the cells hold, those of the prompt that is being read included."""
        self._held: int | None = None
        """The answer that the cells end with, where its conversation was shown while it was written."""
        self._begun: tuple[int, int] | None = None
        """The question that the engine works on or worked on last, and the tokens of its prompt."""
        self._sent: int | None = None
        """Tokens of the prompt that is being answered, as they were counted before it was sent."""
        self._count = Count()
        session.changed.connect(self.look_again)
        session.answer_told.connect(self._follow)
        chat.busy_changed.connect(self.look_again)
        chat.opened.connect(self._forget_prompt)

    @property
    def count(self) -> Count:
        """What is known now."""
        return self._count

    def set_draft(self, text: str, pasted: tuple[str, ...] = ()) -> None:
        """Count another message: all of its text, and each pasted part of it by itself."""
        self._asked = True
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

    def _take_prompt(self, asked: _Asked, event: Tokenized | Rendered | Failed) -> None:
        """Take in how long the whole prompt is; where turns can go and must, ask first how long the rest is."""
        ids = event.ids if isinstance(event, Rendered) else b""
        tokens = len(ids) // _ID_BYTES if isinstance(event, Rendered) else None
        refused = isinstance(event, Failed) and event.kind == "prompt_too_long"
        least = UNCOUNTED if refused else tokens
        if asked.whole is not None:
            self._set(**asked.whole, least=least)
            return
        self._rendered, self._next = asked.prompt, ids
        reason = event.sentence if isinstance(event, Failed) else None
        whole: dict[str, object] = {"message": asked.message, "prompt": tokens, "refused": refused, "reason": reason}
        whole |= {"cached": self._common(), "holds_chat": self._holds_chat()}
        cells, rest = self._count.cells or 0, _without_oldest(asked.prompt)
        if (refused or (tokens or 0) >= cells) and self._count.drops and rest != asked.prompt:
            self._ask(_Asked(self._session.new_request(), asked.message, asked.prompt, whole), rest)
        else:
            self._set(**whole, least=least)

    def _follow(self, event: AnswerEvent) -> None:
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
                self._use_cells(event.cells_used)
            case Finished():
                used = event.metrics.kv.cells_used
                del self._cells[used * _ID_BYTES :]
                self._use_cells(used, cached=self._common())
            case _:
                pass

    def _use_cells(self, used: int, **changes: object) -> None:
        """So many cells are in use now, whosever they are."""
        self._set(in_cache=used, holds_chat=self._holds_chat(), **self._under_way(used), **changes)

    def _under_way(self, used: int | None) -> dict[str, object]:
        """Return what is known of the prompt that is being answered; the cells are its own once the engine began it."""
        run = self._chat.shown.run
        if run is None:
            return {"asked": None, "kept": None}
        if self._begun is not None and run.request == self._begun[0]:
            return {"asked": self._begun[1], "kept": used}
        return {"asked": self._sent, "kept": self._common() if self._sent is not None else None}

    def _counted_as_sent(self) -> int | None:
        """Return the tokens of the prompt that was just sent, if it was this one that was counted last."""
        shown, counted = self._chat.shown, self._rendered
        if shown.run is None or counted is None or self._rendering is not None or self._count.too_long:
            return None
        sent = tuple(shown.prompt_messages(shown.before(shown.run.turn)))
        return self._count.prompt if ChatPrompt(sent, counted.template) == counted else None

    def _common(self) -> int:
        """Return how many tokens of the prompt that was counted last are in the cells; its last one is read anyway."""
        least, most = 0, max(0, min(len(self._next) // _ID_BYTES - 1, len(self._cells) // _ID_BYTES))
        while least < most:
            middle = (least + most + 1) // 2
            first, last = least * _ID_BYTES, middle * _ID_BYTES
            if self._next[first:last] == self._cells[first:last]:
                least = middle
            else:
                most = middle - 1
        return least

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
        model, answers = self._session.model, self._session.phase in ("ready", "busy")
        if model is not self._model:
            self._model = model
            self._tokenizing = self._rendering = self._rendered = None
            self._tokens.clear()
            self._next, self._cells, self._held = b"", bytearray(), None
            self._begun = self._sent = None
            self._count = _nothing_asked(model)
            self.changed.emit()
        if not self._asked:
            return
        drops = self._settings.values.when_full == "drop_oldest"
        if drops != self._count.drops:
            self._rendered = None  # what must stay is counted only where the oldest turns may go
        self._set(drops=drops)
        if model is not None and answers:
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
        """Count the whole prompt, unless its last answer is still being written; of an empty chat there is none yet."""
        if self._chat.busy:
            if not self._count.answering:
                self._sent = self._counted_as_sent()
            self._rendered = None
            asked = self._under_way(self._count.in_cache)
            self._set(prompt=None, least=None, refused=False, answering=True, reason=_ANSWERING, **asked)
            return
        self._set(answering=False, asked=None, kept=None, holds_chat=self._holds_chat())
        if self._rendering is not None:
            return
        if not self._text.strip() and not self._chat.turns:
            self._rendered, self._next = None, b""
            self._set(message="", prompt=0, least=None, cached=0, refused=False, reason=None)
            return
        template = self._templates.for_model(self._session.ref)
        prompt = ChatPrompt(self._chat.messages_with(self._text), template)
        if prompt != self._rendered:
            self._ask(_Asked(self._session.new_request(), self._text, prompt), prompt)

    def _ask(self, asked: _Asked, prompt: ChatPrompt) -> None:
        self._rendering = asked
        self._engine.send(Render(asked.request, prompt))

    def _tokens_of(self, text: str) -> int | None:
        return self._tokens.get(text) if text and self._model is not None else 0 if self._model is not None else None

    def _forget_prompt(self) -> None:
        """Another conversation is shown: what was counted was the other one's."""
        self._rendering = self._rendered = self._sent = None
        self._set(prompt=None, least=None, cached=0, refused=False, reason=None)
        self.look_again()

    def _set(self, **changes: object) -> None:
        count = msgspec.structs.replace(self._count, **changes)
        if count != self._count:
            self._count = count
            self.changed.emit()


def _nothing_asked(model: ModelInfo | None) -> Count:
    """Return what is known of a model that was just loaded."""
    return Count() if model is None else Count(in_cache=0, cells=model.context, memory_kind=model.memory_kind)


def _without_oldest(prompt: ChatPrompt) -> ChatPrompt:
    """Return what stays of a prompt when all turns before the question are left out."""
    *earlier, question = prompt.messages
    stays = [message for message in earlier if message.role == "system"]
    return msgspec.structs.replace(prompt, messages=(*stays, question))


_ANSWERING = translate("PromptCount", "It is counted as soon as the answer is written.")
