"""Does the store's commands on the calling thread: writes what belongs together at once, keeps what cannot be written.

What fails because of the disk stays in memory, in order, and is tried again; what fails by itself costs only itself.
Must not know of threads: `store` calls it on one, always the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from app.core.conversation import Conversation
from app.core.draft import NEW_CHAT
from app.core.job_events import JobFailed
from app.core.ports import EventSink
from app.core.store_commands import EraseTrash, KeepChunk, OpenStore, RestoreTrash, Settle, StoreCommand
from app.core.store_events import Kept, Restored, SearchReady, StoreRenewed
from app.store import faults
from app.store.changes import Asked, Change, Unasked
from app.store.database import Database
from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.mistakes import skipped
from app.store.opening import FILE_NAME, Opened, may_write, open_database, suspect
from app.store.patience import Patience
from app.store.questions import Question
from app.store.read_only import open_read_only
from app.store.refuge import Refuge
from app.store.troubles import Troubles
from app.store.waiting import Waiting

WRITING_S = 2.0
"""How long another program may hold the database before people are told and the chat goes on."""
CLOSING_S = 0.8
AGAIN_S = 2.5
"""How often opening what could not be opened is tried again at most."""

_log = logging.getLogger(__name__)


class StoreWork:
    """The store without its thread."""

    def __init__(self, folder: Path, sink: EventSink) -> None:
        self._folder = folder
        self._path = folder / FILE_NAME
        self._sink = sink
        self._patience, self._writing = Patience(), Patience()
        self.database = Database(self._path, lambda: sink(SearchReady()))
        self.files = self.database.files
        self._waiting = Waiting()
        self._refuge = Refuge(folder)
        self._must_open = False
        """Whether the chats are not open yet and will be: what comes waits for that."""
        self._is_rescued = False
        """Whether those are chats that were written anew."""
        self._try_at = 0.0
        self._troubles = Troubles(self._path, sink)
        self._was_open = False
        self._renewed = False

    @property
    def behind(self) -> bool:
        """Whether something could not be written and waits for another try."""
        return self._troubles.are_there

    @property
    def _keeps(self) -> bool:
        """Whether what comes is taken: the database is open, or will be."""
        return self.database.connection is not None or self._must_open

    def do(self, commands: Sequence[StoreCommand]) -> None:
        """Do commands in order; what they keep is on disk on return unless `behind` says otherwise."""
        for command in commands:
            self.take(command)
        self.flush()

    def take(self, command: StoreCommand) -> None:
        """Answer a question, or put what is to be kept with what waits for `flush`."""
        if isinstance(command, Asked):
            self._ask(command)
            return
        if isinstance(command, Unasked):
            self._add(command)
            if isinstance(command, EraseTrash):
                self.database.erasing.begin()
            return
        match command:
            case KeepChunk():
                if self._keeps:
                    self._waiting.add_chunk(command)
            case RestoreTrash(request):
                self.flush()
                self._sink(Restored(request, self._restored(command)))
            case Settle(request):
                self._settle(request)
            case OpenStore():
                self.flush()
                self._open()
            case _:
                self.flush()
                self._answer(command)

    def flush(self, *, looks: bool = False) -> None:
        """Write everything that waits in one transaction, and answer the questions among it.

        `looks` has the files looked after now, however short ago that was.
        """
        try:
            if self._must_open:
                self._open_again(at_once=looks)
            elif self.files.are_gone(at_once=looks):
                self._rescue()
            self._write()
        except (*DATABASE_ERRORS, OSError) as error:
            self._failed(error, looked=looks)

    def _write(self) -> None:
        connection, writer = self.database.connection, self.database.writer
        if connection is None or writer is None:
            self._answer_unkept()
            return
        broken: list[Change] = []
        if self._waiting.changes:
            broken = self._waiting.commit(connection, writer, self._writing, 0.0 if self.behind else WRITING_S)
        if broken:
            self._sink(JobFailed("store", skipped()))
        for question in self._waiting.questions():
            self._sink(Kept(question.request, on_disk=not any(question is other for other in broken)))
        self._waiting.clear()
        self._troubles.tell_later(self._refuge.forget())
        self._troubles.written()

    def rest(self) -> bool:
        """Do one piece of the work that can wait; true when more of it is left."""
        return not self.behind and self.database.rest()

    def hurry(self) -> None:
        """The program ends: wait for nobody for long; safe from any thread."""
        self._patience.hurry(CLOSING_S)
        self._writing.hurry(CLOSING_S)

    def press(self) -> None:
        """Somebody waits until what was said is written: wait for no other program for long; safe from any thread."""
        self._writing.press(CLOSING_S)

    def interrupt(self) -> None:
        """Break off what SQLite does at the moment; safe from any thread."""
        self.database.interrupt()

    def close(self) -> None:
        """Write what waits, tidy the files up, and let go of them."""
        self.flush(looks=True)
        self._give_up()
        self.database.close()

    def _open(self) -> None:
        self.database.use(None)
        self._must_open = False
        self._arrive(open_database(self._folder, self._patience))
        self.flush()

    def _arrive(self, opened: Opened) -> None:
        if faults.may_pass(opened.error):
            self._wait_to_open(opened)
        else:
            self._take_opened(opened)

    def _wait_to_open(self, opened: Opened) -> None:
        """Let everything wait until the chats can be opened; meanwhile they are shown where they can be read."""
        assert opened.error is not None
        is_first = not self._must_open
        self._must_open, self._is_rescued = True, False
        self._try_at = time.monotonic() + AGAIN_S
        may_read = fault_of(opened.error) is not Fault.LOCKED  # who holds it may be writing
        reading, conversations = (open_read_only(self._path) if may_read else None) or (None, ())
        self.database.use(None, reading)
        if is_first:
            self._tell_opened(Opened(None, conversations, opened.problems[:-1]))
        else:
            self._troubles.tell(opened.problems[:-1])
        self._troubles.unopened(opened.error, opened.problems[-1])

    def _open_again(self, *, at_once: bool) -> None:
        """Try again to open what could not be opened, now and then or at once."""
        if self._is_rescued:
            self._open_rescued()
        elif (at_once or time.monotonic() >= self._try_at) and may_write(self._folder):
            self.database.use(None)  # closing another connection to the file later would drop SQLite's locks
            self._arrive(open_database(self._folder, self._writing, waits=False))

    def _tell_opened(self, opened: Opened) -> None:
        """Tell which chats there are, with what waits laid over them."""
        told = self.database.reader.opened(opened, self._waiting.changes, self._waiting.draft(NEW_CHAT))
        self._sink(told)

    def _take_opened(self, opened: Opened) -> None:
        """Use what was opened, or keep nothing from now on."""
        self._must_open = False
        self.database.use(opened.connection)
        if opened.connection is not None:
            left = self._refuge.take(self.database.reader.taken_over())
            self._waiting.begin_with(left, ends_answers=not self._was_open)
            self._was_open = True
        self._tell_opened(opened)
        if opened.connection is None:
            self._give_up()

    def _ask(self, command: Asked) -> None:
        """Let somebody wait until a change is on disk, or for nothing where nothing is kept."""
        self._waiting.asked.add(command.request)
        self._add(command)
        if not self._keeps:
            self._answer_unkept()

    def _add(self, change: Change) -> None:
        if self._keeps:
            self._waiting.add(change)

    def _failed(self, error: Exception, *, looked: bool) -> None:
        """Keep what could not be written, say so once, and let the chat go on; damage is put right first."""
        _log.info("The chats could not be written: %s (%s)", error, faults.reason_of(error))
        fault = fault_of(error) or Fault.UNREACHABLE
        if fault is Fault.DAMAGED and not looked and self.files.are_gone(at_once=True):
            self.flush(looks=True)
            return
        if fault is Fault.DAMAGED and not self._must_open and self._renew():
            self.flush()
            return
        self._troubles.unwritten(error, fault, is_kept=self._keeps)
        self._answer_unkept()

    def _answer_unkept(self) -> None:
        """Let the answers of questions begin that are not on disk: nobody waits for a disk."""
        for request in sorted(self._waiting.asked):
            self._sink(Kept(request, on_disk=False))
        self._waiting.asked.clear()

    def _answer(self, question: Question) -> None:
        """Answer with what can be read; damage that is met is put right first."""
        answer = self.database.reader.answer(question, self._waiting.changes)
        trouble = self.database.reader.trouble
        if trouble is not None and self._is_cured(trouble):
            self.flush()
            answer = self.database.reader.answer(question, self._waiting.changes)
            trouble = self.database.reader.trouble
        if trouble is not None:
            self._troubles.unread(trouble)
        self._sink(answer)

    def _restored(self, command: RestoreTrash) -> Conversation | None:
        """Bring something back out of the trash; None where that cannot be written now."""
        if self._waiting.changes:
            return None
        try:
            return self.database.restore(command, self._writing, WRITING_S)
        except DATABASE_ERRORS as error:
            _log.info("Nothing could be brought back: %s", error)
            return self._restored(command) if self._is_cured(error) else None

    def _is_cured(self, trouble: Exception) -> bool:
        """Put right what kept something from being read; false where that cannot be done."""
        if self.database.connection is None:
            return False
        if self.files.are_gone(at_once=True):
            self.flush(looks=True)
            return True
        return fault_of(trouble) is Fault.DAMAGED and self._renew()

    def _settle(self, request: int) -> None:
        """Write what waits, and say whether anything would be lost if the program ended now."""
        self.flush(looks=True)
        self._writing.relax()
        is_said = self.files.are_gone(at_once=True) or self._waiting.has_words
        problem = self._troubles.question if is_said else None
        self._sink(Kept(request, on_disk=problem is None, problem=problem))

    def _rescue(self) -> None:
        """Go on in a new file that holds everything, because what was opened is no longer in its place."""
        if self.database.connection is None:
            return
        self._troubles.tell_later(self.files.write_anew(self.database.connection))
        _log.info("The files of the chats were gone, and were written anew")
        self.database.use(None)
        self._must_open = self._is_rescued = True
        self._open_rescued()

    def _open_rescued(self) -> None:
        """Open what was written anew; raises what is in the way, and then everything waits for another try."""
        self._path.stat()  # where it is gone again, an empty one must not pass for it
        opened = open_database(self._folder, self._writing)
        if opened.error is not None:
            self._troubles.tell(opened.problems[:-1])
            raise opened.error
        self._must_open = False
        self._go_on(opened)

    def _go_on(self, opened: Opened) -> None:
        """Tell what opening met, and use what was opened, or keep nothing from now on."""
        self._troubles.tell(opened.problems)
        self.database.use(opened.connection)
        if opened.connection is None:
            self._give_up()

    def _renew(self) -> bool:
        """Put a damaged database aside and go on in a new one, once; false when that did not help."""
        if self._renewed:
            return False
        self._renewed = True
        suspect(self._folder)
        self.database.use(None)
        opened = open_database(self._folder, self._patience)
        if faults.may_pass(opened.error):
            self._wait_to_open(opened)
            return True
        self._go_on(opened)
        if self.database.connection is None:
            return False
        self._sink(StoreRenewed())  # what could not be taken over may still be in memory
        return bool(opened.problems)

    def _give_up(self) -> None:
        """Let go of what this run will never write: another one may; that nothing is kept was told."""
        if self._waiting.has_words:
            told = self._refuge.keep(self._waiting.changes)
            _log.warning("%d changes could not be written: %s", len(self._waiting.changes), told[0].english())
            self._troubles.tell(told)
        self._answer_unkept()
        self._troubles.forget()
        self._waiting.clear()
