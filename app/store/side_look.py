"""A look at what is kept of models from the side: for commands, while a window may have the chats open.

Must not write, mend or wait: what cannot be read at once is not known.
"""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

from app.core.model_note import KeptOfModels
from app.store.faults import DATABASE_ERRORS
from app.store.model_notes import read_notes
from app.store.model_use import read_model_use
from app.store.opening import FILE_NAME
from app.store.read_only import open_read_only

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
