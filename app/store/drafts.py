"""Drafts in the database: one row a conversation, which goes when nothing is written any more."""

from __future__ import annotations

import sqlite3

import msgspec

from app.core.chat import clean_text
from app.core.draft import Draft
from app.store import columns

_TEXTS = msgspec.json.Decoder(tuple[str, ...])


def read_draft(connection: sqlite3.Connection, conversation: int) -> Draft | None:
    """Return the draft of a conversation, or None where there is none."""
    select = "SELECT text, pasted FROM draft WHERE conversation = ?"
    row = connection.execute(select, (conversation,)).fetchone()
    if row is None:
        return None
    return Draft(conversation, columns.text(row[0]), columns.from_json(row[1], _TEXTS, ()))


def keep_draft(connection: sqlite3.Connection, draft: Draft, changed_ms: int) -> None:
    """Keep a draft in place of the earlier one of its conversation; an empty one leaves no row."""
    if draft.is_empty:
        connection.execute("DELETE FROM draft WHERE conversation = ?", (draft.conversation,))
        return
    pasted = tuple(map(clean_text, draft.pasted))
    connection.execute(
        "INSERT INTO draft (conversation, changed_ms, text, pasted) VALUES (?, ?, ?, ?) ON CONFLICT (conversation) "
        "DO UPDATE SET changed_ms = excluded.changed_ms, text = excluded.text, pasted = excluded.pasted",
        (draft.conversation, changed_ms, clean_text(draft.text), columns.to_json(pasted or None)),
    )
