"""Text fields whose lines are all wrapped never scroll sideways."""

from __future__ import annotations

from PySide6.QtWidgets import QPlainTextEdit


def keep_line_starts(edit: QPlainTextEdit) -> None:
    """Show every line from its first letter on.

    Qt takes a space at the end of a full line for a wider text, scrolls to it and cuts the first letters of all lines.
    """
    bar = edit.horizontalScrollBar()
    bar.rangeChanged.connect(lambda _least, _most: bar.setRange(0, 0))
    bar.setRange(0, 0)
