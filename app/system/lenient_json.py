"""Reads JSON of which a part may be unreadable: that part costs itself, and the rest is there.

Knows nothing of settings. Where no value can be told from the next one any more, as without a bracket, it gives up.
"""

from __future__ import annotations

import codecs
import math
import re
from json import JSONDecoder
from typing import Final, NamedTuple

MOST_NESTED = 64
"""Objects and lists in one another; what lies deeper is unreadable."""
LONGEST_INTEGER = 20
"""Characters; more are no number of 64 bits."""

_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SPACE = re.compile(r"[ \t\r\n]*+")
_WORD = re.compile(r'[^ \t\r\n,:\[\]{}"]++')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_PIECE = re.compile(rf'{_STRING.pattern}|[\[\]{{}}]|[^"\[\]{{}}]++', re.DOTALL)
_TEXTS = JSONDecoder(strict=False)
_WORDS = {"true": True, "false": False, "null": None}


class Unread:
    """Stands where a value could not be read; no type of a setting takes it."""


UNREAD: Final = Unread()


class Document(NamedTuple):
    """What could be read, and where it was not what stands there."""

    value: object
    mended: tuple[str, ...]
    """Values with characters that are none, which are U+FFFD now, and those that stand there twice, of which the last
    readable one counts."""


def read(content: bytes) -> Document:
    """Return what can be read; raises `ValueError` where the text cannot be taken apart."""
    reader = _Reader(_text(content))
    value = reader.value("", 0)
    if reader.next() != "":
        raise ValueError("something stands behind the end")
    return Document(value, tuple(dict.fromkeys(reader.mended)))


def mended(text: str) -> str:
    """Return a text that can be written: halves of characters become U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _text(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


class _Reader:
    """Goes through a text once, from value to value."""

    def __init__(self, text: str) -> None:
        self.mended: list[str] = []
        self._text = text
        self._at = 0

    def next(self) -> str:
        """Return the character that comes after white space; empty at the end."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space is not None else self._at
        return self._text[self._at : self._at + 1]

    def value(self, where: str, depth: int) -> object:
        """Read what comes next, an unreadable value included."""
        first = self.next()
        if first in ("{", "["):
            if depth == MOST_NESTED:
                return self._pass_over()
            return self._object(where, depth) if first == "{" else self._list(where, depth)
        if first == '"':
            text, _ = self._string()
            return UNREAD if text is None else self._whole(text, where)
        return _scalar(self._match(_WORD))

    def _object(self, where: str, depth: int) -> dict[str, object]:
        found: dict[str, object] = {}
        self._at += 1
        while self.next() != "}":
            text, raw = self._string()
            own = raw if text is None else text
            key = self._whole(own, f"{where}.{own}" if where else own)
            name = f"{where}.{key}" if where else key
            if self.next() != ":":
                raise ValueError("a key without a value")
            self._at += 1
            value = self.value(name, depth + 1)
            if text is None:
                value = UNREAD
            if key in found:
                self.mended.append(name)
                value = found[key] if value is UNREAD else value
            found[key] = value
            self._to_next("}")
        self._at += 1
        return found

    def _list(self, where: str, depth: int) -> list[object]:
        found: list[object] = []
        self._at += 1
        while self.next() != "]":
            found.append(self.value(where, depth + 1))
            self._to_next("]")
        self._at += 1
        return found

    def _to_next(self, end: str) -> None:
        """Pass over the comma between two values; one before the end is no reason to give up."""
        follows = self.next()
        if follows == ",":
            self._at += 1
        elif follows != end:
            raise ValueError("values that nothing parts")

    def _string(self) -> tuple[str | None, str]:
        """Return a text, None where it cannot be read, and how it stands there."""
        literal = self._match(_STRING)
        try:
            return str(_TEXTS.decode(literal)), literal[1:-1]
        except ValueError:  # an escape that is none
            return None, literal[1:-1]

    def _whole(self, text: str, where: str) -> str:
        whole = mended(text)
        if whole != text:
            self.mended.append(mended(where))
        return whole

    def _match(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise ValueError("something else was to come")
        self._at = found.end()
        return found.group()

    def _pass_over(self) -> Unread:
        """Go behind an object or a list, however deep it is."""
        depth = 0
        while True:
            piece = self._match(_PIECE)
            depth += (piece in ("{", "[")) - (piece in ("}", "]"))
            if depth == 0:
                return UNREAD


def _scalar(word: str) -> object:
    if word in _WORDS:
        return _WORDS[word]
    number = _NUMBER.fullmatch(word)
    if number is None:
        return UNREAD
    if number.group(1) is None and number.group(2) is None:
        return int(word) if len(word) <= LONGEST_INTEGER else UNREAD
    value = float(word)
    return value if math.isfinite(value) else UNREAD
