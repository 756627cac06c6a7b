"""Which files conversations can be read out of: ours, and those of others that are told by what is in them.

Reads a file whole; a name or an ending decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from app.core.errors import UserError
from app.core.words import translate
from app.services.importers.chat_file import Part, is_ours, newer_version, parts_of
from app.services.importers.found import Found

MOST_BYTES = 1 << 30
Foreign = Callable[[bytes], Found | None]
"""Reads the bytes of a file of another program; None where they are no such file."""
FOREIGN: tuple[Foreign, ...] = ()


def read_chats_of(path: Path) -> Iterator[Part]:
    """Yield what is in a file, one conversation after another; raise `UserError` where nothing can be read of it."""
    data = _content(path)
    if is_ours(data):
        if (newer := newer_version(data)) is not None:
            raise UserError(newer)
        yield from parts_of(data)
        return
    for foreign in FOREIGN:
        if (found := foreign(data)) is not None:
            yield from found.unread
            yield from found.chats
            return
    raise UserError(
        translate(
            "Importing",
            "This is no file of conversations that can be read here: export them as JSON, and choose that file.",
        )
    )


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(translate("Importing", "The file could not be read: {reason}.", reason=reason)) from error
    if len(data) > MOST_BYTES:
        raise UserError(translate("Importing", "The file is larger than 1 GiB: export fewer conversations at once."))
    return data
