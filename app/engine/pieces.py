"""What tokens say, as bytes: for whoever shows single tokens and wants control tokens named too.

Touches the vocabulary alone, so that it may run beside the loop; must not know who asks.
"""

from __future__ import annotations

from array import array
from itertools import accumulate

from app.core.conversation import Pieces
from app.engine.backend import Vocabulary

MOST_PIECES = 8_192
"""At most so many tokens are told at once: whoever counts tokens meanwhile waits no longer than that."""


def end_tokens(vocabulary: Vocabulary) -> tuple[int, ...]:
    """Return the tokens at which an answer ends, in order: llama.cpp makes control tokens of all of them."""
    return tuple(
        token for token, _, is_control in vocabulary.special_texts() if is_control and vocabulary.is_end(token)
    )


def pieces_of(vocabulary: Vocabulary, tokenizer: str, first: int, count: int) -> Pieces:
    """Return the bytes of some tokens as the detokenizer gives them, and the names of control tokens.

    Beyond the vocabulary there is nothing; of more than `MOST_PIECES` the first are told.
    """
    first = min(max(first, 0), vocabulary.size)
    end = min(first + min(max(count, 0), MOST_PIECES), vocabulary.size)
    names = {token: text.encode() for token, text, is_control in vocabulary.special_texts() if is_control}
    pieces = [vocabulary.piece(token) or names.get(token, b"") for token in range(first, end)]
    ends = array("I", accumulate(map(len, pieces)))
    return Pieces(tokenizer, first, ends.tobytes(), b"".join(pieces))
