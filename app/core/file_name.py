"""Names of files that people or others give: what every system takes, whatever script it is written in.

A name that is good here is good on the disk that it is copied to tomorrow, so that Windows' rules hold everywhere.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import NamedTuple

from app.core.printable import printable
from app.core.words import Sentence, translate

LONGEST_BYTES = 240
"""Of a whole name: disks take 255, and the note that a trash keeps of a file has its name and an ending."""
FORBIDDEN = '<>:"/\\|?*'
_RESERVED = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        "conin$",
        "conout$",
        *(f"{port}{n}" for port in ("com", "lpt") for n in "123456789¹²³"),
    )
)
"""Devices of Windows: a file of such a name cannot be opened there, whatever ending it has."""
MODEL_SUFFIX = ".gguf"
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE | re.DOTALL | re.ASCII)
_NO_NAME = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_LONGEST_STEM = 80


class PartName(NamedTuple):
    """What the name of a file says that is one of several of a model."""

    stem: str
    """What all of them have, with the folders before it."""
    number: int
    """From 1, unless the name is wrong."""
    of: int
    """How many there are."""

    @property
    def can_be(self) -> bool:
        """Whether there is such a part of so many."""
        return 1 <= self.number <= self.of


def part_name(path: str) -> PartName | None:
    """Return which part of a model a file is by its name; None where that is the name of a whole one."""
    found = _PART.fullmatch(path)
    return None if found is None else PartName(found["stem"], int(found["number"]), int(found["count"]))


def model_stem(path: str) -> str:
    """Return the name of a model's file without its ending, and without the number of a part."""
    part = part_name(path)
    if part is not None:
        return part.stem
    return path[: -len(MODEL_SUFFIX)] if path.lower().endswith(MODEL_SUFFIX) else path


def is_reserved(name: str) -> bool:
    """Return whether Windows takes a name for a device: it looks at what stands before the first dot alone."""
    return name.partition(".")[0].rstrip(" ").lower() in _RESERVED


def name_key(name: str) -> str:
    """Return what is equal for names that some disks take for one."""
    return unicodedata.normalize("NFC", name).casefold()


def typed_stem(typed: str, endings: Collection[str]) -> str:
    """Return a name as somebody means it: without blanks around it, and without an ending that it has anyway."""
    stem = unicodedata.normalize("NFC", typed).strip()
    for ending in endings:
        if stem.lower().endswith(ending.lower()):
            return stem[: -len(ending)].rstrip()
    return stem


def stem_problem(stem: str, ending: str) -> Sentence | None:
    """Return why a file of this name and ending cannot be; None where it can on every system."""
    if not stem:
        return translate("FileName", "Type a name for the file.")
    found = sorted({each for each in stem if each in FORBIDDEN})
    if found:
        return translate("FileName", "Leave {signs} out: no file can have that in its name.", signs=" ".join(found))
    if printable(stem) != stem:
        return translate("FileName", "Leave out what cannot be seen, such as ends of lines and control characters.")
    if stem.startswith("."):
        return translate("FileName", "Let it not begin with a dot: such files are hidden.")
    if stem.endswith((".", " ")):
        return translate("FileName", "Let it not end with a dot or a blank: some systems drop these.")
    if is_reserved(stem):
        return translate("FileName", "“{name}” is the name of a device in Windows: use another one.", name=stem)
    if part_name(f"{stem}{MODEL_SUFFIX}") is not None:
        return translate("FileName", "Leave the number at its end out: it is that of a model in several files.")
    length = len((stem + ending).encode("utf-8", "surrogatepass"))
    if length > LONGEST_BYTES:
        return translate(
            "FileName",
            "This name is too long: it takes {length} bytes with its ending, and {most} is the most.",
            length=length,
            most=LONGEST_BYTES,
        )
    return None


def fitting_stem(text: str, room: int = 16) -> str:
    """Return a name for a file out of any text; `room` is kept for its ending. Empty where nothing can be in one."""
    stem = _NO_NAME.sub(" ", text)[:_LONGEST_STEM]
    while len(stem.encode("utf-8", "replace")) > LONGEST_BYTES - room:
        stem = stem[:-1]
    stem = stem.strip(" .")
    return f"_{stem}" if is_reserved(stem) else stem
