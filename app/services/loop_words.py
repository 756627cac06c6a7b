"""What the answer says up to the token that the picture of the loop shows: its last tokens alone, in one line."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from app.services.inspection import InspectedAnswer
from app.services.loop_values import LoopToken

MOST_TOKENS = 48
"""No more of them is ever shown."""
_LONGEST_REST = 3
"""Bytes of a character without its first one."""


def last_words(
    answer: InspectedAnswer | None, written: int, *, has_end: bool = False, later: Sequence[bytes | None] = ()
) -> str:
    """Return how the first so many tokens of an answer end, white space as single spaces; empty where nobody knows it.

    `has_end` says that the answer's last token only ended it: it is no word. `later` are the bytes of tokens that came
    since the answer was worked out. A character that is not whole yet is left out, as in the chat.
    """
    if answer is None:
        return ""
    known = len(answer.pieces)
    end = min(written, known + len(later) - has_end)
    said = (
        *answer.pieces[max(end - MOST_TOKENS, 0) : end],
        *later[max(end - MOST_TOKENS - known, 0) : max(end - known, 0)],
    )
    words = " ".join(_decoded(b"".join(each or b"" for each in said), is_cut=end > MOST_TOKENS).split())
    return f"…{words}" if words and end > MOST_TOKENS else words


def _decoded(data: bytes, *, is_cut: bool) -> str:
    """Return what bytes say, without the rest of a character that begins before them, and one that ends behind them."""
    start = 0
    while is_cut and start < min(_LONGEST_REST, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data[start:])


def last_token(answer: InspectedAnswer | None, written: int) -> LoopToken | None:
    """Return the last of the first so many tokens of an answer; None where there is none, and where nobody knows it."""
    if answer is None or not 0 < written <= len(answer.texts):
        return None
    return LoopToken(answer.ids[written - 1], answer.texts[written - 1])
