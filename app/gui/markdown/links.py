"""Which addresses are links: those of the web and of mail, and nothing that names a file or a program."""

from __future__ import annotations

import re

_SCHEMES = ("http://", "https://", "mailto:")
_BARE = re.compile(
    r"(?:https?://|(?<![\w/.@-])www\.(?=[^\W_]))[^\s<>\"'`\\]+"
    r"|(?<![\w.+-])(?:mailto:)?[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,63}(?![\w@-])",
    re.IGNORECASE,
)
_BEHIND = ".,;:!?*_~…"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def is_link(address: str) -> bool:
    """Return whether an address may be opened."""
    scheme = next((scheme for scheme in _SCHEMES if address.lower().startswith(scheme)), None)
    return scheme is not None and len(address) > len(scheme) and not any(ord(each) < 32 for each in address)


def may_hold_links(text: str) -> bool:
    """Return whether a text has what every bare address has."""
    return "://" in text or "@" in text or "www." in text.lower()


def address_of(shown: str) -> str:
    """Return where a bare address leads, which may have been written without its scheme."""
    if shown.lower().startswith(_SCHEMES):
        return shown
    return f"http://{shown}" if shown.lower().startswith("www.") else f"mailto:{shown}"


def bare_links(text: str) -> list[tuple[int, int]]:
    """Return where addresses of the web and of mail stand in a text, without the punctuation behind them."""
    if not may_hold_links(text):
        return []
    found: list[tuple[int, int]] = []
    for match in _BARE.finditer(text):
        end = match.start() + _length(match[0])
        if is_link(address_of(text[match.start() : end])):
            found.append((match.start(), end))
    return found


def _length(address: str) -> int:
    """Return how much of an address belongs to it: not punctuation behind it, nor brackets that it did not open."""
    counts = {closing: address.count(closing) - address.count(opening) for closing, opening in _PAIRS.items()}
    end = len(address)
    while end:
        last = address[end - 1]
        if last not in _BEHIND and counts.get(last, 0) <= 0:
            break
        if last in counts:
            counts[last] -= 1
        end -= 1
    return end
