"""Fetches one file into a partial file beside its goal, from where an earlier try ended, and checks it.

Nothing has the goal's name before it is whole. One call is one try; who asks decides what follows a failure.
"""

from __future__ import annotations

import errno
import shutil
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path

from app.core.download import DownloadFile, DownloadState
from app.core.errors import UserError
from app.core.gguf_magic import GGUF_MAGIC
from app.core.hub_model import Offline
from app.hub import download_sentences, proxy_sentences, web_sentences
from app.hub.checksum import Checksum
from app.hub.download_control import Control, Stopped
from app.hub.limits import Limits
from app.hub.partial_file import FileStamp, PartialFile, PartState, beginning
from app.hub.repository import address_of
from app.hub.web import Refused, Reply, Web, host_of, reason_of

SILENCE_S = 30.0
PIECE = 1 << 20
LONGEST_S = 30 * 86_400.0
SPARE_BYTES = 64 << 20
"""What stays free on the disk."""
LOOK_EVERY = 64 << 20
"""Bytes between two looks at the free space."""
CHECK_EVERY = 4 << 20
"""Bytes between two looks whether the partial file still has its name."""
PARTIAL, BAD_RANGE = 206, 416
Tell = Callable[[DownloadState, int], None]
"""Called with how many bytes of the file are there, for every piece."""


@dataclass(frozen=True)
class Source:
    """Where a file comes from."""

    web: Web
    endpoint: str
    repository: str
    revision: str
    file: DownloadFile
    more: int = 0
    """Bytes of other files that are to come to the same disk."""

    @property
    def address(self) -> str:
        """Where it can be read."""
        return address_of(self.endpoint, self.repository, self.revision, self.file.path)

    def state(self, etag: str) -> PartState:
        """What is written down of a partial file of it."""
        file = self.file
        return PartState(self.repository, self.revision, file.path, file.size, file.sha256, etag)


def fetch(source: Source, goal: Path, control: Control, tell: Tell, silence_s: float = SILENCE_S) -> FileStamp | None:
    """Have the whole file at its goal, or raise `Stopped`, or the sentence that says what prevents it.

    Return what has come; None where it was there already.
    """
    try:
        if goal.exists():
            _check_there(source.file, goal, control, tell)
            return None
        part = PartialFile(goal)
        if goal.exists():  # another process had it whole in between
            part.delete()
            _check_there(source.file, goal, control, tell)
            return None
    except OSError as error:
        raise download_sentences.unwritable(str(goal.parent), error) from error
    try:
        return _Fetch(source, part, control, tell, silence_s).run()
    except OSError as error:
        if error.errno in download_sentences.FULL:
            missing = source.file.size - part.size + source.more
            raise download_sentences.no_room(str(goal.parent), missing + SPARE_BYTES) from error
        if error.errno == errno.EFBIG:
            raise download_sentences.too_large(str(goal.parent), goal.name) from error
        raise download_sentences.unwritable(str(goal.parent), error) from error
    finally:
        part.close()


def check_room(folder: Path, missing: int) -> None:
    """Raise where the disk has no room for so many bytes more; where it does not tell, writing will."""
    with suppress(OSError):
        nearest = next((path for path in (folder, *folder.parents) if path.exists()), folder)
        usage = shutil.disk_usage(nearest)
        if usage.total and usage.free < missing + SPARE_BYTES:
            raise download_sentences.no_room(str(folder), missing + SPARE_BYTES - usage.free)


def _check_there(file: DownloadFile, goal: Path, control: Control, tell: Tell) -> None:
    """Take a file that is there already for the one that is wanted, if it is that."""
    size = goal.stat().st_size
    if not goal.is_file() or size != file.size:
        raise download_sentences.taken(goal.name)
    tell("checking", size)
    is_it = _checksum(goal, size, control) == file.sha256 if file.sha256 else _may_begin_with(file, beginning(goal))
    if not is_it:
        raise download_sentences.taken(goal.name)


def _checksum(path: Path, size: int, control: Control) -> str:
    checksum = Checksum(path)
    control.ending(checksum.stop)
    try:
        found = checksum.result(size)
    finally:
        checksum.close()
    if found is None:
        raise Stopped
    return found


class _Fetch:
    """One try."""

    def __init__(self, source: Source, part: PartialFile, control: Control, tell: Tell, silence_s: float) -> None:
        self._source = source
        self._file = source.file
        self._part = part
        self._control = control
        self._tell = tell
        self._silence_s = silence_s
        self._looked_at = 0

    def run(self) -> FileStamp | None:
        kept = self._part.state()
        etag = kept.etag if kept is not None else ""
        known = bool(self._file.sha256) or bool(etag)
        if (
            kept is None
            or not kept.is_part_of(self._source.state(etag))
            or not known
            or self._part.size > self._file.size
        ):
            self._part.begin(self._source.state(""))
        self._tell("running", self._part.size)
        if self._part.size < self._file.size:
            with Limits(LONGEST_S, self._silence_s) as limits:
                self._control.ending(limits.cancel)
                return self._receive(limits, etag)
        return self._finish(None)

    def _receive(self, limits: Limits, etag: str) -> FileStamp | None:
        reply, start = self._answer(limits, etag)
        try:
            begin = self._begin(reply, start)
            checksum = Checksum(self._part.path, is_wanted=bool(self._file.sha256))
            try:
                self._control.ending(checksum.stop)
                self._take(reply, begin, checksum)
                return self._finish(checksum)
            finally:
                checksum.close()
        finally:
            reply.close()

    def _answer(self, limits: Limits, etag: str) -> tuple[Reply, int]:
        """Return what comes, and the byte that it was asked for from: the first, where the server has another file now."""
        start = self._part.size if self._part.size >= len(GGUF_MAGIC) else 0
        if start:
            try:
                reply = self._ask(limits, start, etag)
            except Refused as refused:
                if refused.status != BAD_RANGE:
                    raise  # otherwise the file is shorter there than what is here
            else:
                if reply.status != PARTIAL or self._goes_on(reply, etag):
                    return reply, start
                reply.close()
        return self._ask(limits, 0, ""), 0

    def _goes_on(self, reply: Reply, etag: str) -> bool:
        """Whether a part is of the same file as what is here: a server may ignore If-Range."""
        there = _strong(reply.headers.get("ETag", ""))
        may_be = bool(self._file.sha256) and not (there and etag)  # the checksum tells it at the end
        return there == etag or may_be

    def _ask(self, limits: Limits, start: int, etag: str) -> Reply:
        address = self._source.address
        try:
            return self._source.web.get(address, limits, (start, None) if start else None, etag)
        except Refused:
            self._control.check()
            raise
        except UserError as error:
            self._control.check()
            why = None if error.__cause__ is None else reason_of(error.__cause__)
            if isinstance(why, TimeoutError):
                raise download_sentences.stalled(host_of(address)) from error
            if isinstance(why, OSError | HTTPException) and not _is_lasting(why):
                raise download_sentences.Passing(error.sentence) from error
            raise

    def _begin(self, reply: Reply, start: int) -> bytes:
        """Check what comes, before anything here is given up for it; return the first bytes of a whole file."""
        reply.refuse_web_page()
        if reply.status == PARTIAL:
            part = reply.part
            if part is None or part.first != start:
                raise web_sentences.contradicts(reply.host)
            if part.total not in (None, self._file.size):
                raise download_sentences.changed(self._name)
            if start:
                return b""
        elif reply.length not in (None, self._file.size):
            raise download_sentences.changed(self._name)
        begin = self._read(reply, min(len(GGUF_MAGIC), self._file.size))
        if not _may_begin_with(self._file, begin):
            raise download_sentences.no_model(reply.host, self._name)
        self._part.begin(self._source.state(_strong(reply.headers.get("ETag", ""))))
        return begin

    def _take(self, reply: Reply, begin: bytes, checksum: Checksum) -> None:
        piece, checked_at = begin, 0
        while True:
            if piece:
                self._part.append(piece)
            size = self._part.size
            checksum.written(size)
            self._tell("running", size)
            if size >= self._file.size:
                return
            if size - checked_at >= CHECK_EVERY:
                checked_at = size
                self._part.check()
            if size - self._looked_at >= LOOK_EVERY:
                self._looked_at = size
                check_room(self._part.goal.parent, self._file.size - size + self._source.more)
            piece = self._read_some(reply, min(PIECE, self._file.size - size))

    def _finish(self, checksum: Checksum | None) -> FileStamp | None:
        size = self._part.size
        self._part.check()  # the checksum reads by the name
        self._tell("checking", size)
        if self._file.sha256:
            found = checksum.result(size) if checksum is not None else _checksum(self._part.path, size, self._control)
            self._control.check()
            if found != self._file.sha256:
                self._part.delete()
                raise download_sentences.damaged(self._name)
        elif not _may_begin_with(self._file, beginning(self._part.path)):
            self._part.delete()  # whoever wrote that, it is not what is wanted
            raise download_sentences.no_model(host_of(self._source.address), self._name)
        if checksum is not None:
            checksum.close()  # Windows renames no open file
        if self._part.goal.exists():
            raise download_sentences.taken(self._name)
        return self._part.finish()

    def _read(self, reply: Reply, size: int) -> bytes:
        pieces = b""
        while len(pieces) < size:
            pieces += self._read_some(reply, size - len(pieces))
        return pieces

    def _read_some(self, reply: Reply, most: int) -> bytes:
        try:
            piece = reply.read_some(most)
        except Offline:
            raise
        except UserError as error:
            self._control.check()
            if isinstance(error.__cause__, TimeoutError):
                raise download_sentences.stalled(reply.host) from error
            raise download_sentences.lost(reply.host) from error
        self._control.check()
        if not piece:
            raise download_sentences.lost(reply.host)
        return piece

    @property
    def _name(self) -> str:
        return self._part.goal.name


def _may_begin_with(file: DownloadFile, begin: bytes) -> bool:
    return begin == GGUF_MAGIC or not file.path.lower().endswith(".gguf")


def _is_lasting(error: BaseException) -> bool:
    """Whether the next try meets the same."""
    return isinstance(error, ssl.SSLCertVerificationError) or proxy_sentences.is_lasting(error)


def _strong(etag: str) -> str:
    """Return an ETag that ranges may rely on; empty where it is none."""
    is_strong = (
        etag.startswith('"') and etag.endswith('"') and len(etag) <= 300 and etag.isascii() and etag.isprintable()
    )
    return etag if is_strong else ""
