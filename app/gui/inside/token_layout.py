"""Where the tokens of an answer stand as they are read: in rows, words whole where they fit, line ends shown and broken.

A token is one piece, or several where a line ends in it or where it is wider than a row. Pure geometry: rows are all as
high, widths are told by whoever knows the font.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence

from app.gui.widgets.token_words import LINE_END, visible

_TAB_SPACES = "    "
GAP_PX = 1.0
"""Between two tokens."""


class TokenLayout:
    """The pieces of tokens in reading order, a column a field; it grows at its end."""

    def __init__(self, measure: Callable[[str], float], width: float) -> None:
        """`measure` returns the width of a text in one line, `width` is how wide rows are; both in pixels."""
        self._measure = measure
        self._widths: dict[str, float] = {}
        self.width = max(width, 1.0)
        self.owners: list[int] = []
        """Of each piece: the token."""
        self.texts: list[str] = []
        self.lefts: list[float] = []
        self.widths: list[float] = []
        self.starts: list[int] = [0]
        """Of each row: its first piece."""
        self.firsts: list[int] = []
        """Of each token: its first piece."""
        self._right = 0.0
        """Where the next piece would begin."""
        self._word = 0
        """The first piece of the word that may still grow."""
        self._ends_row = False

    @property
    def rows(self) -> int:
        """How many rows there are; an empty answer has none."""
        return len(self.starts) if self.owners else 0

    def extend(self, tokens: Sequence[tuple[int, str | None]]) -> None:
        """Add tokens: the number of each, and what it says if anybody knows."""
        for number, text in tokens:
            token = len(self.firsts)
            self.firsts.append(len(self.owners))
            for part in _parts(text or f"[{number}]"):
                self._add(token, part)

    def pieces(self, row: int) -> range:
        """Return the pieces of a row."""
        end = self.starts[row + 1] if row + 1 < len(self.starts) else len(self.owners)
        return range(self.starts[row], end)

    def pieces_of(self, token: int) -> range:
        """Return the pieces of a token."""
        end = self.firsts[token + 1] if token + 1 < len(self.firsts) else len(self.owners)
        return range(self.firsts[token], end)

    def row_of(self, token: int) -> int:
        """Return the row in which a token begins."""
        return bisect_right(self.starts, self.firsts[token]) - 1

    def middle_of(self, token: int) -> float:
        """Return the middle of a token's first piece."""
        first = self.firsts[token]
        return self.lefts[first] + self.widths[first] / 2

    def token_at(self, row: int, x: float) -> int | None:
        """Return the token under a place; None where there is none."""
        if not 0 <= row < self.rows:
            return None
        for piece in self.pieces(row):
            if self.lefts[piece] <= x < self.lefts[piece] + self.widths[piece] + GAP_PX:
                return self.owners[piece]
        return None

    def nearest(self, row: int, x: float) -> int:
        """Return the token of a row that is nearest to a place."""
        pieces = self.pieces(min(max(row, 0), self.rows - 1))
        best = min(pieces, key=lambda piece: abs(self.lefts[piece] + self.widths[piece] / 2 - x))
        return self.owners[best]

    def _add(self, token: int, text: str) -> None:
        if self._ends_row:
            self._break()
        self._ends_row = text.endswith(LINE_END)
        width, whole, rows = self._width(text), text, len(self.starts)
        while width > self.width and len(text) > 1:  # wider than any row: it goes on in the next one
            room = max(int(len(text) * self.width / width), 1)
            if self._right > 0:
                self._break()
            self._put(token, text[:room], self._width(text[:room]))
            text = text[room:]
            width = self._width(text)
        if self.begins_word(text):
            self._word = len(self.owners)
        if self._right > 0 and self._right + width > self.width:
            self._wrap()
            if self._right > 0 and self._right + width > self.width:
                self._break()
        if self._right == 0 and len(self.starts) > rows and text == whole:  # the row before is full
            text = _without_space(text)
            width = self._width(text)
        self._put(token, text, width)

    @staticmethod
    def begins_word(text: str) -> bool:
        """Return whether a row may end before a text."""
        return not text or text[0].isspace() or text[0] == LINE_END

    def _put(self, token: int, text: str, width: float) -> None:
        self.owners.append(token)
        self.texts.append(text)
        self.lefts.append(self._right)
        self.widths.append(width)
        self._right += width + GAP_PX

    def _break(self) -> None:
        """Begin a row."""
        self.starts.append(len(self.owners))
        self._right = 0.0
        self._word = len(self.owners)

    def _wrap(self) -> None:
        """Begin a row with the word that does not fit, unless that has a row of its own already."""
        word = self._word
        if word <= self.starts[-1]:
            self._break()
            return
        self.starts.append(word)
        self._right = 0.0
        if word < len(self.texts):
            self.texts[word] = _without_space(self.texts[word])
            self.widths[word] = self._width(self.texts[word])
        for piece in range(word, len(self.owners)):
            self.lefts[piece] = self._right
            self._right += self.widths[piece] + GAP_PX

    def _width(self, text: str) -> float:
        width = self._widths.get(text)
        if width is None:
            width = self._widths[text] = self._measure(text)
        return width


def _without_space(text: str) -> str:
    """Return what is shown of a token that begins a row because the one before is full: its space was the break."""
    shorter = text.removeprefix(" ")
    return shorter if shorter.strip() and not shorter.startswith(" ") else text


def _parts(text: str) -> list[str]:
    """Return what is written of a token: line ends as signs, each at the end of a part, tabs as spaces."""
    if text.isprintable():
        return [text]
    plain = text.replace("\r\n", "\n").replace("\t", _TAB_SPACES)
    lines = plain.split("\n")
    shown = ["".join(each if each.isprintable() else visible(each) for each in line) for line in lines]
    parts = [f"{line}{LINE_END}" for line in shown[:-1]]
    return [*parts, shown[-1]] if shown[-1] or not parts else parts
