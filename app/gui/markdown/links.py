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
        end = match.end()
        while end > match.start():
            last = text[end - 1]
            opening = _PAIRS.get(last)
            address = text[match.start() : end]
            if last in _BEHIND or (opening is not None and address.count(last) > address.count(opening)):
                end -= 1
            else:
                break
        if is_link(text[match.start() : end]):
            found.append((match.start(), end))
    return found
