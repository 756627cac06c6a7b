"""Reads files that other programs wrote their conversations into: knows which formats there are and tries them.

A file is JSON or a ZIP with JSON in it; what it is called says nothing. One conversation after the other is made.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from app.core.errors import ExitCode, UserError
from app.core.printable import printable
from app.core.words import translate
from app.services.file_names import short_name
from app.services.importers import chatgpt, open_webui
from app.services.importers.elements import CUT_OFF, Element, elements
from app.services.importers.found import Found, Stops, Unread, look_for_stop, never

MOST_BYTES = 1 << 30
"""Of JSON in one file, unpacked."""
MOST_DIRECTORY = 16 << 20
"""Bytes of the list of files in a ZIP; ten thousand images take one of them."""
_BLOCK = 1 << 20
_LOOKED_AT = 100
"""Elements that are looked at for a format that is known."""
_MEMBER = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json", re.IGNORECASE)
_UNPACKING = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError, ValueError)
"""What a damaged, encrypted or unusual ZIP may raise."""


_NOT_UNPACKED = translate(
    "Importing", "This file in the ZIP cannot be unpacked: export or download the ZIP once more."
)
_UNKNOWN = translate("Importing", "This file in the ZIP holds no conversations of a kind that is known here.")


class _Format(NamedTuple):
    """One that is known here."""

    is_own: Callable[[object], bool]
    read: Callable[[object, str, int], Found]


_FORMATS = (_Format(chatgpt.is_own, chatgpt.read), _Format(open_webui.is_own, open_webui.read))


def read_up_to(file: BinaryIO, most: int, stops: Stops) -> bytes:
    """Return so many bytes of a file at most. Raises `OSError`, and `StoppedError` soon after `stops` says so."""
    content = io.BytesIO()
    while (left := most - content.tell()) > 0 and (block := file.read(min(left, _BLOCK))):
        look_for_stop(stops)
        content.write(block)
    return content.getvalue()


def foreign_chats(path: Path, stops: Stops = never) -> Iterator[Found]:
    """Yield the conversations of a file with what could not be read of them; nothing where no format is known.

    Raises `UserError` where the file cannot be opened or is too large, and `StoppedError` soon after `stops` says so.
    """
    name = short_name(path)
    try:
        with _File(path) as file:
            is_archive = file.read(4) == b"PK\x03\x04"
            file.seek(0)
            if is_archive:
                yield from _in_archive(file, name, stops)
                return
        with path.open("rb") as plain:
            content = read_up_to(plain, MOST_BYTES + 1, stops)
    except _TooLargeError as error:
        raise _too_large(name) from error
    except OSError as error:
        raise UserError(
            translate("Importing", "“{file}” cannot be read: look whether it is there and may be opened.", file=name),
            ExitCode.WRONG_USE,
        ) from error
    if len(content) > MOST_BYTES:
        raise _too_large(name)
    yield from found_in(content, stops=stops)


def found_in(content: bytes, place: str = "", *, stops: Stops = never) -> Iterator[Found]:
    """Yield what JSON holds; `place` is where it lies. The first element that is known says which format it is."""
    known: _Format | None = None
    waiting: list[Element] = []
    for element in elements(content, stops):
        look_for_stop(stops)
        if known is not None:
            yield _made(known, element, place)
            continue
        waiting.append(element)
        known = next((each for each in _FORMATS if element.fault is None and each.is_own(element.value)), None)
        if known is not None:
            for each in waiting:
                yield _made(known, each, place)
        elif len(waiting) >= _LOOKED_AT:
            return
    is_list = bool(waiting) and bool(waiting[-1].place)
    if known is None and is_list and waiting[-1].fault == CUT_OFF and all(each.fault for each in waiting):
        # What is not there cannot say which format it is of; that it is not there is the reason all the same.
        yield from (Found((), (Unread("", f"{place}{each.place}", each.fault),)) for each in waiting if each.fault)


def _made(form: _Format, element: Element, place: str) -> Found:
    where = f"{place}{element.place}"
    if element.fault is not None:
        return Found((), (Unread("", where, element.fault),))
    return form.read(element.value, where, element.doubled)


def _in_archive(file: BinaryIO, name: str, stops: Stops) -> Iterator[Found]:
    left = MOST_BYTES
    try:
        archive = zipfile.ZipFile(file)
    except _UNPACKING as error:
        raise UserError(
            translate("Importing", "“{file}” is a damaged ZIP file: export or download it once more.", file=name),
            ExitCode.WRONG_USE,
        ) from error
    with archive:
        members = [each for each in archive.infolist() if _MEMBER.search(each.filename) is not None]
        for member in sorted(members, key=lambda each: each.filename):
            shown = printable(member.filename.rsplit("/", 1)[-1])
            try:
                content = _unpacked(archive, member, left, stops)
            except _UNPACKING:
                yield Found((), (Unread("", shown, _NOT_UNPACKED),))
                continue
            left -= len(content)
            is_empty = True
            for found in found_in(content, shown, stops=stops):
                is_empty = False
                yield found
            if is_empty and content.strip() != b"[]":
                yield Found((), (Unread("", shown, _UNKNOWN),))


def _unpacked(archive: zipfile.ZipFile, member: zipfile.ZipInfo, most: int, stops: Stops) -> bytes:
    """Return what a file in a ZIP holds; what the ZIP says of its size is not asked."""
    content = io.BytesIO()
    with archive.open(member) as packed:
        while block := packed.read(_BLOCK):
            look_for_stop(stops)
            content.write(block)
            if content.tell() > most:
                raise _TooLargeError
    return content.getvalue()


class _TooLargeError(Exception):
    """There is more than may be read."""


class _File(io.FileIO):
    """A file of which no more is read at once than the list in a good ZIP has bytes."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes."""
        most = MOST_DIRECTORY + 1
        found = super().read(most if size is None or size < 0 else min(size, most))
        if len(found) > MOST_DIRECTORY:
            raise _TooLargeError
        return found


def _too_large(name: str) -> UserError:
    return UserError(
        translate(
            "Importing",
            "“{file}” holds more than {most} GB of conversations, unpacked: take a part of it.",
            file=name,
            most=MOST_BYTES >> 30,
        ),
        ExitCode.WRONG_USE,
    )
