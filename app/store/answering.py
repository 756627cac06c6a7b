"""Answers the questions that are put to the store; each one gets an answer, whatever the disk holds."""

from __future__ import annotations

import itertools
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import assert_never

import msgspec

from app.core.conversation import AnswerPrompt, Message, Pieces, Trashed
from app.core.draft import NEW_CHAT, Draft
from app.core.model import ModelRef
from app.core.model_note import ModelNote, ModelUse
from app.core.store_commands import (
    CopyBranch,
    FindMessages,
    KeepPrompt,
    MeasureModelUse,
    MeasureStore,
    MeasureUse,
    ReadChats,
    ReadConversation,
    ReadModelUse,
    ReadPieces,
    ReadPrompt,
    ReadRecord,
    ReadTrash,
)
from app.core.store_events import (
    ChatsRead,
    ConversationRead,
    MessagesFound,
    ModelUseMeasured,
    ModelUseRead,
    PiecesRead,
    PromptRead,
    RecordRead,
    StoreMeasured,
    StoreOpened,
    TrashRead,
    UseMeasured,
)
from app.store import search_index
from app.store.answer_rows import read_answer, read_answers
from app.store.changes import Change
from app.store.comparisons import Lane, is_lane_of, read_comparisons
from app.store.drafts import read_draft
from app.store.faults import DATABASE_ERRORS
from app.store.indexing import Indexing
from app.store.model_notes import read_notes, with_unwritten
from app.store.model_use import read_model_use
from app.store.opening import Opened
from app.store.pieces import read_pieces
from app.store.prompts import PromptRows
from app.store.questions import Answer, Question
from app.store.read_only import open_read_only
from app.store.reading import (
    read_message,
    read_messages,
    read_newest,
    read_newest_deletion,
    read_record,
    read_taken_over,
    read_text,
    record_bytes,
)
from app.store.searching import find
from app.store.trash import read_trash
from app.store.unwritten import Parts, heads_with_unwritten, lay_over, named_in, newest_deletion_in, newest_in
from app.store.use import read_model_chats, read_use
from app.store.whole_chats import read_chats

_log = logging.getLogger(__name__)


class Reader:
    """Reads through one connection, or says that there is nothing where there is none."""

    def __init__(self, path: Path, connection: sqlite3.Connection | None, indexing: Indexing | None = None) -> None:
        self._path = path
        self._connection = connection
        self._indexing = indexing
        self.trouble: Exception | None = None
        """Why a part of the last answer could not be read."""
        self._missed = 0
        """How many parts could not be read so far."""

    def answer(self, question: Question, pending: Sequence[Change]) -> Answer:
        """Return what could be read, and what waits to be written."""
        self.trouble = None
        match question:
            case ReadConversation():
                return self._conversation(question, pending)
            case ReadChats():
                return self._chats(question, pending)
            case ReadTrash(request):
                return TrashRead(request, self._trash())
            case ReadPieces(request, tokenizer):
                return PiecesRead(request, tokenizer, self._pieces(tokenizer))
            case ReadRecord(request, message):
                return RecordRead(request, message, self._record(message))
            case ReadPrompt(request, message):
                return PromptRead(request, message, self._prompt(message, pending))
            case MeasureStore(request):
                return self._measured(request)
            case MeasureUse(request):
                return self._used(request)
            case MeasureModelUse(request):
                return ModelUseMeasured(request, self._model_use())
            case ReadModelUse(request, model):
                return self._of_model(request, model)
            case FindMessages():
                return self._found(question)
            case _:
                assert_never(question)

    def _conversation(self, question: ReadConversation, pending: Sequence[Change]) -> ConversationRead:
        """Return a conversation as it will be on disk once everything is written."""
        parts = Parts()
        if (connection := self._connection) is not None:
            self._read_all(connection, question.conversation, parts)
            for message in named_in(pending):
                if message not in parts.messages:
                    self._read_one(connection, message, parts)
        messages: Iterable[Message] = parts.messages.values()
        if pending:
            lay_over(parts, pending)
            messages = parts.of(question.conversation)
        there = tuple(messages)
        return ConversationRead(
            question.request,
            question.conversation,
            there,
            tuple(parts.answers[message.id] for message in there if message.id in parts.answers),
            {message.id: parts.dropped[message.id] for message in there if message.id in parts.dropped},
            self.draft(question.conversation),
            parts.compared(there),
        )

    def _chats(self, question: ReadChats, pending: Sequence[Change]) -> ChatsRead:
        def read(conversation: int) -> ConversationRead:
            return self._conversation(ReadConversation(question.request, conversation), pending)

        return read_chats(self._connection, question, read, self._noting, lambda: self._missed)

    def _read_all(self, connection: sqlite3.Connection, conversation: int, parts: Parts) -> None:
        """Read what is not deleted of a conversation, at once; where that fails, one answer after another."""
        with self._noting():
            for message in read_messages(connection, conversation):
                parts.messages[message.id] = message
        is_whole = False
        with self._noting():
            for answer, dropped in read_answers(connection, conversation):
                parts.take(answer, dropped)
            is_whole = True
        if not is_whole:
            for key in parts.messages:
                self._read_answer(connection, key, parts)
        for answer in parts.answers.values():
            if answer.state == "open":
                self._read_text(connection, answer.message, parts)
        self._read_comparisons(connection, conversation, parts)

    def _read_comparisons(self, connection: sqlite3.Connection, conversation: int, parts: Parts) -> None:
        """Read what is kept of the comparisons; an answer that its comparison does not name is in none."""
        lanes = [
            Lane(answer.message, answer.comparison, answer.lane)
            for answer in parts.answers.values()
            if answer.comparison is not None
        ]
        with self._noting():
            for comparison in read_comparisons(connection, conversation, lanes):
                parts.comparisons[comparison.id] = comparison
        for lane in lanes:
            named = parts.comparisons.get(lane.comparison) if lane.comparison is not None else None
            if named is not None and not is_lane_of(named, lane):
                answer = parts.answers[lane.message]
                parts.answers[lane.message] = msgspec.structs.replace(answer, comparison=None, lane=None)

    def _read_one(self, connection: sqlite3.Connection, key: int, parts: Parts) -> None:
        """Read one message of any conversation, deleted or not."""
        with self._noting():
            if (message := read_message(connection, key)) is not None:
                parts.messages[key] = message
        self._read_answer(connection, key, parts)
        if key in parts.answers and parts.answers[key].state == "open":
            self._read_text(connection, key, parts)

    def _read_answer(self, connection: sqlite3.Connection, key: int, parts: Parts) -> None:
        with self._noting():
            if (found := read_answer(connection, key)) is not None:
                parts.take(*found)

    def _read_text(self, connection: sqlite3.Connection, key: int, parts: Parts) -> None:
        """Take the text of an answer from what is written of it so far."""
        with self._noting():
            if key in parts.messages and (text := read_text(connection, key)):
                parts.messages[key] = msgspec.structs.replace(parts.messages[key], text=text)

    def _trash(self) -> tuple[Trashed, ...]:
        if self._connection is not None:
            with self._noting():
                return read_trash(self._connection)
        return ()

    def draft(self, conversation: int) -> Draft | None:
        """Return what was written in a conversation and not sent; None is nothing."""
        if self._connection is not None:
            with self._noting():
                return read_draft(self._connection, conversation)
        return None

    def opened(self, opened: Opened, pending: Sequence[Change], draft: Draft | None) -> StoreOpened:
        """Return which chats there are, with what waits laid over them; `draft` is that of the new chat if it waits."""
        return StoreOpened(
            heads_with_unwritten(opened.conversations, pending),
            opened.connection is not None,
            opened.problems,
            draft or self.draft(NEW_CHAT),
            max(self._newest(), newest_in(pending)),
            max(self._newest_deletion(), newest_deletion_in(pending)),
            with_unwritten(self._notes(), pending),
        )

    def _notes(self) -> tuple[ModelNote, ...]:
        if self._connection is not None:
            with self._noting():
                return read_notes(self._connection)
        return ()

    def _model_use(self) -> tuple[ModelUse, ...]:
        if self._connection is not None:
            with self._noting():
                return read_model_use(self._connection)
        return ()

    def _newest(self) -> int:
        if self._connection is not None:
            with self._noting():
                return read_newest(self._connection)
        return 0

    def _newest_deletion(self) -> int:
        if self._connection is not None:
            with self._noting():
                return read_newest_deletion(self._connection)
        return 0

    def taken_over(self) -> frozenset[bytes]:
        """Return the digests of the files that were taken over."""
        if self._connection is not None:
            with self._noting():
                return read_taken_over(self._connection)
        return frozenset()

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

    def _prompt(self, message: int, pending: Sequence[Change]) -> AnswerPrompt | None:
        """Return the prompt of an answer as it will be on disk once everything is written."""
        for number in range(len(pending) - 1, -1, -1):
            change = pending[number]
            if isinstance(change, KeepPrompt) and change.prompt.message == message:
                return change.prompt
            if isinstance(change, CopyBranch):
                original = next((key for key, copy in change.messages if copy == message), None)
                found = self._prompt(original, pending[:number]) if original is not None else None
                if found is not None:
                    return msgspec.structs.replace(found, message=message)
        if self._connection is not None:
            with self._noting():
                return PromptRows(self._connection).read(message)
        return None

    def _measured(self, request: int) -> StoreMeasured:
        if self._connection is None:
            return StoreMeasured(request, 0, 0)
        total = records = 0
        for path, end in itertools.product((self._path, self._path.with_name(search_index.FILE_NAME)), ("", "-wal")):
            try:
                total += os.stat(f"{path}{end}").st_size  # noqa: PTH116  the log's name is the file's and an end
            except OSError as error:
                _log.info("%s%s cannot be measured: %s", path, end, error)
        with self._noting():
            records = record_bytes(self._connection)
        return StoreMeasured(request, total, records)

    def _used(self, request: int) -> UseMeasured:
        if self._connection is not None:
            with self._noting():
                return read_use(self._connection, request)
        return UseMeasured(request, 0)

    def _of_model(self, request: int, model: ModelRef) -> ModelUseRead:
        if self._connection is not None:
            with self._noting():
                return read_model_chats(self._connection, request, model)
        elif (reading := open_read_only(self._path)) is not None:  # commands do not open it for writing
            with closing(reading[0]) as connection:
                try:
                    return read_model_chats(connection, request, model)
                except DATABASE_ERRORS as error:
                    _log.info("It cannot be read which chats a model wrote in: %s", error)
        return ModelUseRead(request, ())

    def _found(self, question: FindMessages) -> MessagesFound:
        if self._connection is not None:
            with self._noting():
                return find(self._connection, self._indexing, question)
        return MessagesFound(question.request, ())

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Go on after what cannot be read."""
        try:
            yield
        except DATABASE_ERRORS as error:
            _log.info("A part of the store could not be read: %s", error)
            # Its frames would hold on to the statement that was being read, and that to the log.
            self.trouble = error.with_traceback(None)
            self._missed += 1
