"""Which lines of its source each block of a text was read from, so that whole blocks can be copied as they were written.

Asks the document alone: it is given the lines one by one, and a block begins with the line that brought it. Code in a
fence at the outermost level is given whole, because nothing inside of it begins a block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.gui.markdown.block_rules import FORMULA_START
from app.gui.markdown.cuts import closes_fence, fence_opening
from app.gui.markdown.document import Document
from app.gui.markdown.values import Block, Paragraph, Table

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BLANK_END = re.compile(r"(?:[\r\n]+[ \t>]*)+\Z")


class Sources:
    """The blocks of a text with the lines that each was read from."""

    def __init__(self, source: str, *, is_whole: bool = True) -> None:
        self._source = source
        self._is_whole = is_whole
        self._document = Document()
        self._starts: list[int] = []
        """Where in the source the first line of each block begins."""
        self._steps = self._read()

    @property
    def blocks(self) -> list[Block]:
        """The blocks that are read, which are those of a document of this text."""
        return self._document.blocks

    def read_on(self) -> bool:
        """Read a little more; return whether there may be more to read."""
        return next(self._steps, None) is not None

    def source_of(self, first: int, last: int) -> str:
        """Return the lines that the blocks from one to another were read from, whole, without the blank ones behind."""
        start, end = self.place_of(first, last)
        return _BLANK_END.sub("", self._source[start:end])

    def place_of(self, first: int, last: int) -> tuple[int, int]:
        """Return from where to where in the source the lines go that these blocks were read from."""
        end = self._starts[last + 1] if last + 1 < len(self._starts) else len(self._source)
        return self._starts[first], max(end, self._starts[first])

    def alike(self, index: int) -> range:
        """Return the blocks that begin with the same line as a block: a very long paragraph is read into several."""
        first = last = index
        while first and self._starts[first - 1] == self._starts[index]:
            first -= 1
        while last + 1 < len(self._starts) and self._starts[last + 1] == self._starts[index]:
            last += 1
        return range(first, last + 1)

    def _read(self) -> Iterator[bool]:
        opening: str | None = None
        held = 0
        before = 0
        for match in _LINE.finditer(self._source):
            line = match.group().rstrip("\r\n")
            if opening is not None and not closes_fence(line, opening):
                continue
            text = self._source[held : match.end()]
            held = match.end()
            self._note(match.start(), before, self._append(text))
            opening = fence_opening(line) if opening is None else None  # the line closed it
            before = match.start()
            yield True
        if held < len(self._source):
            self._note(held, before, self._append(self._source[held:]))
        # A last line that was nothing but marks is known only now.
        self._note(before, before, self._finish() if self._is_whole else None)

    def _append(self, text: str) -> int | None:
        known = self._lengths()
        return self._came_apart(self._document.append(text), known)

    def _finish(self) -> int | None:
        known = self._lengths()
        return self._came_apart(self._document.finish(), known)

    def _lengths(self) -> list[int]:
        """Return how long the open blocks are that may become a formula, and 0 for the others."""
        return [len(block.text) * _looks_like_formula(block) for block in self.blocks[self._document.closed :]]

    def _came_apart(self, first: int, known: list[int]) -> int | None:
        """Return the block that is shorter than it was: what looked like a formula until now is several blocks."""
        news = self.blocks[first : first + len(known)]
        shorter = (n for n, (block, length) in enumerate(zip(news, known, strict=False)) if len(block.text) < length)
        found = next(shorter, None)
        return None if found is None else first + found

    def _note(self, line: int, before: int, apart: int | None) -> None:
        """Take down where the blocks begin that a line brought; the head of a table is the line before it.

        Those of a text that came apart can only be copied together.
        """
        del self._starts[len(self.blocks) :]
        if apart is not None and apart < len(self._starts):
            line = before = self._starts[apart]
        for index in range(len(self._starts), len(self.blocks)):
            self._starts.append(before if isinstance(self.blocks[index], Table) else line)


def _looks_like_formula(block: Block) -> bool:
    return isinstance(block, Paragraph) and bool(block.runs) and bool(FORMULA_START.match(block.runs[0].text))
