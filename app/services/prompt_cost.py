"""What a system prompt would cost while it is written: its tokens, and what the next answer would read again.

Asks the engine, which reads its vocabulary only. Knows no clock: whoever types decides how often it asks.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from app.core.chat import ChatPrompt, PromptMessage, clean_text
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.core.token_ids import common_start
from app.core.words import Sentence
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.open_conversation import prompt_messages
from app.services.prompt_count import PromptCount
from app.services.system_prompt import SystemPrompt
from app.services.templates import Templates
from app.system.settings_file import SettingsFile

Reads = Literal["nothing", "first", "again", "anyway"]
"""“nothing” is more than before, “first” comes with the first message, “again” is lost from the cache, “anyway” is not there."""
_ID_BYTES = 4
_ANY_QUESTION = PromptMessage("user", "?")
"""Stands for the first message of a chat: templates want one."""


class PromptCost(msgspec.Struct, frozen=True):
    """What is known of one text; None is unknown."""

    text: str = ""
    tokens: int | None = None
    """Tokens of the text by itself."""
    whole: int | None = None
    """Tokens of the whole chat with it."""
    again: int | None = None
    """Of those, what the cache holds now and could not be used any more, or does not hold at all."""
    cells: int | None = None
    """What the context holds."""
    reads: Reads = "nothing"
    refused: bool = False
    """The engine would not answer with it: what must be sent is longer than the context."""
    notes: tuple[Sentence, ...] = ()
    """What people should know of how the chat template takes it, or why it does not."""


class _Asked(NamedTuple):
    request: int
    messages: tuple[PromptMessage, ...]


class PromptCosts:
    """One text at a time; one question of each kind is open, and the newest text comes next."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        chat: Chat,
        templates: Templates,
        prompt: SystemPrompt,
        counted: PromptCount,
        settings: SettingsFile,
    ) -> None:
        """`counted` knows what of the chat lies in the cache, `settings` what becomes of a full context."""
        self.changed: Signal[()] = Signal()
        """More is known, or something else."""
        self._session = session
        self._engine = engine
        self._chat = chat
        self._templates = templates
        self._prompt = prompt
        self._counted = counted
        self._settings = settings
        self._text: str | None = None
        self._tokenizing: tuple[int, str] | None = None
        self._rendering: _Asked | None = None
        self._known: tuple[str, int | None] | None = None
        self._rendered: dict[tuple[PromptMessage, ...], Rendered | Failed] = {}
        """What the engine makes of the chat with the text in force, and with the one that is watched."""
        self._cost = PromptCost()
        self._model = session.model
        for signal in (session.changed, chat.busy_changed, counted.changed, chat.opened):
            signal.connect(self._look)

    @property
    def cost(self) -> PromptCost:
        """What is known now of the text that is watched."""
        return self._cost

    def watch(self, text: str | None) -> None:
        """Find out what a text would cost, from now on; None is no text any more."""
        self._text = None if text is None else clean_text(text)
        if text is None:
            self._rendered = {}  # until the next time the chat template may be another one
        self._look()

    def take(self, event: Tokenized | Rendered | Failed) -> None:
        """Take in what the engine says; what nobody waits for any more is ignored."""
        if self._tokenizing is not None and event.request == self._tokenizing[0]:
            _, text = self._tokenizing
            self._tokenizing = None
            self._known = (text, len(event.ids) // _ID_BYTES if isinstance(event, Tokenized) else None)
        elif self._rendering is not None and event.request == self._rendering.request:
            asked, self._rendering = self._rendering, None
            if not isinstance(event, Tokenized):
                self._rendered[asked.messages] = event
        else:
            return
        self._look()

    def _look(self) -> None:
        """Ask what is not known of the text, and tell what is."""
        if self._session.model is not self._model:
            self._model = self._session.model
            self._tokenizing = self._rendering = self._known = None
            self._rendered = {}
        if self._text is None:
            return
        if self._model is not None and self._session.phase in ("ready", "busy"):
            self._ask(self._text)
        cost = self._told(self._text)
        if cost != self._cost:
            self._cost = cost
            self.changed.emit()

    def _ask(self, text: str) -> None:
        if self._tokenizing is None and text and (self._known is None or self._known[0] != text):
            self._tokenizing = (self._session.new_request(), text)
            self._engine.send(Tokenize(*self._tokenizing))
        if self._rendering is not None or self._chat.busy:
            return  # what is being written changes with every token: it is counted when it has ended
        wanted = [messages for messages in (self._messages(self._prompt.text), self._messages(text)) if messages]
        self._rendered = {messages: said for messages, said in self._rendered.items() if messages in wanted}
        missing = next((messages for messages in wanted if messages not in self._rendered), None)
        if missing is not None:
            self._rendering = _Asked(self._session.new_request(), missing)
            prompt = ChatPrompt(missing, self._templates.for_model(self._session.ref))
            when_full = self._settings.values.when_full
            longest = self._chat.shown.head.settings.max_tokens if when_full == "drop_oldest" else 0
            self._engine.send(Render(self._rendering.request, prompt, when_full, longest))

    def _messages(self, text: str) -> tuple[PromptMessage, ...]:
        """Return what would be sent with a text as the system prompt; nothing where there is nothing to be read."""
        shown = self._chat.shown
        turns = [
            message for message in prompt_messages(shown.head.system_prompt, shown.turns) if message.role != "system"
        ]
        system = [PromptMessage("system", text)] if text.strip() else []
        if not turns and not system:
            return ()
        return (*system, *(turns or [_ANY_QUESTION]))

    def _told(self, text: str) -> PromptCost:
        tokens = 0 if not text else None
        if text and self._known is not None and self._known[0] == text:
            tokens = self._known[1]
        cost = PromptCost(text, tokens, cells=self._counted.count.cells, reads=self._reads(text))
        if self._model is None:
            return msgspec.structs.replace(cost, tokens=None)
        answer = None if self._chat.busy else self._rendered.get(self._messages(text))
        if answer is None:
            return cost
        if isinstance(answer, Failed):
            if answer.kind == "prompt_too_long":
                return msgspec.structs.replace(cost, whole=answer.tokens, refused=True)
            return msgspec.structs.replace(cost, notes=(answer.sentence,))
        whole = len(answer.ids) // _ID_BYTES
        notes = answer.notes if text.strip() else ()
        return msgspec.structs.replace(cost, whole=whole, again=self._again(answer.ids), notes=notes)

    def _again(self, ids: bytes) -> int | None:
        """Return how much of a prompt the cache would be of no use for; a cache that cannot go back is of none."""
        now, count = self._rendered.get(self._messages(self._prompt.text)), self._counted.count
        if not isinstance(now, Rendered):
            return None
        used = common_start(now.ids, ids) if count.memory_kind == "plain" else 0
        return len(ids) // _ID_BYTES - min(used, count.reused or 0)

    def _reads(self, text: str) -> Reads:
        if not self._chat.turns:
            return "first"
        if text == self._prompt.text or not (text.strip() or self._prompt.text):
            return "nothing"
        return "again" if self._counted.count.reused else "anyway"
