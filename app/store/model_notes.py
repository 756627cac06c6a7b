"""Notes, names and favourites in the database: one row a model, which goes when nothing is said of it any more."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from app.core.chat import clean_text
from app.core.model_note import ModelNote
from app.core.store_commands import KeepModelNote
from app.store import columns
from app.store.changes import Change


def read_notes(connection: sqlite3.Connection) -> tuple[ModelNote, ...]:
    """Return what is said of all models."""
    rows = connection.execute("SELECT model, note, name, favourite FROM model_note ORDER BY id")
    return tuple(
        ModelNote(columns.text(row[0]), columns.text(row[1]), columns.text(row[2]), row[3] == 1) for row in rows
    )


def keep_note(connection: sqlite3.Connection, note: ModelNote, changed_ms: int) -> None:
    """Keep what is said of a model in place of what was; where that is nothing, no row is left."""
    if note.is_empty:
        connection.execute("DELETE FROM model_note WHERE model = ?", (note.model,))
        return
    connection.execute(
        "INSERT INTO model_note (model, changed_ms, note, name, favourite) VALUES (?, ?, ?, ?, ?) ON CONFLICT (model) "
        "DO UPDATE SET changed_ms = excluded.changed_ms, note = excluded.note, name = excluded.name, "
        "favourite = excluded.favourite",
        (note.model, changed_ms, clean_text(note.note), clean_text(note.name), note.favourite),
    )


def with_unwritten(read: Sequence[ModelNote], pending: Sequence[Change]) -> tuple[ModelNote, ...]:
    """Return the notes as they will be on disk once everything is written."""
    notes = {note.model: note for note in read}
    for change in pending:
        if isinstance(change, KeepModelNote):
            notes[change.note.model] = change.note
    return tuple(note for note in notes.values() if not note.is_empty)
