"""A file on a web server as a `ModelSource`: read in ranges, no more of it than its header needs.

A server that ignores ranges is read from its beginning, as far as needed, and then closed.
"""

from __future__ import annotations

from contextlib import ExitStack

from app.core.gguf_magic import GGUF_MAGIC
from app.core.model_file import ModelSource
from app.hub import web_sentences
from app.hub.limits import Limits
from app.hub.web import PIECE, Reply, Web, host_of

AHEAD = 1_000_000
"""Bytes of one request; no more than these are read beyond a header."""
MOST_BYTES = 64 * 1024 * 1024
"""Of one file: no real header comes near it."""


class RemoteFile:
    """One file; reads forward and keeps the last piece. Every failure is a sentence."""

    def __init__(self, web: Web, address: str, size: int, limits: Limits) -> None:
        self._web = web
        self._address = address
        self._size = size
        self._limits = limits
        self._start, self._piece = 0, b""
        self._whole: Reply | None = None
        """The reply of a server that ignores ranges, while it is read."""
        self._at = 0
        """How far that was read."""
        self.received = 0
        """Bytes that were read of it, all told."""

    @property
    def source(self) -> ModelSource:
        """The file for `core.model_file`."""
        # the first piece, behind the magic, ends with what was fetched to see what file this is
        return ModelSource(self.read, self._size, (AHEAD - len(GGUF_MAGIC), AHEAD))

    def read(self, offset: int, size: int) -> bytes:
        """Return the bytes at an offset, all that were asked for unless the file ends."""
        size = min(size, self._size - offset)
        if size <= 0:
            return b""
        end = self._start + len(self._piece)
        if not (self._start <= offset <= end and offset + size <= end):
            known = self._piece[offset - self._start :] if self._start <= offset <= end else b""
            wanted = min(max(size, AHEAD), self._size) if offset == 0 else size
            self._piece = known + self._fetch(offset + len(known), wanted - len(known))
            self._start = offset
        within = offset - self._start
        return self._piece[within : within + size]

    def close(self) -> None:
        """Close the connection."""
        if self._whole is not None:
            self._whole.close()
            self._whole = None

    def _fetch(self, offset: int, size: int) -> bytes:
        if self.received + size > MOST_BYTES:
            raise web_sentences.too_much(host_of(self._address))
        if self._whole is not None and self._at <= offset:
            return self._from_whole(self._whole, offset, size)
        self.close()
        reply = self._web.get(self._address, self._limits, (offset, offset + size - 1))
        with ExitStack() as closing:
            closing.callback(reply.close)
            reply.refuse_web_page()
            if reply.status == 206:
                self._check_range(reply, offset, size)
                return self._take(reply, size)
            if reply.length not in (None, self._size):
                raise web_sentences.contradicts(reply.host)
            closing.pop_all()  # it stays open, for what comes next
        self._whole, self._at = reply, 0
        return self._from_whole(reply, offset, size)

    def _check_range(self, reply: Reply, offset: int, size: int) -> None:
        """Refuse other bytes than those that were asked for, and a file that is another one by its length."""
        part = reply.part
        if part is None or (part.first, part.last) != (offset, offset + size - 1):
            raise web_sentences.contradicts(reply.host)
        if part.total not in (None, self._size):
            raise web_sentences.contradicts(reply.host)
        # what redirects lead to is asked directly from now on; the token stays with the hub
        self._address = reply.address

    def _from_whole(self, reply: Reply, offset: int, size: int) -> bytes:
        if self.received + offset - self._at > MOST_BYTES:
            raise web_sentences.too_much(reply.host)
        while self._at < offset:
            passed = len(self._take(reply, min(PIECE, offset - self._at)))
            self._at += passed
        content = self._take(reply, size)
        self._at += size
        return content

    def _take(self, reply: Reply, size: int) -> bytes:
        content = reply.read(size)
        self.received += len(content)
        if len(content) < size:
            raise web_sentences.lost(reply.host)
        return content
