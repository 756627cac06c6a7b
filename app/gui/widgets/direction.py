"""Which way a paragraph of people's text runs: as its first character that has a direction."""

from __future__ import annotations

import re
import unicodedata

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

_LOOK_AHEAD = 1000
"""A paragraph that begins with so many characters without a direction runs left to right."""
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_ISOLATES, _END_OF_ISOLATE = "\u2066\u2067\u2068", "\u2069"


def runs_right_to_left(text: str, place: int = 0) -> bool:
    """Return whether the paragraph that a place lies in runs right to left; what stands in isolates does not count."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", start, start + _LOOK_AHEAD)
    head = text[start : end if end >= 0 else start + _LOOK_AHEAD]
    if head.isascii() or not _RIGHT_TO_LEFT.search(head):
        return False
    depth = 0
    for character in head:
        if character in _ISOLATES:
            depth += 1
        elif character == _END_OF_ISOLATE:
            depth = max(depth - 1, 0)
        elif not depth and (kind := unicodedata.bidirectional(character)) in ("L", "R", "AL"):
            return kind != "L"
    return False


def follow_direction(edit: QTextEdit | QPlainTextEdit) -> None:
    """Let the lines of a text that is edited begin where it runs from; Qt turns each line, and leaves it on the left."""

    def follow() -> None:
        document = edit.document()  # asked for each time: what Python holds of it can go before the editor does
        side = Qt.AlignmentFlag.AlignRight if runs_right_to_left(_beginning(document)) else Qt.AlignmentFlag.AlignLeft
        option = document.defaultTextOption()
        if option.alignment() != side:
            option.setAlignment(side)
            document.setDefaultTextOption(option)

    edit.document().contentsChanged.connect(follow)


def _beginning(document: QTextDocument) -> str:
    """Return the first paragraph with words."""
    block = document.begin()
    while block.isValid() and not block.text().strip():
        block = block.next()
    return block.text()
