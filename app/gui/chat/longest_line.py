"""How wide the widest line of some code is, without laying any line out. Knows no widget."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF

from app.gui.chat.piece import TAB_SPACES
from app.gui.chat.text_cuts import PART_CHARACTERS

_WIDEST_SHARE = 3
"""No character outside ASCII is wider than so many of ASCII."""


class LongestLine:
    """The widest line of a text that grows at its end."""

    def __init__(self, font: QFont) -> None:
        self._metrics = QFontMetricsF(font)
        self._advance = max(self._metrics.horizontalAdvance(each) for each in "xW")
        self._open = ""
        """What is there of the last line."""
        self.width = 0.0
        """Width in pixels."""

    def add(self, text: str) -> None:
        """Let the text grow."""
        *ended, last = text.split("\n")
        if ended:
            self._see(self._open + ended[0])
            lines = ended[1:]
            is_simple = text.isascii() and "\t" not in text
            for line in (max(lines, key=len),) if is_simple and lines else lines:
                self._see(line)
            self._open = ""
        # A part of a line that is longer than this begins a line of its own.
        self._open = (self._open + last)[-PART_CHARACTERS:]
        self._see(self._open)

    def _see(self, line: str) -> None:
        line = line[:PART_CHARACTERS]
        characters = len(line) + (TAB_SPACES - 1) * line.count("\t")
        most = characters * self._advance * (1 if line.isascii() else _WIDEST_SHARE)
        if most <= self.width:
            return
        if not line.isascii():
            most = self._metrics.horizontalAdvance(line.replace("\t", " " * TAB_SPACES))
        self.width = max(self.width, most)
