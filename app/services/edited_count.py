"""How many tokens a message that is being changed takes, and the prompt that would ask it anew.

Asks the engine, which reads its vocabulary only. One question is open at a time, and the newest text comes next.
Knows no clock: whoever types decides how often it asks.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from app.core.chat import ChatPrompt, PromptMessage, clean_text
from app.core.commands import Render, Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.services.asked_count import Send
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.next_send import Count
from app.services.open_conversation import prompt_messages
from app.services.prompt_count import PromptCount
from app.services.templates import Templates
from app.services.turns import Turn
from app.system.settings_file import SettingsFile

_ID_BYTES = 4


class _Edited(NamedTuple):
    turn: Turn
    message: str
    files: tuple[str, ...]


class EditedCount:
    """One message at a time: the question of the shown branch that somebody changes."""

    def __init__(
        self,
        session: EngineSession,
        engine: EnginePort,
        chat: Chat,
        templates: Templates,
        settings: SettingsFile,
        counted: PromptCount,
    ) -> None:
        """`counted` knows what the cache holds, `settings` what becomes of a full context."""
        self.changed: Signal[()] = Signal()
        """More is known, or something else."""
        self._session = session
        self._engine = engine
        self._chat = chat
        self._templates = templates
        self._settings = settings
        self._counted = counted
        self._edited: _Edited | None = None
        self._asked: tuple[int, str | Send] | None = None
        self._tokens: dict[str, int | None] = {}
        self._rendered: tuple[Send, str, Rendered | Failed] | None = None
        """What the engine made of a prompt, and the message at its end."""
        self._model = session.model
        self._count = Count()
        session.changed.connect(self._look)
        chat.busy_changed.connect(self._look)

    @property
    def count(self) -> Count:
        """What is known now: `pasted` are the files, `message` is what was counted last."""
        return self._count

    def watch(self, turn: Turn, message: str, files: tuple[str, ...]) -> None:
        """Count what a message would be, from now on; `files` are those in it, each in its frame."""
        self._edited = _Edited(turn, clean_text(message), files)
        kept = {self._edited.message, *files}
        self._tokens = {text: tokens for text, tokens in self._tokens.items() if text in kept}
        self._look()

    def leave(self) -> None:
        """Count no more: nothing is changed."""
        self._edited = self._rendered = None
        self._count = Count()

    def take(self, event: Tokenized | Rendered | Failed) -> None:
        """Take in a count; one that nobody waits for any more is ignored."""
        if self._asked is None or event.request != self._asked[0]:
            return
        _, asked = self._asked
        self._asked = None
        if isinstance(asked, str):
            self._tokens[asked] = len(event.ids) // _ID_BYTES if isinstance(event, Tokenized) else None
        elif not isinstance(event, Tokenized):
            self._rendered = asked, asked.prompt.messages[-1].text, event
        self._look()

    def _look(self) -> None:
        """Ask what is not known of the message, and tell what is."""
        if self._session.model is not self._model:
            self._model, self._asked, self._rendered = self._session.model, None, None
            self._tokens.clear()
        if self._edited is None:
            return
        if self._model is not None and self._session.phase in ("ready", "busy") and self._asked is None:
            self._ask(self._edited)
        count = self._told(self._edited)
        if count != self._count:
            self._count = count
            self.changed.emit()

    def _ask(self, edited: _Edited) -> None:
        texts = (edited.message, *edited.files)
        text = next((each for each in texts if each.strip() and each not in self._tokens), None)
        if text is not None:
            self._asked = self._session.new_request(), text
            self._engine.send(Tokenize(self._asked[0], text))
            return
        send = self._send_of(edited)
        if send is not None and (self._rendered is None or self._rendered[0] != send):
            self._asked = self._session.new_request(), send
            self._engine.send(Render(self._asked[0], *send))

    def _send_of(self, edited: _Edited) -> Send | None:
        """Return what would be sent; None while an answer is written, or where the message says nothing."""
        if self._chat.busy or not edited.message.strip():
            return None
        shown = self._chat.shown
        before = prompt_messages(shown.head.system_prompt, shown.before(edited.turn))
        messages = (*before, PromptMessage("user", edited.message))
        when_full = self._settings.values.when_full
        longest = shown.head.settings.validated().max_tokens if when_full == "drop_oldest" else 0
        return Send(ChatPrompt(messages, self._templates.for_model(self._session.ref)), when_full, longest)

    def _told(self, edited: _Edited) -> Count:
        model = self._model
        if model is None:
            return Count(pasted=tuple(None for _ in edited.files))
        known = Count(
            draft=self._tokens.get(edited.message, None if edited.message.strip() else 0),
            pasted=tuple(self._tokens.get(each) for each in edited.files),
            cells=model.context,
            trained=model.trained_context,
            memory_kind=model.memory_kind,
            drops=self._settings.values.when_full == "drop_oldest",
        )
        if self._rendered is None:
            return known
        _, message, answer = self._rendered
        if isinstance(answer, Failed):
            refused = answer.kind == "prompt_too_long"
            return msgspec.structs.replace(
                known, message=message, refused=refused, needed=answer.tokens, reason=answer.sentence
            )
        prompt, held = len(answer.ids) // _ID_BYTES, self._counted.held_of(answer.ids)
        return msgspec.structs.replace(known, message=message, prompt=prompt, cached=held, in_cache=held)
