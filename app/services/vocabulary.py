"""What the tokens of the loaded model say: from the store where it is kept, else from the engine, then kept.

All of it is one stretch of bytes and where each token ends in it. Must not know who shows tokens, or how.
"""

from __future__ import annotations

from app.core.commands import ListPieces
from app.core.conversation import Pieces
from app.core.events import Failed, Loaded, LoadProgress, PiecesListed
from app.core.ports import EnginePort, StorePort
from app.core.signal import Signal
from app.core.store_commands import KeepPieces, ReadPieces
from app.core.store_events import PiecesRead
from app.services.engine_session import EngineSession
from app.services.piece_table import PieceTable, ends_of

PART_TOKENS = 4_096
"""So many tokens are asked of the engine at once; others' questions about text come between."""


class Vocabulary:
    """The pieces of one tokenizer: that of the model that was loaded last."""

    def __init__(self, session: EngineSession, engine: EnginePort, store: StorePort, *, asks: bool) -> None:
        """`asks` says whether there is somebody who reads single tokens."""
        self.changed: Signal[()] = Signal()
        """More of the tokens can be read, or those of another model."""
        self._session = session
        self._engine = engine
        self._store = store
        self._asks = asks
        self._tokenizer = ""
        self._size = 0
        self._ends_answers: frozenset[int] = frozenset()
        self._request = 0
        """The open question to store or engine, 0 for none."""
        self._table = PieceTable()
        session.load_told.connect(self._follow_load)

    @property
    def tokenizer(self) -> str:
        """Whose tokens these are (`ModelInfo.tokenizer`); empty before the first load."""
        return self._tokenizer

    @property
    def size(self) -> int:
        """How many tokens there are, whether they can be read already or not."""
        return self._size

    @property
    def known(self) -> int:
        """How many tokens can be read, from the first on."""
        return len(self._table)

    @property
    def table(self) -> PieceTable:
        """What can be read now, as a copy that nobody changes any more."""
        return self._table.copy()

    def piece(self, token: int) -> bytes | None:
        """Return the bytes of a token, control tokens by their name; None where they are not known."""
        return self._table.piece(token)

    def text(self, token: int) -> str | None:
        """Return a token's text for display, parts of characters as `<0xD7>`; None where it is not known."""
        return self._table.text(token)

    def ends_answers(self, token: int) -> bool:
        """Return whether an answer ends at a token."""
        return token in self._ends_answers

    def holding(self, part: bytes) -> list[int]:
        """Return the tokens whose bytes hold others, in order."""
        return self._table.holding(part)

    def take(self, event: PiecesListed | PiecesRead | Failed) -> None:
        """Take in what tokens say; what belongs to an earlier question is ignored."""
        if event.request != self._request or not self._request:
            return
        self._request = 0
        match event:
            case PiecesRead(pieces=None):
                self._ask_next()
            case PiecesRead(pieces=Pieces() as pieces):
                self._take_whole(pieces)
            case PiecesListed():
                self._take_part(event.pieces)
            case _:
                pass  # no answer this time: the next load asks again

    def _follow_load(self, event: LoadProgress | Loaded | Failed) -> None:
        if not isinstance(event, Loaded):
            return
        tokenizer, size = event.model.tokenizer, event.model.vocabulary
        self._ends_answers = frozenset(event.model.end_tokens)
        if (tokenizer, size) != (self._tokenizer, self._size):
            self._tokenizer, self._size = tokenizer, size
            self._table = PieceTable()
            self.changed.emit()
        self._request = 0
        if not self._asks or not tokenizer or self.known >= size:
            return
        if self.known:
            self._ask_next()
        else:
            self._request = self._engine.new_request()
            self._store.send(ReadPieces(self._request, tokenizer))

    def _take_whole(self, pieces: Pieces) -> None:
        if pieces.first or len(ends_of(pieces)) != self._size:
            self._ask_next()
            return
        self._table = PieceTable(pieces)
        self.changed.emit()

    def _take_part(self, pieces: Pieces) -> None:
        if pieces.tokenizer != self._tokenizer or pieces.first != self.known or not pieces.ends:
            return
        self._table.extend(pieces)
        self._store.send(KeepPieces(pieces, self._size))
        self._ask_next()
        self.changed.emit()

    def _ask_next(self) -> None:
        """Ask for the next tokens, if the model that has them is there; nothing is started for them."""
        model = self._session.model
        is_there = model is not None and model.tokenizer == self._tokenizer and self._engine.running
        if is_there and self.known < self._size:
            self._request = self._engine.new_request()
            self._engine.send(ListPieces(self._request, self.known, PART_TOKENS))
