"""Blocks of which each line is read once, though they are not closed yet: the code of a fence and the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from app.gui.markdown.containers import NO_LEAD, Lead, line_inside
from app.gui.markdown.cuts import place_between
from app.gui.markdown.long_parts import LongCode
from app.gui.markdown.reader import math_of
from app.gui.markdown.values import Code, Formula, Runs, Table

MOST_CELL, MOST_ROW = 4000, 16_000
"""Characters; a row with a longer cell, or of more, ends the table."""
_BETWEEN_CELLS = re.compile(r"(?<!\\)\|")


class OpenCode:
    """Code after the opening of a fence that is not closed yet."""

    def __init__(self, beginning: Code, opening: str, inside: LongCode | None = None, lead: Lead = NO_LEAD) -> None:
        """`inside` says what it lies in, and `lead` how that is opened anew behind the code."""
        self._beginning = beginning
        self.opening = opening
        self._inside = inside
        self.lead = lead
        self.lines: list[str] = []
        self.length = 0

    def line(self, text: str, *, is_complete: bool) -> str | None:
        """Return what a line of the text says in the code, or None where it stands outside of what the code lies in."""
        if self._inside is None:
            return text
        found = line_inside(self._inside.containers, text, is_complete=is_complete)
        if found is None:
            return None
        spaces = len(found) - len(found.lstrip(" "))
        return found[min(spaces, self._inside.indent) :]

    def add(self, lines: list[str]) -> None:
        """Take over lines that are whole."""
        self.lines += lines
        self.length += sum(len(line) + 1 for line in lines)

    def block(self, last_line: str) -> Code:
        """Return the code with a line that still grows."""
        code = "\n".join([*self.lines, last_line])
        return replace(self._beginning, code=code.removesuffix("\n"))

    def closed_block(self) -> Code | Formula:
        """Return what it is now that its end has come."""
        return math_of(self.block(""), self.opening)


class OpenTable:
    """A table whose rows still come: each is read once."""

    def __init__(self, beginning: Table, head: str) -> None:
        self._beginning = beginning
        self.head = head
        self.rows: list[tuple[Runs, ...]] = []

    def block(self, rows: Sequence[tuple[Runs, ...]]) -> Table:
        """Return the table with some more rows."""
        return replace(self._beginning, rows=(self._beginning.rows[0], *self.rows, *rows))


def long_row_end(rows: str) -> int | None:
    """Return where the first row that is far too long is ended, so that what lies behind is no table any more."""
    start = 0
    for line in rows.split("\n"):
        if len(line) > MOST_CELL and (end := _cell_end(line)) is not None:
            return start + end
        start += len(line) + 1
    return None


def _cell_end(line: str) -> int | None:
    begin = 0
    for bar in _BETWEEN_CELLS.finditer(line):
        if bar.start() - begin > MOST_CELL:
            break
        if bar.start() > MOST_ROW:
            return bar.start()
        begin = bar.end()
    return place_between(line, begin + MOST_CELL) if len(line) - begin > MOST_CELL else None
