"""Tables on a terminal: cells in columns, none so long or so odd that it takes the table apart."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.terminal import one_line

MOST_CELL = 200
"""Characters; of what is longer the beginning is printed, and how long it is."""


def cell(text: str) -> str:
    """Return a text as it may stand in a table."""
    if len(text) <= MOST_CELL:
        return one_line(text)
    return f"{one_line(text[:MOST_CELL])}… ({len(text):,} characters)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with its head."""
    cells = [[cell(text) for text in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]
