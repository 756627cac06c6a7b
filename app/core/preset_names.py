"""Names of presets: what two of them have in common, and what becomes of one that cannot be shown.

Names that people type are refused where they do not fit; those that are in a file already are made to fit.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable

LONGEST_NAME = 60
"""Characters of a preset's name."""
UNNAMED = "?"
"""What a preset without a name is called."""
_FILLERS = "\u115f\u1160\u2800\u3164\uffa0"
"""Characters that count as letters or signs, and that nobody sees."""
_SEEN = "LNPS"
"""Letters, numbers, punctuation and signs: a name without any of them is a blank row."""


def cleaned(name: str) -> str:
    """Return a name as it is kept; empty where nothing of it would be seen."""
    name = unicodedata.normalize("NFC", name).strip()
    return name if any(_is_seen(character) for character in name) else ""


def name_key(name: str) -> str:
    """Return what is equal for names that are the same to people."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def fitting(name: str) -> str:
    """Return the nearest name that could be typed: on one line, not too long, with nothing that turns others around."""
    shown = "".join(each if each.isprintable() else " " * each.isspace() for each in name)
    return cleaned(cleaned(shown)[:LONGEST_NAME]) or UNNAMED


def distinct(names: Collection[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return what each name becomes so that all of them fit and differ to people, also from those that are taken."""
    keys = {name_key(name) for name in taken}
    become: dict[str, str] = {}
    numbers: dict[str, int] = {}
    for name in names:  # those that fit already keep theirs, whatever stands before them
        if fitting(name) == name and name_key(name) not in keys:
            keys.add(name_key(name))
            become[name] = name
    for name in (each for each in names if each not in become):
        new = fitting(name)
        while name_key(new) in keys:
            base = fitting(name)
            number = numbers[name_key(base)] = numbers.get(name_key(base), 1) + 1
            end = f" {number}"
            new = base[: LONGEST_NAME - len(end)].rstrip() + end
        keys.add(name_key(new))
        become[name] = new
    return {name: become[name] for name in names}


def _is_seen(character: str) -> bool:
    return unicodedata.category(character)[0] in _SEEN and character not in _FILLERS
