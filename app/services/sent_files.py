"""How many tokens the files of sent messages have, where no model has read them since their chat was opened.

Asks the engine, which reads its vocabulary only, one file after another and only while no answer is written.
"""

from __future__ import annotations

from typing import NamedTuple

from app.core.attached_files import lifted
from app.core.commands import Tokenize
from app.core.events import Failed, Rendered, Tokenized
from app.core.ports import EnginePort
from app.services.answers import Answers
from app.services.chat import Chat
from app.services.engine_session import EngineSession
from app.services.open_conversation import OpenConversation
from app.services.turns import Turn

_ID_BYTES = 4


class _Asked(NamedTuple):
    request: int
    conversation: OpenConversation
    turn: Turn
    files: tuple[str, ...]
    known: tuple[int, ...]
    """The tokens of those that were counted already."""


class SentFiles:
    """Counts the files of the questions that are shown."""

    def __init__(self, session: EngineSession, engine: EnginePort, chat: Chat, answers: Answers) -> None:
        self._session = session
        self._engine = engine
        self._chat = chat
        self._answers = answers
        self._asked: _Asked | None = None
        self._model = session.model
        for signal in (session.changed, chat.busy_changed, chat.opened):
            signal.connect(self._look)
        chat.rebranched.connect(lambda _first: self._look())

    def take(self, event: Tokenized | Rendered | Failed) -> None:
        """Take in a count; one that nobody waits for any more is ignored."""
        asked = self._asked
        if asked is None or event.request != asked.request:
            return
        self._asked = None
        if not isinstance(event, Tokenized):
            return  # the engine says elsewhere what is wrong with it, and the next look asks again
        known = (*asked.known, len(event.ids) // _ID_BYTES)
        if len(known) < len(asked.files):
            self._ask(asked._replace(known=known))
            return
        if not asked.turn.file_tokens:  # a model that read them meanwhile knows better
            asked.turn.file_tokens = known
            self._answers.changed.emit(asked.conversation, asked.turn)
        self._look()

    def _look(self) -> None:
        """Ask about the first question that is shown whose files nobody counted."""
        if self._session.model is not self._model:
            self._model, self._asked = self._session.model, None
        is_free = self._asked is None and not self._chat.busy and self._session.phase == "ready"
        if self._model is None or not is_free:
            return
        for turn in self._chat.turns:
            if turn.role == "user" and not turn.file_tokens and (files := lifted(turn.text).framed):
                self._ask(_Asked(0, self._chat.shown, turn, files, ()))
                return

    def _ask(self, asked: _Asked) -> None:
        self._asked = asked._replace(request=self._session.new_request())
        self._engine.send(Tokenize(self._asked.request, asked.files[len(asked.known)]))
