"""The vocabulary of a script: every byte, four control tokens, and the words that the script wants as one token each.

Knows nothing of the answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

SMALLEST = 512
START, END, USER, ANSWER = 256, 257, 258, 259
FIRST_PIECE = 260
CONTROL_TEXTS = {START: "<|start|>", END: "<|end|>", USER: "<|user|>", ANSWER: "<|answer|>"}
TOKENIZER = "scripted-bytes"
"""Scripts without words of their own have the same vocabulary."""
TEMPLATE = (
    "{% for message in messages %}{{ '<|user|>' if message.role == 'user' else '<|answer|>' }}"
    "{{ message.content }}<|end|>{% endfor %}{% if add_generation_prompt %}<|answer|>{% endif %}"
)


class ScriptedVocabulary:
    """Bytes, control tokens and pieces as tokens; of two pieces that fit the longer one is taken."""

    def __init__(self, template: str | None, pieces: Sequence[str] = ()) -> None:
        self._pieces = [piece.encode() for piece in dict.fromkeys(pieces) if piece]
        control = {name.encode(): token for token, name in CONTROL_TEXTS.items()}
        self._tokens = control | {piece: FIRST_PIECE + number for number, piece in enumerate(self._pieces)}
        self._parts, self._parts_and_control = _either(self._pieces), _either([*control, *self._pieces])
        self.size = max(SMALLEST, FIRST_PIECE + len(self._pieces))
        self.name = TOKENIZER
        """Names what the tokens say."""
        if self._pieces:
            self.name += "-" + hashlib.sha256(b"\0".join(self._pieces)).hexdigest()
        self.bos: int | None = START
        self.eos: int | None = END
        self.add_bos = True
        self._template = template

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Return the pieces and bytes of a text; `special` finds control tokens."""
        data, tokens = text.encode(), self._tokens
        if not special and not self._pieces:
            return list(data)
        parts = (self._parts_and_control if special else self._parts).findall(data)
        return [tokens[part] if part in tokens else part[0] for part in parts]

    def piece(self, token: int) -> bytes:
        """Return the bytes of a token; a control token has none."""
        if token < START:
            return bytes([token])
        number = token - FIRST_PIECE
        return self._pieces[number] if 0 <= number < len(self._pieces) else b""

    def token_text(self, token: int) -> str:
        """Return a token's text, control tokens included."""
        return CONTROL_TEXTS.get(token) or self.piece(token).decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Return whether generation ends at this token."""
        return token == END

    def special_texts(self) -> list[tuple[int, str, bool]]:
        """Return (id, text, is_control) of the control tokens."""
        return [(token, text, True) for token, text in CONTROL_TEXTS.items()]

    def chat_template(self, name: str | None = None) -> str | None:
        """Return the script's template."""
        return self._template


def _either(texts: Sequence[bytes]) -> re.Pattern[bytes]:
    """Return what finds these texts, the longest that fits, and else single bytes."""
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(b"|".join([*map(re.escape, longest_first), b"."]), re.DOTALL)
