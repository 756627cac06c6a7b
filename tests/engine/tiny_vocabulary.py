"""A vocabulary in pure Python for tests: bytes as tokens, and whatever special tokens a test wants.

It parses special tokens as llama.cpp does: the longest first, control tokens only when asked, user-defined ones always.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

FIRST_SPECIAL = 256
START, END = "<|im_start|>", "<|im_end|>"
CHATML_TOKENS = ((START, True), (END, True))


class TinyVocabulary:
    """Byte tokens 0 to 255, then (text, is_control) as they are given, then pieces of any bytes."""

    def __init__(
        self,
        specials: Sequence[tuple[str, bool]] = CHATML_TOKENS,
        *,
        pieces: Sequence[bytes] = (),
        bos: str | None = None,
        eos: str | None = END,
        add_bos: bool = False,
        template: str | None = None,
    ) -> None:
        self._specials = {FIRST_SPECIAL + number: each for number, each in enumerate(specials)}
        self._ids = {text: token for token, (text, _) in self._specials.items()}
        self._pieces = dict(enumerate(pieces, FIRST_SPECIAL + len(specials)))
        self.size = FIRST_SPECIAL + len(specials) + len(pieces)
        self.bos = None if bos is None else self._ids[bos]
        self.eos = self._ids.get(eos) if eos is not None else None
        self.add_bos = add_bos
        self._template = template
        self.calls: list[tuple[str, bool]] = []

    def id(self, text: str) -> int:
        """Return the id of a special token."""
        return self._ids[text]

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the ids of a text."""
        self.calls.append((text, special))
        parsed = [name for token, (name, is_control) in self._specials.items() if special or not is_control]
        if not parsed:
            return list(text.encode())
        longest_first = sorted(parsed, key=len, reverse=True)
        parts = re.split("(" + "|".join(map(re.escape, longest_first)) + ")", text)
        return [token for part in parts for token in ([self._ids[part]] if part in parsed else part.encode())]

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token; none for a control token."""
        if token < FIRST_SPECIAL:
            return bytes([token])
        if token in self._pieces:
            return self._pieces[token]
        text, is_control = self._specials[token]
        return b"" if is_control else text.encode()

    def is_end(self, token: int) -> bool:
        """Return whether generation ends at this token."""
        return token == self.eos

    def is_control(self, token: int) -> bool:
        """Return whether the token is a control token."""
        return token in self._specials and self._specials[token][1]

    def special_texts(self) -> list[tuple[int, str, bool]]:
        """Return the special tokens."""
        return [(token, text, is_control) for token, (text, is_control) in self._specials.items()]

    def chat_template(self, name: str | None = None) -> str | None:
        """Return the template that the test gave."""
        return self._template
