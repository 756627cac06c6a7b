"""What Markdown says, as plain values: runs of text in one style, and blocks one under the other.

Nesting is flat: a block carries the lists and quotes around it. Knows no widget, no colour and no parser. None of them
can be part of a circle, so the search for circles leaves them out: with a long answer it would hold up the window.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Frame = Literal["quote", "item"]
Gap = Literal["", "\n", "\n\n"]
Align = Literal["left", "centre", "right"]
INDENT = "  "


class Run(msgspec.Struct, frozen=True, gc=False):
    """Text in one style."""

    text: str
    bold: bool = False
    italic: bool = False
    struck: bool = False
    code: bool = False
    target: str = ""
    """Where a link leads."""
    raised: bool = False
    """Whether it stands above the line and is small, as the number of a footnote does."""
    formula: str = ""
    """LaTeX that is drawn in place of the text, which is the source with its dollars or brackets."""


Runs = tuple[Run, ...]


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a block stands: in which lists and quotes, and how far from the block before it."""

    frames: tuple[Frame, ...] = ()
    marker: str = ""
    """The bullet or number, where the block begins an item of a list."""
    gap: Gap = ""
    """What separates it from the block before, in text: a blank line, a line's end, or nothing."""

    @property
    def prefix(self) -> str:
        """The marker as text, indented as deep as the item lies."""
        if not self.marker:
            return ""
        depth = self.frames.count("item") - len(self.marker.split(" "))
        return f"{INDENT * depth}{self.marker} "


class Paragraph(msgspec.Struct, frozen=True, gc=False):
    """Running text; a level above 0 makes it a heading."""

    runs: Runs
    level: int = 0
    place: Place = Place()

    @property
    def text(self) -> str:
        """What can be read."""
        return self.place.prefix + text_of(self.runs)


class Code(msgspec.Struct, frozen=True, gc=False):
    """A block of code, in the words of its author what language it is."""

    code: str
    language: str = ""
    place: Place = Place()

    @property
    def text(self) -> str:
        """What can be read."""
        return self.place.prefix + self.code


class Table(msgspec.Struct, frozen=True, gc=False):
    """Rows of cells; the first row is the head, and a row may be longer than it."""

    rows: tuple[tuple[Runs, ...], ...]
    aligns: tuple[Align, ...]
    place: Place = Place()

    @property
    def text(self) -> str:
        """What can be read: a line for each row, tabs between cells."""
        return self.place.prefix + "\n".join("\t".join(text_of(cell) for cell in row) for row in self.rows)


class Rule(msgspec.Struct, frozen=True, gc=False):
    """A line from edge to edge."""

    place: Place = Place()

    @property
    def text(self) -> str:
        """What can be read."""
        return self.place.prefix + "---"


class Formula(msgspec.Struct, frozen=True, gc=False):
    """LaTeX on lines of its own."""

    latex: str
    source: str
    """The LaTeX as it was written, with its dollars or brackets."""
    place: Place = Place()

    @property
    def text(self) -> str:
        """What can be read."""
        return self.place.prefix + self.source


Block = Paragraph | Code | Table | Rule | Formula


def text_of(runs: Runs) -> str:
    """Return the text of runs without their styles."""
    return "".join(run.text for run in runs)
