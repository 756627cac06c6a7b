"""Where each message lies in a rendered prompt: found by a second render with every text between two marks.

Knows nothing of Jinja or of tokens. A mark is a private-use character that occurs nowhere else; each message has two
of its own, so that a text which a template puts twice, moves, cuts or leaves out is still known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

_FIRST, _LAST = 0xF0000, 0xFFFFD
# The private-use plane in UTF-8: bytes are searched several times faster than characters.
_PRIVATE = re.compile(rb"\xf3[\xb0-\xbf][\x80-\xbf]{2}")


@dataclass(frozen=True)
class MessageSpan:
    """A stretch of the prompt, in characters, that is the text of one message."""

    start: int
    end: int
    message: int
    cut_start: bool = False
    """The template cut the text here: what it has in common with the template's own text may be of either."""
    cut_end: bool = False


@dataclass(frozen=True)
class DoubtfulStretch:
    """A stretch of the prompt that may hold text of these messages, nobody knows where."""

    start: int
    end: int
    messages: tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """Where the messages lie in a prompt."""

    spans: tuple[MessageSpan, ...]
    doubtful: tuple[DoubtfulStretch, ...]
    left_out: frozenset[int]
    """Messages of which nothing came out."""
    exact: bool
    """Whether the marked render said the same as the plain one."""


@dataclass(frozen=True)
class _Piece:
    """A piece of the marked render: a message's text, or (-1) the template's, which `near` may have leaked into."""

    text: str
    message: int = -1
    near: tuple[int, ...] = ()
    cut: tuple[bool, bool] = (False, False)


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

    def marked(self, message: int, text: str) -> str:
        """Return a message's text between its marks; blank text has none, since templates ask for blankness."""
        if message not in self._pairs:
            return text
        opening, closing = self._pairs[message]
        return f"{opening}{text}{closing}"

    def layout(self, plain: str, marked: str, among: Collection[int]) -> Layout:
        """Return where these messages lie in the plain render."""
        pieces = list(self._pieces(_bytes(marked)))
        came_out = {piece.message for piece in pieces}
        left_out = frozenset(message for message in among if message in self._pairs and message not in came_out)
        places, exact = _placed(plain, pieces)
        spans = []
        doubtful = []
        for piece, place in zip(pieces, places, strict=True):
            if place is None or place[0] == place[1]:
                continue
            if piece.message >= 0:
                spans.append(MessageSpan(*place, piece.message, *piece.cut))
            elif piece.near:
                doubtful.append(DoubtfulStretch(*place, piece.near))
        doubtful += _gaps(len(plain), pieces, places)
        doubtful += [_expected(message, spans, len(plain)) for message in left_out]
        return Layout(tuple(spans), tuple(doubtful), left_out, exact)

    def unknown(self, plain: str, among: Collection[int]) -> Layout:
        """Return the layout when there is no marked render: each of these messages may lie anywhere."""
        everything = DoubtfulStretch(0, len(plain), tuple(among))
        return Layout((), (everything,), frozenset(), exact=False)

    def _pieces(self, marked: bytes) -> Iterator[_Piece]:
        """Cut the marked render at its marks."""
        start = 0
        opened: int | None = None
        for mark in _PRIVATE.finditer(marked):
            character = mark.group().decode()
            if character not in self._opens and character not in self._closes:
                continue
            text = _text(marked[start : mark.start()])
            yield from self._between(text, opened, self._closes.get(character))
            opened = self._opens.get(character)
            start = mark.end()
        yield from self._between(_text(marked[start:]), opened, None)

    def _between(self, text: str, opened: int | None, closed: int | None) -> Iterator[_Piece]:
        """Cut what lies between two marks: a whole message, or what is left of one next to the template's text."""
        if opened is not None and opened == closed:
            yield _Piece(text, opened)
            return
        near = tuple(message for message in (opened, closed) if message is not None)
        head = _common_start(text, self._texts[opened]) if opened is not None else 0
        rest = text[head:]
        tail = _common_start(rest[::-1], self._texts[closed][::-1]) if closed is not None else 0
        if opened is not None:
            yield _Piece(text[:head], opened, cut=(False, True))
        yield _Piece(rest[: len(rest) - tail], near=near)
        if closed is not None:
            yield _Piece(rest[len(rest) - tail :], closed, cut=(True, False))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


_Place = tuple[int, int]


def _placed(plain: str, pieces: Sequence[_Piece]) -> tuple[list[_Place | None], bool]:
    """Return the place of each piece in the plain render: from the front, and where that ends, from the back."""
    front = _aligned(plain, pieces)
    if len(front) == len(pieces) and front[-1][1] == len(plain):
        return list(front), True
    if len(front) == len(pieces):
        front.pop()
    turned = [_Piece(piece.text[::-1], piece.message) for piece in reversed(pieces[len(front) :])]
    reached = front[-1][1] if front else 0
    back = [
        (len(plain) - end, len(plain) - start)
        for start, end in _aligned(plain[::-1], turned)
        if len(plain) - end >= reached
    ]
    back = back[: len(pieces) - len(front) - 1]
    missing = len(pieces) - len(front) - len(back)
    return [*front, *[None] * missing, *reversed(back)], False


def _aligned(plain: str, pieces: Sequence[_Piece]) -> list[_Place]:
    """Return the places of as many pieces as follow one another in the plain render, up to white space at seams."""
    places: list[_Place] = []
    at = 0
    for number, piece in enumerate(pieces):
        following = pieces[number + 1].text if number + 1 < len(pieces) else None
        end = _end_of(plain, at, piece, following)
        if end is None:
            break
        places.append((at, end))
        at = end
    return places


def _end_of(plain: str, at: int, piece: _Piece, following: str | None) -> int | None:
    """Return where a piece that begins at `at` ends, or None if it is not there."""
    if piece.message < 0:
        return at + len(piece.text) if plain.startswith(piece.text, at) else None
    core = piece.text.strip()
    begin = _skip_space(plain, at) if core else at
    if not plain.startswith(core, begin):
        return None
    bare = begin + len(core)
    trailing = piece.text[len(piece.text.rstrip()) :] if core else piece.text
    after = _skip_space(plain, bare)
    if following is None:
        return after
    lead = len(following) - len(following.lstrip())
    ends = [bare + len(trailing)] if plain.startswith(trailing, bare) else []
    ends += [end for end in (after - lead, bare) if end >= bare]
    return next((end for end in ends if plain.startswith(following, end)), ends[-1])


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _common_start(text: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text.startswith(other[low:middle], low) else (low, middle - 1)
    return low


def _gaps(length: int, pieces: Sequence[_Piece], places: Sequence[_Place | None]) -> Iterable[DoubtfulStretch]:
    """Yield the stretch between the pieces that were found: it may hold every message that was not."""
    missing = [number for number, place in enumerate(places) if place is None]
    if not missing:
        return
    before = places[missing[0] - 1] if missing[0] else None
    after = places[missing[-1] + 1] if missing[-1] + 1 < len(places) else None
    messages = {pieces[number].message for number in missing} | {
        near for number in missing for near in pieces[number].near
    }
    start, end = before[1] if before else 0, after[0] if after else length
    yield DoubtfulStretch(start, end, tuple(sorted(messages - {-1})))


def _expected(message: int, spans: Sequence[MessageSpan], length: int) -> DoubtfulStretch:
    """Return the stretch between the neighbours of a message that seems to be left out."""
    start = max((span.end for span in spans if span.message < message), default=0)
    end = min((span.start for span in spans if span.message > message), default=length)
    return DoubtfulStretch(start, max(start, end), (message,))
