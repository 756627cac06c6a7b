"""What the tokens of the loaded model say: from the store where it is kept, else from the engine, then kept.

All of it is one stretch of bytes and where each token ends in it. Must not know who shows tokens, or how.
"""

from __future__ import annotations

import codecs
from array import array
from bisect import bisect_right

from app.core.commands import ListPieces
from app.core.conversation import Pieces
from app.core.events import Failed, Loaded, LoadProgress, PiecesListed
from app.core.ports import EnginePort, StorePort
from app.core.signal import Signal
from app.core.store_commands import KeepPieces, ReadPieces
from app.core.store_events import PiecesRead
from app.services.engine_session import EngineSession

PART_TOKENS = 4_096
"""So many tokens are asked of the engine at once; others' questions about text come between."""
_AS_CODES = "tokenlight-bytes-as-codes"


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
        self._data = bytearray()
        self._ends = array("I")
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
        return len(self._ends)

    def piece(self, token: int) -> bytes | None:
        """Return the bytes of a token, control tokens by their name; None where they are not known."""
        if not 0 <= token < len(self._ends):
            return None
        start = self._ends[token - 1] if token else 0
        return bytes(self._data[start : self._ends[token]])

    def text(self, token: int) -> str | None:
        """Return a token's text for display, parts of characters as `<0xD7>`; None where it is not known."""
        piece = self.piece(token)
        return None if piece is None else piece.decode("utf-8", _AS_CODES)

    def ends_answers(self, token: int) -> bool:
        """Return whether an answer ends at a token."""
        return token in self._ends_answers

    def holding(self, part: bytes) -> list[int]:
        """Return the tokens whose bytes hold others, in order."""
        found: list[int] = []
        place = self._data.find(part) if part else -1
        while place >= 0:
            token = bisect_right(self._ends, place)
            is_within = place + len(part) <= self._ends[token]
            if is_within:
                found.append(token)
            place = self._data.find(part, self._ends[token] if is_within else place + 1)
        return found

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
            self._data, self._ends = bytearray(), array("I")
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
        ends = _ends_of(pieces)
        if pieces.first or len(ends) != self._size:
            self._ask_next()
            return
        self._data, self._ends = bytearray(pieces.data), ends
        self.changed.emit()

    def _take_part(self, pieces: Pieces) -> None:
        ends = _ends_of(pieces)
        if pieces.tokenizer != self._tokenizer or pieces.first != self.known or not ends:
            return
        start = len(self._data)
        self._data += pieces.data
        self._ends.extend(start + end for end in ends)
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


def _ends_of(pieces: Pieces) -> array[int]:
    ends = array("I")
    ends.frombytes(pieces.ends)
    return ends


def _bytes_as_codes(error: UnicodeError) -> tuple[str, int]:
    """Say which bytes they are: tokens of single bytes would all look the same as U+FFFD."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


codecs.register_error(_AS_CODES, _bytes_as_codes)
