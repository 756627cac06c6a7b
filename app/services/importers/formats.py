"""Which files conversations can be read out of: ours, and those of others that are told by what is in them.

A name or an ending decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from app.core.errors import UserError
from app.core.words import translate
from app.services.importers.chat_file import HEAD_BYTES, Part, is_ours, newer_version, parts_of
from app.services.importers.foreign_chats import foreign_chats, read_up_to
from app.services.importers.found import Stops, look_for_stop, never

MOST_BYTES = 1 << 30


def read_chats_of(path: Path, stops: Stops = never) -> Iterator[Part]:
    """Yield what is in a file, one conversation after another; raise `UserError` where nothing can be read of it.

    Raises `StoppedError` soon after `stops` says so.
    """
    if is_ours(_content(path, HEAD_BYTES)):
        for part in _own(path, stops):
            look_for_stop(stops)
            yield part
        return
    is_known = False
    for found in foreign_chats(path, stops):
        is_known = True
        yield from found.unread
        yield from found.chats
    if not is_known:
        raise UserError(
            translate(
                "Importing",
                "It holds no conversations that can be read here: choose a JSON file that Tokenlight wrote, or an export"
                " of ChatGPT or Open WebUI.",
            )
        )


def _own(path: Path, stops: Stops) -> Iterator[Part]:
    data = _content(path, MOST_BYTES + 1, stops)
    if len(data) > MOST_BYTES:
        raise UserError(translate("Importing", "The file is larger than 1 GiB: export fewer conversations at once."))
    if (newer := newer_version(data)) is not None:
        raise UserError(newer)
    yield from parts_of(data)


def _content(path: Path, most: int, stops: Stops = never) -> bytes:
    try:
        with path.open("rb") as file:
            return read_up_to(file, most, stops)
    except OSError as error:
        reason = error.strerror or str(error)
        raise UserError(translate("Importing", "The file could not be read: {reason}.", reason=reason)) from error
