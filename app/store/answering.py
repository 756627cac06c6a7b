"""Answers the questions that are put to the store; each one gets an answer, whatever the disk holds."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from app.core.conversation import Message, Pieces, StoredAnswer
from app.core.draft import Draft
from app.core.store_commands import MeasureStore, ReadConversation, ReadPieces, ReadRecord
from app.core.store_events import ConversationRead, PiecesRead, RecordRead, StoreMeasured
from app.store.drafts import read_draft
from app.store.faults import DATABASE_ERRORS
from app.store.pieces import read_pieces
from app.store.reading import read_answer, read_dropped, read_ids, read_messages, read_record, read_text, record_bytes
from app.store.unwritten import with_unwritten
from app.store.writing import Change

_log = logging.getLogger(__name__)

Answer = ConversationRead | PiecesRead | RecordRead | StoreMeasured
Question = ReadConversation | ReadPieces | ReadRecord | MeasureStore


class Reader:
    """Reads through one connection, or says that there is nothing where there is none."""

    def __init__(self, path: Path, connection: sqlite3.Connection | None) -> None:
        self._path = path
        self._connection = connection
        self.trouble: Exception | None = None
        """Why a part of the last answer could not be read."""

    def answer(self, question: Question, pending: Sequence[Change]) -> Answer:
        """Return what could be read, and what waits to be written."""
        self.trouble = None
        match question:
            case ReadConversation():
                return with_unwritten(self._conversation(question), pending)
            case ReadPieces(request, tokenizer):
                return PiecesRead(request, tokenizer, self._pieces(tokenizer))
            case ReadRecord(request, message):
                return RecordRead(request, message, self._record(message))
            case MeasureStore(request):
                return self._measured(request)

    def _conversation(self, question: ReadConversation) -> ConversationRead:
        messages: list[Message] = []
        answers: list[StoredAnswer] = []
        dropped: dict[int, int] = {}
        if (connection := self._connection) is not None:
            with self._noting():
                messages.extend(read_messages(connection, question.conversation))
            for index, message in enumerate(messages):
                answer, text = self._answer(connection, message)
                if answer is not None:
                    answers.append(answer)
                    messages[index] = msgspec.structs.replace(message, text=text)
            with self._noting():
                dropped = read_dropped(connection, question.conversation)
        draft = self.draft(question.conversation)
        return ConversationRead(
            question.request, question.conversation, tuple(messages), tuple(answers), dropped, draft
        )

    def draft(self, conversation: int) -> Draft | None:
        """Return what was written in a conversation and not sent; None is nothing."""
        if self._connection is not None:
            with self._noting():
                return read_draft(self._connection, conversation)
        return None

    def _answer(self, connection: sqlite3.Connection, message: Message) -> tuple[StoredAnswer | None, str]:
        """Return how a message was written, and its text: what was written of it so far while it is open."""
        answer, text = None, message.text
        with self._noting():
            answer = read_answer(connection, message.id)
        if answer is not None:
            with self._noting():
                answer = msgspec.structs.replace(answer, ids=read_ids(connection, message.id))
        if answer is not None and answer.state == "open":
            with self._noting():
                text = read_text(connection, message.id) or text
        return answer, text

    def _pieces(self, tokenizer: str) -> Pieces | None:
        if self._connection is not None:
            with self._noting():
                return read_pieces(self._connection, tokenizer)
        return None

    def _record(self, message: int) -> tuple[bytes, ...]:
        blocks: list[bytes] = []
        if self._connection is not None:
            with self._noting():
                blocks.extend(read_record(self._connection, message))
        return tuple(blocks)

    def _measured(self, request: int) -> StoreMeasured:
        if self._connection is None:
            return StoreMeasured(request, 0, 0)
        total = records = 0
        for end in ("", "-wal"):
            try:
                total += os.stat(f"{self._path}{end}").st_size  # noqa: PTH116  the log's name is the file's and an end
            except OSError as error:
                _log.info("%s%s cannot be measured: %s", self._path, end, error)
        with self._noting():
            records = record_bytes(self._connection)
        return StoreMeasured(request, total, records)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Go on after what cannot be read."""
        try:
            yield
        except DATABASE_ERRORS as error:
            _log.info("A part of the store could not be read: %s", error)
            # Its frames would hold on to the statement that was being read, and that to the log.
            self.trouble = error.with_traceback(None)
