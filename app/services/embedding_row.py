"""The row of numbers that stands for one token of an answer, or the last one of its prompt, read from the model when somebody wants to see it.

A pass over that token alone brings it, in turn with the questions; where attention was read of the token, it came with that.
The last rows are kept in memory. Must not know how they are shown.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from app.core.attention import AttentionRead
from app.core.commands import ReadAttention
from app.core.events import Failed
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.attention import Attention
from app.services.engine_session import EngineSession
from app.services.inspecting import Inspecting
from app.services.loop_values import LoopToken
from app.services.open_answer import why_open
from app.services.questions import Scoring, ScoringEvent

MOST_KEPT = 64
PROMPT_END = -1
"""The place before the first one of an answer."""


class _Key(NamedTuple):
    """What the same row belongs to: a token (its id) of a model."""

    model: str
    token: int


class EmbeddingRow:
    """Knows tokens of the answer that is looked at, by their places in it, counted from 0.

    `PROMPT_END` is the last token of its prompt, None is no token.
    """

    def __init__(self, session: EngineSession, inspecting: Inspecting, attention: Attention) -> None:
        self.changed: Signal[()] = Signal()
        """A row was asked for, is there, or did not come."""
        self._session = session
        self._inspecting = inspecting
        self._attention = attention
        self._run: tuple[int, _Key] | None = None
        """The request of the pass that goes on, and what for."""
        self._known: OrderedDict[_Key, Sequence[float]] = OrderedDict()
        self._problem: tuple[_Key, Sentence] | None = None
        session.scored.connect(self._follow)
        attention.changed.connect(self._take_attention)

    def row(self, place: int | None) -> tuple[float, ...]:
        """Return the row of a token; empty where nobody read it."""
        key = self._key(place)
        return tuple(self._known[key]) if key is not None and key in self._known else ()

    def is_reading(self, place: int | None) -> bool:
        """Return whether the row of a token is under way."""
        return self._run is not None and self._run[1] == self._key(place)

    def problem(self, place: int | None) -> Sentence | None:
        """Return why the last try came to nothing; None where it did not, or was for another token."""
        return self._problem[1] if self._problem is not None and self._problem[0] == self._key(place) else None

    def hindrance(self, place: int | None) -> Sentence | None:
        """Return why a row cannot be read now, in one sentence; None where it can be tried."""
        turn, key, session = self._inspecting.turn, self._key(place), self._session
        if key is not None and key in self._known and not self._known[key]:
            return _NOT_LOOKED_UP
        if turn is None:
            return _NO_ANSWER
        if (open_words := why_open(turn)) is not None:
            return open_words
        if session.phase in ("starting", "loading"):
            return _LOADING
        if session.model is None or session.ref is None:
            return translate("Loop", "Load the model of this answer, {name}, to read them.", name=turn.author or "?")
        if turn.model is None or turn.model.identity != session.ref.identity:
            return translate(
                "Loop", "Another model is loaded. Load {name}, which wrote this answer.", name=turn.author or "?"
            )
        if key is None:
            return _NO_TOKEN
        if self._run is not None:
            return None if self._run[1] == key else _ANOTHER
        return _BUSY if session.phase == "busy" else None

    def read(self, place: int | None) -> bool:
        """Have the row of a token read; False where that cannot even be tried, or is needless."""
        key, turn = self._key(place), self._inspecting.turn
        if key is None or turn is None or turn.model is None or self._run is not None:
            return False
        if self.row(place) or self.hindrance(place) is not None:
            return False
        self._problem = None
        request = self._session.new_request()
        self._run = request, key
        self.changed.emit()
        self._session.ask(Scoring(ReadAttention(request, array("i", [key.token]).tobytes()), turn.model))
        return True

    def token(self, place: int | None) -> LoopToken | None:
        """Return the token at a place, and what it says; None where it is not known."""
        turn, answer, prompt = self._inspecting.turn, self._inspecting.answer, self._inspecting.prompt
        if turn is None or place is None:
            return None
        if place == PROMPT_END:
            if prompt is None or prompt.message != turn.message or not prompt.ids:
                return None
            return LoopToken(prompt.ids[-1], prompt.texts[-1] if prompt.texts else None)
        if answer is None or place >= len(answer.ids):
            return None
        return LoopToken(answer.ids[place], answer.texts[place] if place < len(answer.texts) else None)

    def _key(self, place: int | None) -> _Key | None:
        turn, found = self._inspecting.turn, self.token(place)
        if turn is None or turn.model is None or found is None:
            return None
        return _Key(turn.model.identity, found.token)

    def _follow(self, event: ScoringEvent) -> None:
        if self._run is None or event.request != self._run[0]:
            return
        key = self._run[1]
        match event:
            case AttentionRead():
                self._run = None
                self._keep(key, memoryview(event.embedding).cast("f"))
            case Failed():
                self._run = None
                if event.kind != "cancelled":
                    self._problem = key, event.sentence
            case _:
                return
        self.changed.emit()

    def _take_attention(self) -> None:
        """Keep the row that came with the attention of a token."""
        read = self._attention
        text, rows, token = read.text, read.rows, read.token
        if text is not None and rows is not None and token is not None and rows.embedding:
            self._keep(_Key(text.model.identity, text.ids[token]), rows.embedding)
        self.changed.emit()

    def _keep(self, key: _Key, row: Sequence[float]) -> None:
        self._known[key] = row
        self._known.move_to_end(key)
        if len(self._known) > MOST_KEPT:
            self._known.popitem(last=False)


_NO_ANSWER = translate("Loop", "Send a message to see those of a token.")
_LOADING = translate("Loop", "A model is being loaded: they can be read when it is ready.")
_NO_TOKEN = translate("Loop", "Choose a token of the answer to read those of it.")
_BUSY = translate("Loop", "The model is busy with something else: they can be read when that has ended.")
_ANOTHER = translate("Loop", "Those of another token are being read: these can be read when that has ended.")
_NOT_LOOKED_UP = translate("Loop", "This model does not tell the row of a token.")
