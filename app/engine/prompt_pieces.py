"""Tokenises a prompt piece by piece and remembers where in the text each token comes from.

Knows nothing of messages or templates: it is told the pieces. Put together they give the ids that one call would give
for the whole, as far as the cuts between them allow.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from app.engine.backend import Vocabulary
from app.engine.special_texts import SpecialTexts

ANCHOR = "\x01"
"""A character that no vocabulary joins with its neighbours."""
MOST_UNKNOWN_BYTES = 8
"""Bytes in a row that a vocabulary may have no token for."""


@dataclass(frozen=True)
class _Piece:
    start: int
    end: int
    first: int
    """Index of its first token."""
    text: str
    starts: Sequence[int]
    """Where each of its tokens begins, in bytes of the piece."""


class PromptPieces:
    """The ids of one prompt in the making."""

    def __init__(self, vocabulary: Vocabulary, specials: SpecialTexts) -> None:
        self.ids: list[int] = []
        self._vocabulary = vocabulary
        self._specials = specials
        self._pieces: list[_Piece] = []
        self._said: dict[int, bytes] = {}
        first = vocabulary.tokenize("a", special=False)[:1]
        self._adds_space = bool(first) and vocabulary.piece(first[0]).startswith(b" ")

    def said(self, ids: Sequence[int]) -> bytes:
        """Return the bytes that tokens add to a text."""
        for token in set(ids).difference(self._said):
            self._said[token] = self._vocabulary.piece(token)
        return b"".join(map(self._said.__getitem__, ids))

    def add_text(self, start: int, text: str, *, special: bool) -> None:
        """Append the tokens of a piece of the prompt that begins at character `start`."""
        if not text:
            return
        ids = self._tokenized(text, special)
        self._add(start, text, ids, self._starts(ids, text.encode()))

    def add_ids(self, start: int, text: str, ids: Sequence[int]) -> None:
        """Append tokens as they were sampled, for the piece of the prompt that says the same."""
        self.said(ids)
        lengths = map(len, map(self._said.__getitem__, ids))
        self._add(start, text, ids, list(accumulate(chain((0,), lengths)))[: len(ids)])

    def index_at(self, character: int) -> int:
        """Return the index of the first token that begins at or after a character of the prompt."""
        number = bisect_right(self._pieces, character, key=lambda piece: piece.start) - 1
        if number < 0:
            return 0
        piece = self._pieces[number]
        if character >= piece.end:
            return piece.first + len(piece.starts)
        before = len(piece.text[: character - piece.start].encode())
        return piece.first + bisect_left(piece.starts, before)

    def _add(self, start: int, text: str, ids: Sequence[int], starts: Sequence[int]) -> None:
        self._pieces.append(_Piece(start, start + len(text), len(self.ids), text, starts))
        self.ids += ids

    def _tokenized(self, text: str, special: bool) -> list[int]:
        """Tokenise a piece; SentencePiece puts a space before each text, which is right only after a special token."""
        if self._adds_space and self.ids and self.ids[-1] not in self._specials:
            anchor = self._vocabulary.tokenize(ANCHOR, special=False)
            ids = self._vocabulary.tokenize(ANCHOR + text, special=special)
            if ids[: len(anchor)] == anchor:
                return ids[len(anchor) :]
        return self._vocabulary.tokenize(text, special=special)

    def _starts(self, ids: Sequence[int], data: bytes) -> list[int]:
        """Return where each token begins in the bytes of its piece, spaces before a word not counted."""
        self.said(ids)
        texts = {token: self._specials.text(token).encode() or self._said[token] for token in set(ids)}
        starts = list(accumulate(chain((0,), (len(texts[token]) for token in ids))))
        if starts.pop() != len(data):
            starts = _walked(ids, texts, data) or [len(data) * number // len(ids) for number in range(len(ids))]
        # A space that the template puts before a text is one token with the first word: it counts as the text's.
        indents = {token: len(text) - len(text.lstrip() or text) for token, text in texts.items()}
        return [start + indents[token] for start, token in zip(starts, ids, strict=True)]


def _walked(ids: Sequence[int], texts: dict[int, bytes], data: bytes) -> list[int] | None:
    """Return where tokens begin that add a space, or leave out white space next to special tokens or unknown bytes."""
    starts = []
    at = 0
    for token in ids:
        text = texts[token]
        bare = text.removeprefix(b" ")
        after = len(data) - len(data[at:].lstrip())
        for said, begin in ((text, at), (bare, at), (text, after), (bare, after)):
            if data.startswith(said, begin):
                break
        else:
            said, begin = text, data.find(text, at, at + len(text) + MOST_UNKNOWN_BYTES)
            if begin < 0:
                return None
        starts.append(begin)
        at = begin + len(said)
    return starts
