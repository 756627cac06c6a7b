"""Files in the text of a message: each stands in a frame that can be read back exactly, whatever the file says.

The frame says how many characters are in it, so that no content can end it. One that does not hold is plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

import msgspec

from app.core.chat import clean_text
from app.core.printable import printable

LONGEST_NAME = 120
Attachment = Literal["added", "known", "no_room", "unwanted"]
"""What became of a file: it is a part of the message now, was one before, does not fit in, or its message was left."""
BETWEEN = "\n\n"
"""Stands between the files and the texts of a message."""
_OPENING = re.compile(rf'^<file name="([^"\n]{{1,{LONGEST_NAME}}})" characters="([0-9]{{1,9}})">\n', re.MULTILINE)
_CLOSING = "\n</file>"
_BEGINS = '<file name="'
_FENCES = re.compile("`+")


class AttachedFile(msgspec.Struct, frozen=True):
    """One file as it stands in a message."""

    name: str
    text: str


class Frame(msgspec.Struct, frozen=True):
    """Where a file stands in a text: `start` to `end` (exclusive), in characters, the frame included."""

    start: int
    end: int
    file: AttachedFile


class Lifted(msgspec.Struct, frozen=True):
    """A text with its files apart."""

    framed: tuple[str, ...]
    """The files, each in its frame."""
    text: str
    """What is said beside them."""


def framed(name: str, text: str) -> str:
    """Return a file as it stands in a message; what a name cannot hold there is replaced."""
    shown = printable(clean_text(name)).replace('"', "'").strip()[:LONGEST_NAME].rstrip() or "file"
    content = clean_text(text)
    return f'<file name="{shown}" characters="{len(content)}">\n{content}{_CLOSING}'


def frames_in(text: str) -> Iterator[Frame]:
    """Yield the files of a text in their order; a frame inside of another one is that one's content."""
    if _BEGINS not in text:
        return  # a hundred times as quick as to look for one at every line
    at = 0
    while (opening := _OPENING.search(text, at)) is not None:
        at = opening.end()
        until = at + int(opening[2])
        end = until + len(_CLOSING)
        if text.startswith(_CLOSING, until) and text[end : end + 1] in ("", "\n"):
            yield Frame(opening.start(), end, AttachedFile(opening[1], text[at:until]))
            at = end


def file_of(text: str) -> AttachedFile | None:
    """Return the file that a text is, or None where it is anything else."""
    first = next(frames_in(text), None)
    return first.file if first is not None and (first.start, first.end) == (0, len(text)) else None


def lifted(text: str) -> Lifted:
    """Return a text with its files apart; `joined` puts them before what is said of them again."""
    frames, said, at = [], [], 0
    for frame in frames_in(text):
        frames.append(text[frame.start : frame.end])
        said.append(text[at : frame.start])
        at = frame.end
    if not frames:
        return Lifted((), text)
    said.append(text[at:].removeprefix(BETWEEN))
    return Lifted(tuple(frames), joined(said))


def joined(parts: Iterable[str]) -> str:
    """Return the message that files and texts make; what is blank leaves no gap."""
    return BETWEEN.join(part for part in parts if part.strip())


def in_words(text: str) -> str:
    """Return a message where there is room for words alone: its files by name, then what is said of them."""
    apart = lifted(text)
    names = ", ".join(frame.file.name for frame in frames_in(text)) if apart.framed else ""
    return ": ".join(part for part in (names, apart.text) if part.strip()) if names else text


def unframed(text: str) -> str:
    """Return all that a message says, each file under its name, without what frames are made of."""
    return _written_out(text, lambda file: f"{file.name}\n{file.text}")


def as_markdown(text: str) -> str:
    """Return a message as it is given to other programs: each file under its name, in a block that it cannot end."""
    return _written_out(text, _block)


def _written_out(text: str, write: Callable[[AttachedFile], str]) -> str:
    written, at = [], 0
    for frame in frames_in(text):
        written += [text[at : frame.start], write(frame.file)]
        at = frame.end
    return "".join((*written, text[at:]))


def _block(file: AttachedFile) -> str:
    fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(file.text)), default=0))
    name = file.name.replace("\\", "\\\\").replace("*", "\\*").replace("_", "\\_")
    return f"**{name}**\n\n{fence}\n{file.text}\n{fence}"
