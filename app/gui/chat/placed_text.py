"""Where the characters of an answer are seen: its blocks under one another, each with the text of its own."""

from __future__ import annotations

from bisect import bisect_right

from PySide6.QtCore import QRectF

from app.gui.chat.laid import Laid
from app.gui.chat.later import Later
from app.gui.chat.read_text import ReadText
from app.gui.chat.stack import Stack
from app.gui.chat.text_view import TextView


class PlacedText(ReadText):
    """A text whose blocks have their places."""

    def __init__(self) -> None:
        super().__init__()
        self._laid: list[Laid] = []
        self._stack = Stack()
        self._reached: set[int] = set()
        """Which blocks have their lines."""

    @property
    def length(self) -> int:
        """How many characters can be read, counted without reading on: what is not read yet has its marks."""
        last = self._laid[-1] if self._laid else None
        return (last.start + last.length if last is not None else 0) + len(self._unread) - self._next

    def release_lines(self) -> None:
        """Drop the lines alone; what is read stays."""
        for index in self._reached:
            self._laid[index].leaf.release()
        self._reached.clear()

    def rects(self, start: int, end: int) -> list[QRectF]:
        """Return where characters are seen, a place for each line; of what is no text nothing."""
        found: list[QRectF] = []
        for index, laid in enumerate(self._laid):
            if start < laid.start + laid.length and end > laid.start and isinstance(laid.leaf, TextView | Later):
                self._prepare(index)
                left, top = laid.indent.left, self._stack.top(index) + laid.gap
                found += [
                    each.translated(left, top) for each in laid.leaf.rects(start - laid.start, end - laid.start)
                ]
        return found

    def bring_into_view(self, start: int, end: int) -> bool:
        """Scroll what is wider than the text until characters are seen in it; return whether anything moved."""
        found = (each for each in self._laid if start < each.start + each.length and end > each.start)
        moved = False
        for laid in found:
            if isinstance(laid.leaf, Later):
                moved |= laid.leaf.bring_into_view(start - laid.start, end - laid.start)
        return moved

    def span_of(self, offset: int) -> tuple[float, float]:
        """Return from which height to which the block goes that a character is in."""
        if not self._laid:
            return 0.0, 0.0
        index = max(bisect_right(self._laid, offset, key=lambda laid: laid.start) - 1, 0)
        self._stack.put(index, self._prepare(index))
        return self._stack.top(index), self._stack.top(index + 1)

    def _prepare(self, index: int) -> float:
        """Measure a block; return its height with the gap above it."""
        raise NotImplementedError
