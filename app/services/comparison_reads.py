"""Gathers what an analysis of lanes needs beside the lanes: of a stored comparison the records and the prompt are read.

Must not know what is done with it.
"""

from __future__ import annotations

from app.core.conversation import AnswerPrompt
from app.core.ports import StorePort
from app.core.store_commands import ReadPieces, ReadPrompt, ReadRecord
from app.core.store_events import PiecesRead, PromptRead, RecordRead
from app.services.engine_session import EngineSession
from app.services.lane_inputs import LaneInputs, inputs_of
from app.services.lanes_run import Lane, LanesRun
from app.services.piece_table import PieceTable
from app.services.reread_prompt import tokens_before
from app.services.vocabulary import Vocabulary

_ID_BYTES = 4


class ComparisonReads:
    """What is known of one comparison; everything is asked of the store once."""

    def __init__(self, run: LanesRun, session: EngineSession, store: StorePort, vocabulary: Vocabulary) -> None:
        self.run = run
        self._session = session
        self._store = store
        self._vocabulary = vocabulary
        self._records: dict[int, Lane] = {}
        """The lane whose record is read, by request."""
        self._prompt_request = 0
        self._pieces_request = 0
        self._prompt: bytes | None = None
        self.kept_prompt: AnswerPrompt | None = None
        """The prompt as the store has it, with its parts and what of the answer was in it."""
        self._pieces: PieceTable | None = None
        self._inputs = inputs_of(run, None, None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is waited for."""
        return not (self._records or self._prompt_request or self._pieces_request)

    @property
    def lacks_pieces(self) -> bool:
        """Whether the vocabulary has what the tokens say, and did not when it was looked at."""
        vocabulary, known = self._vocabulary, self._pieces
        is_theirs = vocabulary.tokenizer == self._tokenizer and 0 < vocabulary.size == vocabulary.known
        return is_theirs and (known is None or len(known) < vocabulary.size)

    @property
    def _tokenizer(self) -> str:
        known = next((lane.turn.tokenizer for lane in self.run.lanes if lane.turn.tokenizer), "")
        model = self._session.model
        # Lanes that a hard end cut short can be kept without it, but with the model that wrote them.
        is_theirs = model is not None and any(lane.turn.model == self._session.ref for lane in self.run.lanes)
        return model.tokenizer if model is not None and is_theirs and not known else known

    def begin(self) -> None:
        """Ask for what is not in memory; the store may answer before this returns."""
        if self.run.request == 0:
            # All requests are noted before the first is sent: an answer must not look like the last one.
            self._records = {self._session.new_request(): lane for lane in self.run.lanes}
            self._prompt_request = self._session.new_request()
        self._look_for_pieces()
        if self.run.request == 0:
            for request, lane in tuple(self._records.items()):
                self._store.send(ReadRecord(request, lane.turn.message))
            self._store.send(ReadPrompt(self._prompt_request, self.run.lanes[0].turn.message))
        if self._pieces_request:
            self._store.send(ReadPieces(self._pieces_request, self._tokenizer))

    def inputs(self) -> LaneInputs:
        """Take down what is known now; the same as before where nothing was added, with what was worked out of it."""
        if self.lacks_pieces:
            self._pieces = self._vocabulary.table
        if self.run.ready is not None:
            self._prompt = self.run.ready.ids
        made = inputs_of(self.run, self._prompt, self._pieces)
        if made != self._inputs:
            made.take_over(self._inputs)
            self._inputs = made
        return self._inputs

    def take(self, event: RecordRead | PromptRead | PiecesRead) -> bool:
        """Take in what the store knows; returns whether it was asked for here."""
        match event:
            case RecordRead() if event.request in self._records:
                self._records.pop(event.request).record = list(event.blocks)
            case PromptRead() if event.request == self._prompt_request != 0:
                self._prompt_request = 0
                self.kept_prompt = event.prompt
                if event.prompt is not None:
                    self._prompt = event.prompt.ids[: tokens_before(event.prompt) * _ID_BYTES]
            case PiecesRead() if event.request == self._pieces_request != 0:
                self._pieces_request = 0
                self._pieces = PieceTable(event.pieces) if event.pieces is not None else None
            case _:
                return False
        return True

    def _look_for_pieces(self) -> None:
        """The tokens of the model that is loaded are in memory; of another one the store may know them."""
        if self._vocabulary.tokenizer == self._tokenizer and self._vocabulary.known:
            self._pieces = self._vocabulary.table
        elif self._tokenizer and self.run.request == 0:
            self._pieces_request = self._session.new_request()
