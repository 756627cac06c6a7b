"""A text that grows, read as Markdown: only its open end is read again.

What is closed never changes. However the text arrived, once it is finished its blocks are those of the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from app.gui.markdown.containers import GUARD, NO_LEAD, Lead, lead_of
from app.gui.markdown.cuts import closes_fence, fence_opening, may_close_fence, settled
from app.gui.markdown.labels import Numbers
from app.gui.markdown.long_paragraphs import without_guard
from app.gui.markdown.long_parts import Cut, cut_of, is_cut, is_decided
from app.gui.markdown.open_blocks import OpenCode, OpenTable, long_row_end
from app.gui.markdown.reader import Part, read
from app.gui.markdown.values import Block, Code, Table


class Document:
    """Blocks, of which the last few are open."""

    def __init__(self, source: str = "") -> None:
        self.blocks: list[Block] = []
        """All blocks, in order."""
        self.closed = 0
        """How many of them do not change any more, however the text goes on."""
        self._source: list[str] = []
        self.length = 0
        """How many characters of the text have arrived."""
        self._tail = ""
        self._blank_before = False
        self._number: int | None = None
        self._notes = Numbers()
        self._lead = NO_LEAD
        """What the open end begins with, where a block was cut; it is none of the text."""
        self._code: OpenCode | None = None
        self._table: OpenTable | None = None
        self._finished = True
        if source:
            self._take(source)

    @property
    def source(self) -> str:
        """The text as it arrived."""
        if len(self._source) > 1:
            self._source = ["".join(self._source)]
        return self._source[0] if self._source else ""

    @property
    def is_finished(self) -> bool:
        """Whether the text is there whole, so that nothing of it is held back."""
        return self._finished

    @property
    def open_length(self) -> int:
        """How much must be read or joined again when more comes: adding less than that would not pay."""
        return len(self._tail) + (self._code.length // _JOINS_PER_READ if self._code is not None else 0)

    def append(self, text: str) -> int:
        """Let the text grow; return the index of the first block that may have changed."""
        self._finished = False
        return self._take(text)

    def finish(self) -> int:
        """Say that the text is whole; return the index of the first block that may have changed."""
        if self._finished:
            return len(self.blocks)
        self._finished = True
        return self._read()

    def _take(self, text: str) -> int:
        follows_return = bool(self._source) and self._source[-1].endswith("\r")
        if text:
            self._source.append(text)
        self.length += len(text)
        if follows_return and text.startswith("\n"):
            text = text[1:]
        self._tail += text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
        return self._read()

    def _read(self) -> int:
        first = self.closed
        del self.blocks[first:]
        self._notes.take_back()
        while not self._read_on():
            pass
        return first

    def _read_on(self) -> bool:
        """Close what can be closed and read the rest; return whether the text is read to its end."""
        if self._code is not None:
            return self._read_code(self._code)
        if self._table is not None:
            return self._read_table(self._table)
        return self._read_prose()

    def _read_prose(self) -> bool:
        if not self._lead.text and (blank := _BLANK_LINES.match(self._tail)) is not None:
            self._move(blank.end())
        if (cut := cut_of(self._tail, self._lead, self._number)) is not None:
            self._end_at(cut)
            return False
        parts = self._parts(self._tail) if self._finished else self._parts(settled(self._tail), is_open=True)
        complete = self._tail.count("\n") + is_decided(self._tail[self._tail.rfind("\n") + 1 :])
        starts = _line_starts(self._tail, [part.line for part in parts])
        first_open = 0
        for index, (part, start) in enumerate(zip(parts, starts, strict=True)):
            is_table = bool(part.blocks) and isinstance(part.blocks[0], Table)
            # What is still to come in the second line of a table may make it no table.
            if part.line + is_table >= complete:
                break
            first_open = index
            end = starts[index + 1] if index + 1 < len(starts) else len(self._tail)
            is_long = is_table and long_row_end(self._tail[start:end]) is not None
            if is_long and not start and not self._lead.text:
                return self._read_open([part])
            if index and (is_long or is_cut(self._tail[start : start + _LOOK_AHEAD], end - start, part.number)):
                self._extend(parts[:index])
                self._move(start, part.number)
                return False
        if parts and parts[first_open].line < complete and starts[first_open]:
            self._extend(parts[:first_open])
            self._move(starts[first_open], parts[first_open].number)
        return self._read_open(parts[first_open:])

    def _read_open(self, parts: list[Part]) -> bool:
        if self._lead.text:
            self._extend(parts)
            return True
        lines = self._tail.split("\n", 2)
        block = parts[0].blocks[0] if len(parts) == 1 and parts[0].blocks else None
        if block is not None and not self.blocks:
            block = _without_gap(block)
        opening = fence_opening(lines[0]) if len(lines) > 1 else None
        if isinstance(block, Code) and opening is not None:
            self._code = OpenCode(replace(block, code=""), opening)
            self._move(len(lines[0]) + 1)
            return False
        if isinstance(block, Table) and not block.place.frames and len(lines) > 2:
            head = self._notes.row(block.rows[0])
            self._table = OpenTable(replace(block, rows=(head,)), "\n".join(lines[:2]))
            self._move(len(lines[0]) + len(lines[1]) + 2)
            return False
        self._extend(parts)
        return True

    def _end_at(self, cut: Cut) -> None:
        """Close what lies before a cut, and read on with its lead."""
        closed = self._tail[: cut.end]
        # The space between two words stays with the first of them.
        keeps_space = closed.endswith(" ")
        parts = self._parts(closed + GUARD * keeps_space)
        if keeps_space and parts and parts[-1].blocks:
            parts[-1].blocks[-1] = without_guard(parts[-1].blocks[-1], at_end=True)
        self._extend(parts)
        beginning = self.blocks.pop() if cut.code is not None else None
        self._move(cut.start)
        if cut.code is not None and isinstance(beginning, Code):
            self._code = OpenCode(replace(beginning, code=""), cut.code.marks, cut.code, cut.lead)
        else:
            self._put_before(cut.lead)

    def _put_before(self, lead: Lead) -> None:
        self._tail = lead.text + self._tail
        self._lead = lead

    def _read_code(self, code: OpenCode) -> bool:
        lines = self._tail.split("\n")
        taken: list[str] = []
        for number, line in enumerate(lines[:-1]):
            inside = code.line(line, is_complete=True)
            if inside is not None and not closes_fence(inside, code.opening):
                taken.append(inside)
                continue
            code.add(taken)
            self._end_code(code, sum(len(each) + 1 for each in lines[: number + (inside is not None)]), inside)
            return False
        code.add(taken)
        self._tail = lines[-1]
        last = code.line(self._tail, is_complete=self._finished)
        if last is None:
            self._end_code(code, 0, last)
            return False
        is_end = closes_fence(last, code.opening) if self._finished else may_close_fence(last, code.opening)
        self.blocks.append(code.closed_block() if is_end and self._finished else code.block("" if is_end else last))
        return True

    def _end_code(self, code: OpenCode, end: int, last: str | None) -> None:
        """Close code with the line that closes it, or before one that stands outside of what it lies in."""
        self.blocks.append(code.block("") if last is None else code.closed_block())
        self._code = None
        self._move(end)
        if last is None:
            self._blank_before = bool(code.lines) and not code.lines[-1].strip(" \t")
        self._put_before(code.lead)

    def _read_table(self, table: OpenTable) -> bool:
        if (end := long_row_end(self._tail)) is not None and self._end_row(table, end):
            return False
        head = len(table.head) + 1
        source = f"{table.head}\n{self._tail}"
        is_open = not self._finished
        parts = read(settled(source) if is_open else source, blank_before=False, number=None, is_open=is_open)
        complete = source.count("\n")
        read_table = parts[0].blocks[0]
        assert isinstance(read_table, Table)
        rows = list(read_table.rows[1:])
        if len(parts) > 1 and parts[1].line < complete:
            self.blocks.append(table.block([self._notes.row(row) for row in rows]))
            self._table = None
            self._move(_line_starts(source, [parts[1].line])[0] - head)
            return False
        kept = min(len(rows), complete - _HEAD_LINES)
        table.rows += [self._notes.row(row) for row in rows[:kept]]
        self._notes.keep()
        self._tail = self._tail[_line_starts(self._tail, [kept])[0] :]
        self.blocks.append(table.block([self._notes.row(row) for row in rows[kept:]]))
        self._extend(parts[1:])
        return True

    def _end_row(self, table: OpenTable, end: int) -> bool:
        """Close a table inside of a row that is too long, unless the table is at its end before it."""
        parts = read(f"{table.head}\n{self._tail[:end]}", blank_before=False, number=None)
        read_table = parts[0].blocks[0]
        if len(parts) > 1 or not isinstance(read_table, Table):
            return False
        self.blocks.append(table.block([self._notes.row(row) for row in read_table.rows[1:]]))
        self._table = None
        self._move(end)
        self._put_before(lead_of((), (), gap="\n", is_guarded=True))
        return True

    def _parts(self, source: str, *, is_open: bool = False) -> list[Part]:
        return read(source, self._blank_before, self._number, is_open=is_open, lead=self._lead)

    def _extend(self, parts: Sequence[Part]) -> None:
        for part in parts:
            for block in part.blocks:
                numbered = self._notes.numbered(block)
                self.blocks.append(numbered if self.blocks else _without_gap(numbered))

    def _move(self, start: int, number: int | None = None) -> None:
        """Begin the open end further on."""
        before = self._tail[:start].removesuffix("\n")
        self._blank_before = bool(start) and not before[before.rfind("\n") + 1 :].strip(" \t>")
        self._tail = self._tail[start:]
        self._number = number
        self._lead = NO_LEAD
        self.closed = len(self.blocks)
        self._notes.keep()


def readable(source: str) -> Iterator[Block]:
    """Return the blocks of a whole text one by one, reading a little at a time."""
    if len(source) <= _WHOLE_CHARACTERS:
        yield from Document(source).blocks
        return
    document, start, given = Document(), 0, 0
    while start < len(source):
        end = start + max(_STEP_CHARACTERS, document.open_length)
        document.append(source[start:end])
        yield from document.blocks[given : document.closed]
        start, given = end, max(given, document.closed)
    document.finish()
    yield from document.blocks[given:]


_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
_HEAD_LINES = 2
_STEP_CHARACTERS, _WHOLE_CHARACTERS = 500, 1000
_JOINS_PER_READ = 4
"""Joining code costs less than reading prose."""
_LOOK_AHEAD = 20_000
"""How much of a block is looked at for a cut; where that is too little, the cut is found later."""


def _without_gap(block: Block) -> Block:
    return block if not block.place.gap else replace(block, place=replace(block.place, gap=""))


def _line_starts(text: str, lines: Sequence[int]) -> list[int]:
    """Return where lines start, given in rising order."""
    starts, line, position = [], 0, 0
    for wanted in lines:
        while line < wanted:
            position = text.find("\n", position) + 1
            line += 1
        starts.append(position)
    return starts
