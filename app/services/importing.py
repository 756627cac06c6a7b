"""Takes conversations out of files into the store: read in the background some at a time, each with new ids.

What is here already is counted and left as it is; what could not be read is told by name and place.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from app.core.conversation import Conversation, Pieces
from app.core.errors import UserError
from app.core.job_events import LanesAnalysed
from app.core.ports import StorePort
from app.core.signal import Signal
from app.core.store_commands import KeepChat, KeepPieces, ReadChats
from app.core.store_events import ChatsAdded, ChatsRead, Kept
from app.core.whole_chat import WholeChat
from app.core.words import translate
from app.services.conversations import Conversations
from app.services.importers.chat_file import Part
from app.services.importers.formats import read_chats_of
from app.services.importers.found import StoppedError, Unread
from app.services.importers.taking import checked, contents, renumbered
from app.services.latest_job import LatestJob
from app.services.stamps import Stamps
from app.system.jobs import Jobs

_JOB = "import of chats"
_MOST_CHATS = 50
_MOST_CHARACTERS = 4 << 20
"""Of one step: after it the window gets to know how far it is, and may stop it."""
_TOKEN_BYTES = 4

_Known = tuple[str, int, int]


@dataclass
class ImportReport:
    """What came of an import so far."""

    imported: int = 0
    already_here: int = 0
    unread: list[tuple[Path, Unread]] = field(default_factory=list)
    """With the file that each of them is in."""
    is_cancelled: bool = False


@dataclass
class _Step:
    """What a job has read, and where it goes on."""

    chats: list[WholeChat] = field(default_factory=list)
    contents: list[bytes] = field(default_factory=list)
    """Of each of the chats."""
    pieces: list[Pieces] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)
    is_end: bool = False


@dataclass
class _Stop:
    """Told by the window's thread, seen by the one that reads."""

    is_wanted: bool = False


class ChatImport:
    """One import at a time."""

    def __init__(
        self,
        store: StorePort,
        jobs: Jobs,
        conversations: Conversations,
        stamps: Stamps,
        new_request: Callable[[], int],
    ) -> None:
        self.changed: Signal[()] = Signal()
        """More was read, or it has ended."""
        self.report = ImportReport()
        """Of the import that runs, or of the last one."""
        self._store = store
        self._conversations = conversations
        self._stamps = stamps
        self._new_request = new_request
        self._reading: LatestJob[_Step] = LatestJob(jobs, _JOB, self._take_read)
        self._comparing: LatestJob[list[tuple[_Known, bytes]]] = LatestJob(
            jobs, f"{_JOB}, contents", self._take_contents
        )
        self._moving: LatestJob[list[WholeChat]] = LatestJob(jobs, f"{_JOB}, numbers", self._take_moved)
        self._files: list[Path] = []
        """Those that are not read to their ends; the first is being read."""
        self._parts: Iterator[Part] | None = None
        self._stop = _Stop()
        """For what is being read now."""
        self._here: dict[_Known, list[Conversation]] = {}
        """Conversations that may be those of a file; what is in them is not known yet."""
        self._contents: dict[_Known, set[bytes]] = {}
        """What is in those that were looked into or taken in."""
        self._step = _Step()
        self._asked: list[Conversation] = []
        """What the store is still to say of this step."""
        self._request = 0
        self._waiting: dict[int, Conversation] = {}
        """By request: what is not on disk yet."""

    @property
    def is_busy(self) -> bool:
        """Whether files are being read."""
        return bool(self._files or self._waiting)

    @property
    def file(self) -> Path | None:
        """The file that is being read."""
        return self._files[0] if self._files else None

    def begin(self, paths: Sequence[Path]) -> bool:
        """Take in what is in these files; False while others are being read."""
        if self.is_busy or not paths:
            return False
        self._files, self._parts, self.report, self._stop = list(paths), None, ImportReport(), _Stop()
        self._here, self._contents = {}, {}
        for head in self._conversations.heads:
            self._here.setdefault(_known(head), []).append(head)
        self._go_on()
        self.changed.emit()
        return True

    def cancel(self) -> None:
        """Read no more; what is here stays."""
        if self._files:
            self.report.is_cancelled = self._stop.is_wanted = True
            self._files.clear()
            self._parts = None
            self._request = 0
            for job in (self._reading, self._comparing, self._moving):
                job.forget()
            self.changed.emit()

    def take(self, event: LanesAnalysed) -> None:
        """Go on once something is read."""
        for job in (self._reading, self._comparing, self._moving):
            job.take(event)

    def take_read(self, event: ChatsRead) -> None:
        """Compare what is here under the same title and times with what comes."""
        if not self._files or event.request != self._request:
            return
        self._asked = self._asked[max(len(event.chats), 1) :]
        chats = event.chats
        self._comparing.want(lambda: [(_known(chat.head), contents(chat)) for chat in chats])

    def take_kept(self, event: Kept) -> None:
        """Put into the list what the store has; go on once it has all of a step."""
        head = self._waiting.pop(event.request, None)
        if head is None:
            return
        self.report.imported += 1
        self._conversations.take(ChatsAdded((head,)))
        if not self._waiting:
            self._end_step() if self._files else self.changed.emit()

    def _go_on(self) -> None:
        if self._parts is None:
            stop = self._stop
            self._parts = read_chats_of(self._files[0], lambda: stop.is_wanted)
        parts = self._parts
        self._reading.want(lambda: _read(parts))

    def _take_read(self, step: _Step | None) -> None:
        if step is None:
            broken = translate("Importing", "Reading it failed; the log has the details.")
            step = _Step(unread=[Unread("", "", broken)], is_end=True)
        self._step = step
        self.report.unread += ((self._files[0], each) for each in step.unread)
        for pieces in step.pieces:
            self._store.send(KeepPieces(pieces, len(pieces.ends) // _TOKEN_BYTES))
        like = dict.fromkeys(_known(chat.head) for chat in step.chats)
        self._asked = [head for known in like for head in self._here.pop(known, [])]
        self._ask()

    def _ask(self) -> None:
        """Look into what may be the same first: a title and a time are no proof that two chats are one."""
        if self._asked:
            self._request = self._new_request()
            self._store.send(ReadChats(self._request, tuple(self._asked)))
        else:
            self._take_new()

    def _take_contents(self, found: list[tuple[_Known, bytes]] | None) -> None:
        for known, there in found or ():  # what could not be looked into is not taken for the same
            self._contents.setdefault(known, set()).add(there)
        self._ask()

    def _take_new(self) -> None:
        new: list[tuple[WholeChat, int]] = []
        for chat, content in zip(self._step.chats, self._step.contents, strict=True):
            there = self._contents.setdefault(_known(chat.head), set())
            if content in there:
                self.report.already_here += 1
                continue
            there.add(content)
            new.append((chat, self._stamps.reserve(chat.ids)))
        if new:
            self._moving.want(lambda: [renumbered(chat, first) for chat, first in new])
        else:
            self._end_step()

    def _take_moved(self, chats: list[WholeChat] | None) -> None:
        if chats is None:
            broken = translate("Importing", "Reading it failed; the log has the details.")
            self.report.unread.append((self._files[0], Unread("", "", broken)))
            self._end_step()
            return
        requests = [self._new_request() for _ in chats]
        self._waiting.update(zip(requests, (chat.head for chat in chats), strict=True))
        for request, chat in zip(requests, chats, strict=True):
            self._store.send(KeepChat(request, chat))

    def _end_step(self) -> None:
        if self._step.is_end:
            self._files.pop(0)
            self._parts = None
        if self._files:
            self._go_on()
        self.changed.emit()


def _known(head: Conversation) -> _Known:
    return (head.title, head.created_ms, head.changed_ms)


def _read(parts: Iterator[Part]) -> _Step:
    """Read some of a file."""
    step, characters = _Step(), 0
    while len(step.chats) + len(step.unread) < _MOST_CHATS and characters < _MOST_CHARACTERS:
        try:
            part = next(parts, None)
        except UserError as error:
            part = Unread("", "", error.sentence)
        except StoppedError:
            part = None  # whoever asked for it has gone
        match part:
            case None:
                step.is_end = True
                return step
            case Unread():
                step.unread.append(part)
            case Pieces():
                _take_pieces(step, part)
            case WholeChat():
                characters += sum(len(message.text) for message in part.messages)
                _take_chat(step, part)
    return step


def _take_chat(step: _Step, chat: WholeChat) -> None:
    try:
        taken = checked(chat)
    except UserError as error:
        step.unread.append(Unread(chat.head.title, "", error.sentence))
        return
    step.chats.append(taken)
    step.contents.append(contents(taken))


def _take_pieces(step: _Step, pieces: Pieces) -> None:
    whole = pieces.ends[: len(pieces.ends) // _TOKEN_BYTES * _TOKEN_BYTES]
    ends = struct.unpack(f"<{len(whole) // _TOKEN_BYTES}I", whole)
    grows = all(before <= after for before, after in pairwise(ends))
    if pieces.first or whole != pieces.ends or not ends or not grows or ends[-1] != len(pieces.data):
        reason = translate("Importing", "A vocabulary is damaged: {fault}", fault=pieces.tokenizer)
        step.unread.append(Unread("", "", reason))
    else:
        step.pieces.append(pieces)
