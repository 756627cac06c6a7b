"""The Markdown of one answer, read bit by bit: what is read by now, and what is not."""

from __future__ import annotations

from collections.abc import Sequence

from app.gui.markdown.document import Document
from app.gui.markdown.values import Block


class ReadText:
    """A text and the blocks that are read of it."""

    def __init__(self) -> None:
        self._document = Document()
        self._unread = ""
        self._next = 0
        """Where in `_unread` to read on."""

    @property
    def source(self) -> str:
        """The Markdown."""
        return self._document.source + self._unread[self._next :]

    @property
    def blocks(self) -> Sequence[Block]:
        """What is read by now."""
        return self._document.blocks
