"""Which larger context would hold a prompt that does not fit, and what is said where no larger one helps.

Pure: knows numbers of tokens, no model and no prompt.
"""

from __future__ import annotations

from app.core.model import CONTEXT_STEP, MOST_CONTEXT
from app.core.words import Sentence, translate

ANSWER_ROOM = 512
"""Tokens that a larger context leaves for the answer, where what the model was trained for has room for them."""
_LEAST = 1024


def larger_context(needed: int | None, cells: int, trained: int) -> int | None:
    """Return a context in tokens that holds a prompt of `needed` tokens and an answer, where one larger than `cells` helps.

    It doubles from 1,024 on, up to what the model was `trained` for (0 is unknown). `needed` is None where nobody counted:
    then it is the largest that the model was trained for. None says that the prompt is beyond the training.
    """
    most = trained or MOST_CONTEXT
    if needed is None:
        return min(most, 2 * cells if not trained else most) if most > cells else None
    if needed >= most:  # the answer needs one more
        return None
    wanted = needed + ANSWER_ROOM
    doubled = max(_LEAST, 1 << (wanted - 1).bit_length())
    return max(min(doubled, most), needed + 1)


def in_steps(tokens: int) -> int:
    """Return a number of tokens rounded up to what a context can have."""
    return -(-tokens // CONTEXT_STEP) * CONTEXT_STEP


def beyond_training(trained: int) -> Sentence:
    """Say that a context that would hold the prompt is larger than anything the model was trained for."""
    return translate(
        "LargerContext",
        "The model was trained for {trained} tokens: in a larger context its answers usually fall apart.",
        trained=trained,
    )
