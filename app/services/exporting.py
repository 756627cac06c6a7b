"""Writes conversations into a file: asks the store for some after some, and has them written in the background.

One file at a time, which takes its place when it is complete. Must not know of formats beyond `ChatWriter`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from app.core.conversation import Conversation, Pieces
from app.core.job_events import LanesAnalysed
from app.core.ports import StorePort
from app.core.signal import Signal
from app.core.store_commands import ReadChats, ReadPieces
from app.core.store_events import ChatsRead, PiecesRead
from app.core.whole_chat import WholeChat
from app.core.words import Sentence, translate
from app.services.latest_job import LatestJob
from app.system.jobs import Jobs
from app.system.whole_file import GrowingFile

_JOB = "export of chats"


class ChatWriter(Protocol):
    """Makes the bytes of a file, whose parts are asked for in this order, on any thread."""

    def begin(self, heads: Sequence[Conversation], /) -> bytes:
        """Return what stands before the conversations."""

    def add(self, chat: WholeChat, /) -> bytes:
        """Return a conversation."""

    @property
    def tokenizers(self) -> tuple[str, ...]:
        """Whose vocabularies belong into the file, too."""

    def begin_vocabularies(self) -> bytes:
        """Return what stands before the vocabularies."""

    def add_vocabulary(self, pieces: Pieces, /) -> bytes:
        """Return a vocabulary."""

    def end(self) -> bytes:
        """Return what stands at the end."""


class ChatExport:
    """Knows how far the file is, and what became of the last one."""

    def __init__(self, store: StorePort, jobs: Jobs, new_request: Callable[[], int]) -> None:
        self.changed: Signal[()] = Signal()
        """More is written, or it has ended."""
        self.done = self.total = 0
        """Conversations."""
        self.saved: Path | None = None
        """The last file, once it is written."""
        self.problem: Sentence | None = None
        """Why the last file is not there; None where it is, or was cancelled."""
        self.unread: tuple[str, ...] = ()
        """The titles of conversations of which the store could not read a part."""
        self._store = store
        self._new_request = new_request
        self._job: LatestJob[Sentence | bool] = LatestJob(jobs, _JOB, self._take_written)
        self._heads: list[Conversation] = []
        """Those that are not read yet."""
        self._file: GrowingFile | None = None
        self._left: list[GrowingFile] = []
        """What was given up and may still be open."""
        self._path = Path()
        self._writer: ChatWriter | None = None
        self._wanted: list[str] | None = None
        """The vocabularies that are not read yet; None before it is known which."""
        self._request = 0

    @property
    def is_busy(self) -> bool:
        """Whether a file is being written."""
        return self._file is not None

    def begin(self, path: Path, heads: Sequence[Conversation], writer: ChatWriter) -> bool:
        """Write these conversations; False while another file is being written."""
        if self.is_busy:
            return False
        self._file, self._path, self._writer, self._wanted = GrowingFile(path), path, writer, None
        self._heads, self.done, self.total = list(heads), 0, len(heads)
        self.saved, self.problem, self.unread = None, None, ()
        kept = tuple(heads)
        self._write(lambda: writer.begin(kept))
        self.changed.emit()
        return True

    def cancel(self) -> None:
        """Write no more, and leave what lay in its place."""
        self._end()

    def stop(self) -> None:
        """Leave no half of a file: no job runs any more."""
        self._end()
        _give_up(self._left)

    def take_read(self, event: ChatsRead) -> None:
        """Have what was read written."""
        writer = self._writer
        if writer is None or event.request != self._request:
            return
        read = {chat.head.id: chat.head.title for chat in event.chats}
        self.unread += tuple(read[key] for key in event.unread if key in read)
        self._heads = self._heads[max(len(event.chats), 1) :]
        self.done = self.total - len(self._heads)
        self._write(lambda: b"".join(map(writer.add, event.chats)))
        self.changed.emit()

    def take_pieces(self, event: PiecesRead) -> None:
        """Have a vocabulary written, where it is kept."""
        writer, pieces = self._writer, event.pieces
        if writer is None or event.request != self._request:
            return
        self._write(lambda: writer.add_vocabulary(pieces) if pieces is not None else b"")

    def take(self, event: LanesAnalysed) -> None:
        """Go on once something is written."""
        self._job.take(event)

    def _write(self, make: Callable[[], bytes]) -> None:
        file, path, left = self._file, self._path, self._left
        if file is None:
            return

        def write() -> Sentence | bool:
            _give_up(left)
            try:
                file.add(make())
            except OSError as error:
                file.give_up()
                return _not_saved(path, error)
            return True

        self._job.want(write)

    def _take_written(self, written: Sentence | bool | None) -> None:
        writer = self._writer
        if writer is None:
            return
        if written is not True:
            self._fail(written)
            return
        self._request = self._new_request()
        if self._heads:
            self._store.send(ReadChats(self._request, tuple(self._heads)))
        elif self._wanted is None:
            self._wanted = list(writer.tokenizers)
            self._write(writer.begin_vocabularies)
        elif self._wanted:
            self._store.send(ReadPieces(self._request, self._wanted.pop(0)))
        else:
            self._finish(writer)

    def _finish(self, writer: ChatWriter) -> None:
        file, path = self._file, self._path
        if file is None:
            return

        def finish() -> Sentence | bool:
            try:
                file.add(writer.end())
                file.finish()
            except OSError as error:
                file.give_up()
                return _not_saved(path, error)
            return False

        self._job.want(finish)

    def _fail(self, written: Sentence | bool | None) -> None:
        """End it: False is a file that is whole."""
        if written is False:
            self.saved = self._path
        elif isinstance(written, Sentence):
            self.problem = written
        else:
            self.problem = translate(
                "FileExport", "The file {name} could not be made; the log has the details.", name=self._path.name
            )
        self._end()

    def _end(self) -> None:
        file, self._file, self._writer, self._heads, self._request = self._file, None, None, [], 0
        if file is not None:
            self._job.forget()
            self._left.append(file)
            self._job.want(lambda: _give_up(self._left))
            self.changed.emit()


def _give_up(files: list[GrowingFile]) -> bool:
    while files:
        files.pop().give_up()
    return True


def _not_saved(path: Path, error: OSError) -> Sentence:
    reason = error.strerror or str(error)
    return translate("FileExport", "The file {name} could not be saved: {reason}", name=path.name, reason=reason)
