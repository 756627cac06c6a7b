"""Stage 7: the bytes of sampled tokens become text, never half a character.

Knows nothing of stops or of how tokens were drawn. A leading space that a SentencePiece vocabulary puts before the
first word stays: the text of an answer is what its pieces say, so that its ids and its text say the same.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable

from app.engine.backend import Vocabulary

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Detokenizer:
    """Turns the tokens of one answer into text, one at a time."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._again = ""

    def resume(self, text: str, ids: Iterable[int]) -> str:
        """Begin where an answer ended; returns its text without a replacement character at the end.

        That one may stand for half a character, and is said again: whole, if the next tokens complete it.
        """
        kept = text.removesuffix(REPLACEMENT)
        said = "".join(map(self.step, ids))
        is_half = bool(self._decoder.getstate()[0])
        if said != kept or is_half != (kept != text):
            self._decoder.reset()
            self._again = text[len(kept) :]
        return kept

    def step(self, token: int) -> str:
        """Return the characters that this token completes; most control tokens have no piece and say nothing."""
        return self._said(self._vocabulary.piece(token), final=False)

    def flush(self) -> str:
        """Return what is left at the end: one replacement character for an unfinished one, else nothing."""
        return self._said(b"", final=True)

    def _said(self, piece: bytes, *, final: bool) -> str:
        again, self._again = self._again, ""
        return again + storable(self._decoder.decode(piece, final))


def storable(text: str) -> str:
    """Return text without NUL characters, which neither prompts nor the store can hold."""
    return text.replace("\x00", "")
