"""Names that others chose, as they may stand in a row or a sentence without changing what is around them."""

from __future__ import annotations

import unicodedata

REPLACEMENT = "\ufffd"
_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Control and format characters, halves of characters, and ends of lines and paragraphs."""
_JOINERS = "\u200c\u200d"
"""Of the format characters these belong to words and pictures, and turn nothing around."""


def printable(text: str) -> str:
    """Return a text of one line that turns nothing around: what could do that becomes U+FFFD, which is seen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(REPLACEMENT if _is_unsafe(character) else character for character in text)


def _is_unsafe(character: str) -> bool:
    return character not in _JOINERS and unicodedata.category(character) in _CATEGORIES
