"""Stage 7: the bytes of sampled tokens become text, never half a character.

Knows nothing of stops or of how tokens were drawn. A leading space that a SentencePiece vocabulary puts before the
first word stays: the text of an answer is what its pieces say, so that its ids and its text say the same.
"""

from __future__ import annotations

import codecs

from app.engine.backend import Vocabulary


class Detokenizer:
    """Turns the tokens of one answer into text, one at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def step(self, token: int) -> str:
        """Return the characters that this token completes; control tokens have no piece and say nothing."""
        return storable(self._decoder.decode(self._vocabulary.piece(token)))

    def flush(self) -> str:
        """Return what is left at the end: one replacement character for an unfinished one, else nothing."""
        return storable(self._decoder.decode(b"", final=True))


def storable(text: str) -> str:
    """Return text without NUL characters, which neither prompts nor the store can hold."""
    return text.replace("\x00", "")
