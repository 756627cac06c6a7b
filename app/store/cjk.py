"""Chinese, Japanese and Korean text as pairs of letters: words of two are common there, and no blank parts them."""

from __future__ import annotations

import re

_LETTERS = (
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_LETTERS}]+")


def is_cjk(letter: str) -> bool:
    """Whether a letter belongs to a run that is indexed by pairs."""
    return _RUN.fullmatch(letter) is not None


def pairs_of(text: str) -> str:
    """Return each pair of neighbouring letters once, and the last letter of each run, parted by blanks."""
    found: dict[str, None] = {}
    for run in _RUN.findall(text):
        found.update(dict.fromkeys(run[place : place + 2] for place in range(len(run))))
    return " ".join(found)
