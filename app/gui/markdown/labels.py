"""Footnotes: what their labels look like, and which number each label has."""

from __future__ import annotations

import re

from msgspec.structs import replace

from app.gui.markdown.values import Block, Paragraph, Place, Runs, Table

REFERENCE = re.compile(r"\[\^([^\s\[\]^]{1,100})\]")
DEFINITION = re.compile(REFERENCE.pattern + ":")
_LABEL = re.compile(r"\w[\w.:/+-]*")
_CHARACTER_RANGE = re.compile(r"a-z|A-Z|0-9", re.ASCII)
_MARKER = "[^"


def is_label(text: str) -> bool:
    """Return whether this names a footnote, and is not the inside of a regular expression."""
    return _LABEL.fullmatch(text) is not None and _CHARACTER_RANGE.search(text) is None


def marker_of(label: str) -> str:
    """Return what stands for the number of a definition until that is known."""
    return f"{_MARKER}{label}]"


class Numbers:
    """The numbers of labels, in the order in which they are met; the last ones can be taken back."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._kept = 0

    def keep(self) -> None:
        """Keep what was met up to now."""
        self._kept = len(self._numbers)

    def take_back(self) -> None:
        """Forget what was met since numbers were kept."""
        while len(self._numbers) > self._kept:
            self._numbers.popitem()

    def numbered(self, block: Block) -> Block:
        """Return a block with numbers in place of its labels."""
        if _MARKER in block.place.marker:
            block = replace(block, place=self._place(block.place))
        if isinstance(block, Paragraph) and any(run.raised for run in block.runs):
            return replace(block, runs=self.runs(block.runs))
        if isinstance(block, Table) and any(run.raised for row in block.rows for cell in row for run in cell):
            return replace(block, rows=tuple(self.row(row) for row in block.rows))
        return block

    def row(self, row: tuple[Runs, ...]) -> tuple[Runs, ...]:
        """Return a table's row with numbers in place of its labels."""
        return tuple(self.runs(cell) for cell in row)

    def runs(self, runs: Runs) -> Runs:
        """Return runs with numbers in place of their labels."""
        if not any(run.raised for run in runs):
            return runs
        return tuple(replace(run, text=self._number(run.text)) if run.raised else run for run in runs)

    def _place(self, place: Place) -> Place:
        marks = place.marker.split(" ")
        shown = [f"{self._number(mark[2:-1])}." if mark.startswith(_MARKER) else mark for mark in marks]
        return replace(place, marker=" ".join(shown))

    def _number(self, label: str) -> str:
        # Labels are one whatever their letters' case is.
        return str(self._numbers.setdefault(label.casefold(), len(self._numbers) + 1))
