"""Does the store's commands on the calling thread: writes what belongs together at once, keeps what cannot be written.

What fails because of the disk stays in memory, in order, and is tried again; what fails by itself costs only itself.
Must not know of threads: `store` calls it on one, always the same.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import assert_never

from app.core.draft import NEW_CHAT
from app.core.events import JobFailed
from app.core.ports import EventSink
from app.core.store_commands import (
    EndAnswer,
    KeepChunk,
    KeepConversation,
    KeepDraft,
    KeepPieces,
    KeepPrompt,
    KeepQuestion,
    MeasureStore,
    OpenStore,
    ReadConversation,
    ReadPieces,
    ReadRecord,
    RemoveMessages,
    Settle,
    StoreCommand,
)
from app.core.store_events import Kept, StoreFailed, StoreOpened, StoreRecovered
from app.core.words import Sentence
from app.store import drafts, faults
from app.store.answering import Question, Reader
from app.store.erasing import deleted_long_ago, erase
from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.mistakes import skipped
from app.store.opening import FILE_NAME, open_database, suspect
from app.store.patience import Patience
from app.store.rescue import OpenFiles
from app.store.writing import Change, EndOpenAnswers, Stretch, Writer, written

WRITING_S = 2.0
"""How long another program may hold the database before people are told and the chat goes on."""
CLOSING_S = 0.8

_log = logging.getLogger(__name__)


class StoreWork:
    """The store without its thread."""

    def __init__(self, folder: Path, sink: EventSink) -> None:
        self._folder = folder
        self._path = folder / FILE_NAME
        self._sink = sink
        self._patience, self._writing = Patience(), Patience()
        self._connection: sqlite3.Connection | None = None
        self._writer: Writer | None = None
        self._reader = Reader(self._path, None)
        self._pending: list[Change] = []
        self._stretches: dict[int, Stretch] = {}
        """Those in `_pending` that more chunks can be added to."""
        self.files = OpenFiles(self._path)
        self._news: Sentence | None = None
        """What is told as soon as everything is written."""
        self._fault: Fault | None = None
        self._unsaved: Sentence | None = None
        """Whether the program may end with that fault: the question."""
        self._asked: set[int] = set()
        """Requests of pending questions that are not answered yet."""
        self._to_erase: list[int] = []
        self._was_open = False
        self._renewed = False
        self._told: set[Fault | None] = set()
        """Troubles of reading that were told."""

    @property
    def behind(self) -> bool:
        """Whether something could not be written and waits for another try."""
        return self._fault is not None

    def do(self, commands: Sequence[StoreCommand]) -> None:
        """Do commands in order; what they keep is on disk on return unless `behind` says otherwise."""
        for command in commands:
            self.take(command)
        self.flush()

    def take(self, command: StoreCommand) -> None:
        """Answer a question, or put what is to be kept with what waits for `flush`."""
        match command:
            case KeepChunk():
                if self._connection is not None:
                    self._add_chunk(command)
            case KeepQuestion(request):
                if self._connection is None:
                    self._sink(Kept(request, on_disk=False))
                else:
                    self._asked.add(request)
                    self._add(command)
            case KeepConversation() | KeepPrompt() | EndAnswer() | RemoveMessages() | KeepPieces():
                self._add(command)
            case KeepDraft():
                if self._connection is not None:
                    drafts.put(self._pending, command)
            case Settle(request):
                self._settle(request)
            case OpenStore():
                self.flush()
                self._open()
            case ReadConversation() | ReadPieces() | ReadRecord() | MeasureStore():
                self.flush()
                self._answer(command)
            case _:
                assert_never(command)

    def flush(self, *, looks: bool = False) -> None:
        """Write everything that waits in one transaction, and answer the questions among it.

        `looks` has the files looked after now, however short ago that was.
        """
        try:
            if self.files.are_gone(at_once=looks):
                self._rescue()
            self._write()
        except (*DATABASE_ERRORS, OSError) as error:
            self._failed(error)

    def _write(self) -> None:
        connection, writer = self._connection, self._writer
        if connection is None or writer is None:
            return
        broken = self._commit(connection, writer) if self._pending else []
        for change in self._pending:
            if isinstance(change, KeepQuestion) and change.request in self._asked:
                self._sink(Kept(change.request, on_disk=not any(change is other for other in broken)))
        self._pending.clear()
        self._stretches.clear()
        self._asked.clear()
        if self._fault is not None:
            self._fault = self._unsaved = None
            self._sink(StoreRecovered())
        if self._news is not None:
            self._sink(StoreFailed(self._news))
            self._news = None

    def rest(self) -> bool:
        """Do one piece of the work that can wait; true when more of it is left."""
        if not self._to_erase or self._connection is None or self.behind:
            return False
        try:
            erase(self._connection, self._to_erase[-1])
        except DATABASE_ERRORS as error:
            _log.info("A deleted conversation was not erased (%s); it is tried at the next start", error)
            self._to_erase.clear()
            return False
        self._to_erase.pop()
        return bool(self._to_erase)

    def hurry(self) -> None:
        """The program ends: wait for nobody for long; safe from any thread."""
        self._patience.hurry(CLOSING_S)
        self._writing.hurry(CLOSING_S)

    def press(self) -> None:
        """Somebody waits until what was said is written: wait for no other program for long; safe from any thread."""
        self._writing.press(CLOSING_S)

    def interrupt(self) -> None:
        """Break off what SQLite does at the moment; safe from any thread."""
        connection = self._connection
        if connection is None:
            return
        try:
            connection.interrupt()
        except sqlite3.ProgrammingError:
            return  # it was closed meanwhile

    def close(self) -> None:
        """Write what waits, tidy the files up, and let go of them."""
        self.flush(looks=True)
        self._give_up()
        if self._connection is not None:
            try:
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except DATABASE_ERRORS as error:
                _log.info("The write-ahead log stays as it is: %s", error)
        self._use(None)

    def _open(self) -> None:
        if self._connection is not None:
            self._use(None)
        opened = open_database(self._folder, self._patience)
        self._use(opened.connection)
        draft, usable = self._reader.draft(NEW_CHAT), opened.connection is not None
        self._sink(StoreOpened(opened.conversations, usable, opened.problems, draft))
        if opened.connection is None:
            return
        if not self._was_open:
            self._was_open = True
            self._add(EndOpenAnswers())
            self.flush()
        try:
            self._to_erase = deleted_long_ago(opened.connection, int(time.time() * 1000))
        except DATABASE_ERRORS as error:
            _log.info("What was deleted long ago could not be looked up: %s", error)

    def _use(self, connection: sqlite3.Connection | None) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = connection
        self._writer = Writer(connection) if connection is not None else None
        self._reader = Reader(self._path, connection)
        self.files.watch(opened=connection is not None)
        self._to_erase = []

    def _add(self, change: Change) -> None:
        if self._connection is None:
            return
        self._stretches.clear()
        self._pending.append(change)

    def _add_chunk(self, command: KeepChunk) -> None:
        chunk = command.chunk
        stretch = self._stretches.get(chunk.message)
        if stretch is None:
            stretch = self._stretches[chunk.message] = Stretch(chunk.message)
            self._pending.append(stretch)
        stretch.add(chunk)

    def _commit(self, connection: sqlite3.Connection, writer: Writer) -> list[Change]:
        """Write all that is pending in one transaction; return the changes that cannot be written at all."""
        begin = "BEGIN IMMEDIATE"
        self._writing.run(lambda: connection.execute(begin), 0.0 if self.behind else WRITING_S)
        try:
            broken = [change for change in self._pending if not written(connection, writer, change)]
            connection.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        if broken:
            self._sink(JobFailed("store", skipped()))
        return broken

    def _failed(self, error: Exception) -> None:
        """Keep what could not be written, say so once, and let the chat go on; damage is put right first."""
        _log.info("The chats could not be written: %s (%s)", error, faults.reason_of(error))
        fault = fault_of(error) or Fault.UNREACHABLE
        if fault is Fault.DAMAGED and self._renew():
            self.flush()
            return
        if self._connection is not None and fault is not self._fault:
            self._fault = fault
            self._sink(StoreFailed(faults.unwritten(error, self._path)))
        self._unsaved = faults.unsaved(error)
        for request in sorted(self._asked):
            self._sink(Kept(request, on_disk=False))
        self._asked.clear()

    def _answer(self, question: Question) -> None:
        """Answer with what can be read; damage that is met is put right first."""
        answer = self._reader.answer(question, self._pending)
        trouble = self._reader.trouble
        if trouble is not None and fault_of(trouble) is Fault.DAMAGED and self._renew():
            self.flush()
            answer = self._reader.answer(question, self._pending)
            trouble = self._reader.trouble
        if trouble is not None and fault_of(trouble) not in self._told:
            self._told.add(fault_of(trouble))
            self._sink(StoreFailed(faults.unread(trouble, self._path)))
        self._sink(answer)

    def _settle(self, request: int) -> None:
        """Write what waits, and say whether anything would be lost if the program ended now."""
        self.flush(looks=True)
        self._writing.relax()
        # What tokens say is in the model too.
        is_said = self.files.are_gone(at_once=True) or any(
            not isinstance(change, KeepPieces) for change in self._pending
        )
        problem = self._unsaved if is_said and self._fault is not None else None
        self._sink(Kept(request, on_disk=problem is None, problem=problem))

    def _rescue(self) -> None:
        """Go on in a new file that holds everything, because what was opened is no longer in its place."""
        if self._connection is None:
            return
        self._news = faults.written_anew(self._path, self.files.write_anew(self._connection))
        _log.info("The files of the chats were gone, and were written anew")
        self._reopen()

    def _reopen(self) -> bool:
        """Open what is in the place of the database now; whether anything was to be told of it."""
        self._use(None)
        opened = open_database(self._folder, self._patience)
        for problem in opened.problems:
            self._sink(StoreFailed(problem))
        self._use(opened.connection)
        if opened.connection is None:
            self._give_up()
        return bool(opened.problems)

    def _renew(self) -> bool:
        """Put a damaged database aside and go on in a new one, once; false when that did not help."""
        if self._renewed:
            return False
        self._renewed = True
        suspect(self._folder)
        return self._reopen() and self._connection is not None

    def _give_up(self) -> None:
        """Let go of what will never be written; that nothing is kept was told."""
        if self._pending:
            _log.warning("%d changes could not be written", len(self._pending))
        self._pending.clear()
        self._stretches.clear()
        self._fault = self._unsaved = None
