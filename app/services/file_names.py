"""Names of files as people read them in a sentence."""

from __future__ import annotations

from pathlib import Path

from app.core.printable import printable
from app.core.words import Sentence

LONGEST_NAME, LONGEST_PATH = 48, 160
_ENDING = 20
"""Of a name that is too long so many characters at its end are kept: the quantisation is there."""


def short_name(path: Path) -> str:
    """Return the name of a file without its folders, printable; of a very long one both ends."""
    name = printable(path.name)
    if len(name) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME - _ENDING - 1]}…{name[-_ENDING:]}"


def short_path(path: Path) -> str:
    """Return where a file is; of a place too long for a sentence only the file's name."""
    place = printable(str(path))
    return place if len(place) <= LONGEST_PATH else f"…/{short_name(path)}"


def unsaid_name(path: Path, sentence: Sentence, model: str = "") -> str:
    """Return the name of a file, or nothing where a sentence says it already or calls the model by its name."""
    english = sentence.english()
    is_said = any(name in english for name in (path.name, printable(path.name), short_name(path)))
    return "" if is_said or (model and f"“{model}”" in english) else short_name(path)
