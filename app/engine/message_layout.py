"""Where each message lies in a rendered prompt: found by a second render with every text between two marks.

Knows nothing of Jinja or of tokens. Nothing is searched: the marked render without its marks must say what the plain
one says, up to white space at the seams. Where it does not, the whole stretch may be anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from app.engine.message_marks import Marks, Piece

MORE_RENDERS = 2
"""How often a conversation whose texts were cut is rendered again with what is left of them."""

Written = Callable[[int, str], str]
"""What is written for a message: its number and its text give the text that the template gets."""


@dataclass(frozen=True)
class MessageSpan:
    """A stretch of the prompt, in characters, that is the text of one message."""

    start: int
    end: int
    message: int
    cut_start: bool = False
    """The template cut the text here: what it has in common with the template's own text may be of either."""
    cut_end: bool = False
    is_thinking: bool = False
    """All of it is the message's thinking, which the template puts apart."""


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


def unknown_layout(plain: str, among: Collection[int]) -> Layout:
    """Return the layout when there is no marked render: each of these messages may lie anywhere."""
    everything = DoubtfulStretch(0, len(plain), tuple(among))
    return Layout((), (everything,), frozenset(), exact=False)


def find_layout(plain: str, marks: Marks, among: Collection[int], render: Callable[[Written], str | None]) -> Layout:
    """Return where these messages lie in a plain render; `render` gives a marked one, or None where that fails.

    A template that cuts texts, such as the thinking out of earlier answers, is asked again with what is left of them:
    if it says the same, nothing of the rest came out elsewhere.
    """
    marked = render(marks.marked)
    if marked is None:
        return unknown_layout(plain, among)
    pieces = list(marks.pieces(marked))
    layout = _layout(plain, pieces, marks, among)
    rest = _rest(pieces) | dict.fromkeys(layout.left_out, "")
    for _ in range(MORE_RENDERS if layout.exact and rest else 0):
        again = render(lambda message, text, rest=rest: marks.marked(message, rest.get(message, text)))  # type: ignore[misc]
        if again is None:
            break
        new_pieces = list(marks.pieces(again))
        new = _layout(plain, new_pieces, marks, among)
        if new.exact and not _rest(new_pieces) and new.left_out <= rest.keys():
            gone = {message for message, text in rest.items() if not text.strip()}
            doubtful = tuple(each for each in new.doubtful if not gone.issuperset(each.messages))
            return replace(new, doubtful=doubtful, left_out=layout.left_out)
        shorter = _without_seams(rest, pieces, new_pieces)
        if shorter == rest:
            break
        rest = shorter
    return layout


def _layout(plain: str, pieces: Sequence[Piece], marks: Marks, among: Collection[int]) -> Layout:
    """Return the layout that the pieces of one marked render give."""
    came_out = {piece.message for piece in pieces}
    left_out = frozenset(message for message in among if message in marks and message not in came_out)
    places, exact = _placed(plain, pieces)
    spans = []
    doubtful = []
    for piece, place in zip(pieces, places, strict=True):
        if place is None or place[0] == place[1]:
            continue
        if piece.message >= 0:
            spans.append(MessageSpan(*place, piece.message, piece.cut_start, piece.cut_end))
        elif piece.near:
            doubtful.append(DoubtfulStretch(*place, piece.near))
    doubtful += _gaps(len(plain), pieces, places)
    doubtful += [_expected(message, spans, len(plain)) for message in left_out]
    return Layout(tuple(spans), tuple(doubtful), left_out, exact)


def _rest(pieces: Sequence[Piece]) -> dict[int, str]:
    """Return what is left of each message that was cut."""
    return {piece.message: piece.text for piece in pieces if piece.cut_start or piece.cut_end}


def _without_seams(rest: Mapping[int, str], old: Sequence[Piece], new: Sequence[Piece]) -> dict[int, str]:
    """Return the rests without what turned out to be the template's own, which only looked like the text's."""
    shorter = {}
    for message, text in rest.items():
        before, after = _neighbours(message, old), _neighbours(message, new)
        start = after[0].removeprefix(before[0]) if after[0].startswith(before[0]) else ""
        end = after[1].removesuffix(before[1]) if after[1].endswith(before[1]) else ""
        shorter[message] = text.removeprefix(start).removesuffix(end)
    return shorter


def _neighbours(message: int, pieces: Sequence[Piece]) -> tuple[str, str]:
    """Return the texts before and after a message."""
    texts = ["", *(piece.text for piece in pieces), ""]
    at = next((number for number, piece in enumerate(pieces, 1) if piece.message == message), None)
    return ("", "") if at is None else (texts[at - 1], texts[at + 1])


_Place = tuple[int, int]


def _placed(plain: str, pieces: Sequence[Piece]) -> tuple[list[_Place | None], bool]:
    """Return the place of each piece in the plain render: from the front, and where that ends, from the back."""
    front = _aligned(plain, pieces)
    if len(front) == len(pieces) and front[-1][1] == len(plain):
        return list(front), True
    if len(front) == len(pieces):
        front.pop()
    turned = [Piece(piece.text[::-1], piece.message) for piece in reversed(pieces[len(front) :])]
    reached = front[-1][1] if front else 0
    back = [
        (len(plain) - end, len(plain) - start)
        for start, end in _aligned(plain[::-1], turned)
        if len(plain) - end >= reached
    ]
    back = back[: len(pieces) - len(front) - 1]
    missing = len(pieces) - len(front) - len(back)
    return [*front, *[None] * missing, *reversed(back)], False


def _aligned(plain: str, pieces: Sequence[Piece]) -> list[_Place]:
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


def _end_of(plain: str, at: int, piece: Piece, following: str | None) -> int | None:
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


def _gaps(length: int, pieces: Sequence[Piece], places: Sequence[_Place | None]) -> Iterable[DoubtfulStretch]:
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
