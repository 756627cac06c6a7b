"""What the answer says up to the token that the picture of the loop shows: its last tokens alone, in one line."""

from __future__ import annotations

from app.services.inspection import InspectedAnswer
from app.services.loop_values import LoopToken

MOST_TOKENS = 48
"""No more of them is ever shown."""


def last_words(answer: InspectedAnswer | None, written: int, *, has_end: bool = False) -> str:
    """Return how the first so many tokens of an answer end, white space as single spaces; empty where nobody knows it.

    `has_end` says that the answer's last token only ended it: it is no word.
    """
    if answer is None:
        return ""
    end = min(written, len(answer.texts) - has_end)
    text = "".join(each or "" for each in answer.texts[max(end - MOST_TOKENS, 0) : end])
    words = " ".join(text.split())
    return f"…{words}" if words and end > MOST_TOKENS else words


def last_token(answer: InspectedAnswer | None, written: int) -> LoopToken | None:
    """Return the last of the first so many tokens of an answer; None where there is none, and where nobody knows it."""
    if answer is None or not 0 < written <= len(answer.texts):
        return None
    return LoopToken(answer.ids[written - 1], answer.texts[written - 1])
