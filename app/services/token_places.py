"""Where the tokens of an answer stand in its text, worked out from what each of them says.

Follows the detokenizer: half characters wait for their rest, control tokens say nothing, and the text may end before the
tokens do, at a stop string or where the rest is held back.
"""

from __future__ import annotations

import codecs
from array import array
from typing import NamedTuple

from app.services.lane_analysis import TextSpan
from app.services.piece_table import PieceTable

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class TokenPlaces(NamedTuple):
    """Places in a text, in characters, of n tokens."""

    starts: tuple[int, ...]
    """n + 1 numbers: where each token begins, and at the end where all that they say ends."""
    ends: tuple[int, ...]
    """n numbers: where each ends; a half character's is that of the whole one."""

    def span(self, token: int) -> TextSpan:
        """Return the stretch of a token; an empty one behind the last."""
        if token >= len(self.ends):
            return TextSpan(self.starts[-1], self.starts[-1])
        return TextSpan(self.starts[token], self.ends[token])

    def spans(self, count: int) -> tuple[TextSpan, ...]:
        """Return the stretches of the first tokens, at most as many as there are."""
        return tuple(map(TextSpan, self.starts[: min(count, len(self.ends))], self.ends[:count]))


def token_places(text: str, ids: bytes, pieces: PieceTable) -> TokenPlaces | None:
    """Return the places of tokens (int32) in the text that they say; None where they are found to say another one."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    starts: list[int] = []
    ends: list[int] = []
    at, is_half = 0, False
    whole: dict[int, str] = {}
    for token in _tokens(ids):
        # Nearly all tokens begin and end with a character: they come up again and again, and need no decoder.
        said = whole.get(token, "")
        if said and not is_half and text.startswith(said, at):
            starts.append(at)
            at += len(said)
            ends.append(at)
            continue
        piece = pieces.piece(token)
        if piece is None:
            return None
        starts.append(at)
        is_between = not is_half
        before = decoder.getstate()
        said = decoder.decode(piece).replace("\x00", "")
        if text.startswith(said, at):
            at += len(said)
        elif _is_cut(text, at, said) and not (before[0] and text[at:] == _REPLACEMENT):
            at = len(text)
        else:
            decoder.setstate(before)  # a control token: it has a name and says nothing
        is_half = bool(decoder.getstate()[0])
        if is_between and not is_half:
            whole[token] = said
        ends.append(min(at + is_half, len(text)))
    if text[at:] == _REPLACEMENT:
        at += 1
    return TokenPlaces((*starts, at), tuple(ends)) if at == len(text) else None


def _is_cut(text: str, at: int, said: str) -> bool:
    """Whether a text ends within what a token says."""
    return len(text) - at < len(said) and said.startswith(text[at:])


def _tokens(ids: bytes) -> array[int]:
    tokens = array("i")
    tokens.frombytes(ids)
    return tokens


def first_difference(one: str, other: str) -> int:
    """Return the first character in which two texts differ, or where the shorter one ends."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least
