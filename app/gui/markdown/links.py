"""Which addresses are links: those of the web and of mail, and nothing that names a file or a program."""

from __future__ import annotations

import re

_SCHEMES = ("http://", "https://", "mailto:")
_BARE = re.compile(r"https?://[^\s<>\"'`\\]+", re.IGNORECASE)
_BEHIND = ".,;:!?*_~…"
_PAIRS = {")": "(", "]": "[", "}": "{"}


def is_link(address: str) -> bool:
    """Return whether an address may be opened."""
    scheme = next((scheme for scheme in _SCHEMES if address.lower().startswith(scheme)), None)
    return scheme is not None and len(address) > len(scheme) and not any(ord(each) < 32 for each in address)


def bare_links(text: str) -> list[tuple[int, int]]:
    """Return where addresses of the web stand in a text, without the punctuation behind them."""
    found: list[tuple[int, int]] = []
    if "://" not in text:
        return found
    for match in _BARE.finditer(text):
        end = match.start() + _length(match[0])
        if is_link(text[match.start() : end]):
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
