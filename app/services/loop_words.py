"""What the answer says up to the token that the picture of the loop shows: its last tokens alone, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from app.services.inspection import InspectedAnswer
from app.services.loop_values import LoopToken

MOST_TOKENS = 48
"""No more of them is ever shown."""


def last_words(
    answer: InspectedAnswer | None, written: int, *, has_end: bool = False, later: Sequence[str | None] = ()
) -> str:
    """Return how the first so many tokens of an answer end, white space as single spaces; empty where nobody knows it.

    `has_end` says that the answer's last token only ended it: it is no word. `later` are the texts of tokens that came
    since the answer was worked out.
    """
    if answer is None:
        return ""
    known = len(answer.texts)
    end = min(written, known + len(later) - has_end)
    said = (
        *answer.texts[max(end - MOST_TOKENS, 0) : end],
        *later[max(end - MOST_TOKENS - known, 0) : max(end - known, 0)],
    )
    text = "".join(each or "" for each in said)
    words = " ".join(text.split())
    return f"…{words}" if words and end > MOST_TOKENS else words


def last_token(answer: InspectedAnswer | None, written: int) -> LoopToken | None:
    """Return the last of the first so many tokens of an answer; None where there is none, and where nobody knows it."""
    if answer is None or not 0 < written <= len(answer.texts):
        return None
    return LoopToken(answer.ids[written - 1], answer.texts[written - 1])
