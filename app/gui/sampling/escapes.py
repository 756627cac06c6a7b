"""Line breaks and tabs as people type and read them in one line: \\n, \\t, \\r, \\\\ and \\u with four hex digits."""

from __future__ import annotations

import re

_SHOWN = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_MEANT = {"\\": "\\", "n": "\n", "t": "\t", "r": "\r"}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)")


def with_escapes(text: str) -> str:
    """Return a text as it is shown in one line; `without_escapes` gives the text back."""
    return "".join(_SHOWN.get(each) or (each if _fits(each) else f"\\u{ord(each):04x}") for each in text)


def without_escapes(shown: str) -> str:
    """Return the text that is meant; a backslash before anything else means itself."""
    return _ESCAPE.sub(_replace, shown)


def _fits(character: str) -> bool:
    return character == " " or character.isprintable() or ord(character) > 0xFFFF


def _replace(match: re.Match[str]) -> str:
    sign = match[1]
    if len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _MEANT.get(sign, match[0])
