"""Marks around the texts of messages, and what a template makes of them: the pieces of a marked render.

Knows nothing of Jinja or of tokens. A mark is a private-use character that occurs nowhere else; each message has two
of its own, so that a text which a template puts twice, moves, cuts or leaves out is still known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_FIRST, _LAST = 0xF0000, 0xFFFFD
# The private-use plane in UTF-8: bytes are searched several times faster than characters.
_PRIVATE = re.compile(rb"\xf3[\xb0-\xbf][\x80-\xbf]{2}")


@dataclass(frozen=True)
class Piece:
    """A piece of a marked render: a message's text, or (-1) the template's, which `near` may have leaked into."""

    text: str
    message: int = -1
    near: tuple[int, ...] = ()
    cut_start: bool = False
    cut_end: bool = False


class Marks:
    """The marks of one conversation."""

    def __init__(self, texts: Mapping[int, str], source: str) -> None:
        self._texts = {message: text for message, text in texts.items() if text.strip()}
        used = {
            found.decode() for text in (source, *self._texts.values()) for found in _PRIVATE.findall(_bytes(text))
        }
        free = (chr(point) for point in range(_FIRST, _LAST + 1) if chr(point) not in used)
        self._pairs = dict(zip(self._texts, zip(free, free, strict=False), strict=False))
        self._opens = {pair[0]: message for message, pair in self._pairs.items()}
        self._closes = {pair[1]: message for message, pair in self._pairs.items()}

    def __contains__(self, message: int) -> bool:
        return message in self._pairs

    def marked(self, message: int, text: str) -> str:
        """Return a message's text between its marks; blank text has none, since templates ask for blankness."""
        if message not in self._pairs or not text.strip():
            return text
        opening, closing = self._pairs[message]
        return f"{opening}{text}{closing}"

    def pieces(self, marked: str) -> Iterator[Piece]:
        """Cut a marked render at its marks: pieces of the template and of messages, the last one the template's."""
        data = _bytes(marked)
        start = 0
        opened: int | None = None
        for mark in _PRIVATE.finditer(data):
            character = mark.group().decode()
            if character not in self._opens and character not in self._closes:
                continue
            yield from self._between(_text(data[start : mark.start()]), opened, self._closes.get(character))
            opened = self._opens.get(character)
            start = mark.end()
        yield from self._between(_text(data[start:]), opened, None)

    def _between(self, text: str, opened: int | None, closed: int | None) -> Iterator[Piece]:
        """Cut what lies between two marks: a whole message, or what is left of one next to the template's text."""
        if opened is not None and opened == closed:
            yield Piece(text, opened)
            return
        near = tuple(message for message in (opened, closed) if message is not None)
        head = _common_start(text, self._texts[opened]) if opened is not None else 0
        rest = text[head:]
        tail = _common_start(rest[::-1], self._texts[closed][::-1]) if closed is not None else 0
        if opened is not None:
            yield Piece(text[:head], opened, cut_end=True)
        yield Piece(rest[: len(rest) - tail], near=near)
        if closed is not None:
            yield Piece(rest[len(rest) - tail :], closed, cut_start=True)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _common_start(text: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.startswith(other[low:middle], low) else (low, middle - 1)
    return low
