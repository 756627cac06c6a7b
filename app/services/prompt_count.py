"""How many tokens the next send takes, counted by the engine while people type.

One question of each kind is open at a time and the newest text comes next; reads the vocabulary only, never the cache.
Knows no clock: whoever types decides how often it asks.
"""

from __future__ import annotations

import msgspec

from app.core.chat import ChatPrompt
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Finished, PrefillProgress, Rendered, Tokenized, Tokens
from app.core.model import ModelInfo
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.questions import AnswerEvent
from app.services.templates import Templates
from app.system.settings_file import SettingsFile

_ID_BYTES = 4


class Count(msgspec.Struct, frozen=True):
    """What is known of the next send; None is unknown."""

    message: str = ""
    """The text that `prompt` was counted for."""
    draft: int | None = None
    """Tokens of the text by itself."""
    pasted: tuple[int | None, ...] = ()
    """Tokens of each pasted part by itself."""
    prompt: int | None = None
    """Tokens of the whole prompt that the next send evaluates or finds in the cache."""
    in_cache: int | None = None
    """Cells of the cache that are in use now."""
    cells: int | None = None
    refused: bool = False
    """The engine would not even count the prompt: it has more tokens than the context."""
    drops: bool = False
    """The oldest turns go where the context is full, instead of a refusal."""
    reason: Sentence | None = None
    """Why the prompt is not counted."""

    @property
    def too_long(self) -> bool:
        """Whether the whole prompt leaves no room for an answer."""
        return self.refused or (self.prompt is not None and self.cells is not None and self.prompt >= self.cells)

    @property
    def left(self) -> int | None:
        """Cells that the next send leaves for the answer; None where that is unknown or nothing is left."""
        if self.prompt is None or self.cells is None or self.too_long:
            return None
        return self.cells - self.prompt


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
        self._rendering: tuple[int, str, ChatPrompt] | None = None
        self._tokens: dict[str, int | None] = {}
        self._rendered: ChatPrompt | None = None
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
        elif self._rendering is not None and event.request == self._rendering[0]:
            _, message, self._rendered = self._rendering
            self._rendering = None
            self._take_prompt(message, event)
        else:
            return
        self.look_again()

    def _take_prompt(self, message: str, event: Tokenized | Rendered | Failed) -> None:
        match event:
            case Rendered():
                self._set(message=message, prompt=len(event.ids) // _ID_BYTES, refused=False, reason=None)
            case Failed(kind="prompt_too_long"):
                self._set(message=message, prompt=None, refused=True, reason=event.sentence)
            case Failed():
                self._set(message=message, prompt=None, refused=False, reason=event.sentence)
            case _:
                pass

    def _follow(self, event: AnswerEvent) -> None:
        match event:
            case PrefillProgress():
                self._set(in_cache=event.done)
            case Tokens():
                self._set(in_cache=event.cells_used)
            case Finished():
                self._set(in_cache=event.metrics.kv.cells_used)
            case _:
                pass

    def look_again(self) -> None:
        """Ask what is not known of the newest text, as the settings are now, if there is a model that can say it."""
        model, answers = self._session.model, self._session.phase in ("ready", "busy")
        if model is not self._model:
            self._model = model
            self._tokenizing = self._rendering = self._rendered = None
            self._tokens.clear()
            self._count = Count(in_cache=None if model is None else 0, cells=None if model is None else model.context)
            self.changed.emit()
        if not self._asked:
            return
        if model is not None and answers:
            self._tokenize()
            self._render()
        drops = self._settings.values.when_full == "drop_oldest"
        self._set(draft=self._tokens_of(self._text), pasted=tuple(map(self._tokens_of, self._pasted)), drops=drops)

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
        """Count the whole prompt while nothing is being answered; of an empty chat there is none yet."""
        if self._chat.busy or self._session.phase != "ready":
            self._rendered = None
            self._set(prompt=None, refused=False, reason=_ANSWERING)
            return
        if self._rendering is not None:
            return
        if not self._text.strip() and not self._chat.turns:
            self._rendered = None
            self._set(message="", prompt=0, refused=False, reason=None)
            return
        template = self._templates.for_model(self._session.ref)
        prompt = ChatPrompt(self._chat.messages_with(self._text), template)
        if prompt != self._rendered:
            request = self._session.new_request()
            self._rendering = (request, self._text, prompt)
            self._engine.send(Render(request, prompt))

    def _tokens_of(self, text: str) -> int | None:
        return self._tokens.get(text) if text and self._model is not None else 0 if self._model is not None else None

    def _forget_prompt(self) -> None:
        """Another conversation is shown: what was counted was the other one's."""
        self._rendering = self._rendered = None
        self._set(prompt=None, refused=False, reason=None)
        self.look_again()

    def _set(self, **changes: object) -> None:
        count = msgspec.structs.replace(self._count, **changes)
        if count != self._count:
            self._count = count
            self.changed.emit()


_ANSWERING = translate("PromptCount", "It is counted as soon as the answer is written.")
