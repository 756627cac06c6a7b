"""Tables on a terminal: cells in columns, none so long or so odd that it takes the table apart."""

from __future__ import annotations

from collections.abc import Sequence

from app.cli.terminal import one_line

MOST_CELL = 200
"""Characters; of what is longer the beginning is printed, and how long it is."""


_LEAST_CELL = 12
"""Characters: shorter ones tell nothing."""


def cell(text: str) -> str:
    """Return a text as it may stand in a table."""
    if len(text) <= MOST_CELL:
        return one_line(text)
    return f"{one_line(text[:MOST_CELL])}… ({len(text):,} characters)"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int | None = None) -> list[str]:
    """Return the lines of a table with its head; `most` characters a line shorten the longest texts in their middle."""
    cells = [[cell(text) for text in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    while most is not None and sum(widths) + 2 * (len(widths) - 1) > most and max(widths) > _LEAST_CELL:
        widths[widths.index(max(widths))] -= 1
    cells = [[_shortened(text, width) for text, width in zip(row, widths, strict=True)] for row in cells]
    return ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def _shortened(text: str, most: int) -> str:
    """Names differ at their ends as often as at their beginnings."""
    if len(text) <= most:
        return text
    after = most // 2
    return f"{text[: most - after - 1]}…{text[len(text) - after :]}"
