"""A look at the chats from the side, at models and for a text: for commands, while a window may have them open.

Must not write, mend or wait: what cannot be read at once is not known.
"""

from __future__ import annotations

import logging
import sqlite3
from contextlib import closing
from pathlib import Path

from app.core.errors import UserError
from app.core.model_note import KeptOfModels
from app.core.search import FoundMessage
from app.core.store_commands import FindMessages
from app.store.faults import DATABASE_ERRORS
from app.store.indexing import whole_index
from app.store.mistakes import unreadable
from app.store.model_notes import read_notes
from app.store.model_use import read_model_use
from app.store.opening import FILE_NAME
from app.store.read_only import open_read_only
from app.store.searching import Search

_log = logging.getLogger(__name__)


def look(folder: Path) -> KeptOfModels:
    """Return what the database of a folder holds of models; nothing where it is not there, or of another version."""
    opened = open_read_only(folder / FILE_NAME)
    if opened is None:
        return KeptOfModels()
    with closing(opened[0]) as connection:
        try:
            return KeptOfModels(read_notes(connection), read_model_use(connection))
        except DATABASE_ERRORS as error:
            _log.info("What is kept of models cannot be read: %s", error)
            return KeptOfModels()


def find(folder: Path, text: str, limit: int) -> tuple[FoundMessage, ...]:
    """Return so many messages that hold a text, newest first, with the index where it is up to date.

    Raises `UserError` where there are chats that cannot be read now.
    """
    path = folder / FILE_NAME
    opened = open_read_only(path)
    if opened is None:
        if path.is_file():
            raise UserError(unreadable())
        return ()
    with closing(opened[0]) as connection:
        try:
            return _found(folder, connection, text, limit)
        except DATABASE_ERRORS as error:
            _log.info("The chats cannot be searched: %s", error)
            raise UserError(unreadable()) from error


def _found(folder: Path, connection: sqlite3.Connection, text: str, limit: int) -> tuple[FoundMessage, ...]:
    index = whole_index(folder, connection)
    found: list[FoundMessage] = []
    question = FindMessages(0, text, None, limit)
    try:
        while True:
            page = Search(connection, index, question).run()
            found += page.found
            if page.rest is None or len(found) >= limit:
                return tuple(found[:limit])
            question = FindMessages(0, text, page.rest, limit - len(found))
    finally:
        if index is not None:
            index.close()
