"""Rows back into values: the list of conversations, their messages, the record of an answer, how much it all takes.

Reads only. What a damaged page hides is missing from the values, and the error goes on to whoever asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from app.core.conversation import Conversation, Message
from app.store import columns
from app.store.packing import unpack_blocks, unpack_ids

_CONVERSATION = (
    "id, title, created_ms, changed_ms, settings, system_prompt, model, leaf, folder, pinned, deleted_ms "
    "FROM conversation"
)
# The text comes as bytes: a function for each text that SQLite hands over would take longer than reading it.
_MESSAGE = (
    "id, conversation, parent, role = 'assistant', CAST(text AS BLOB), created_ms, deleted_ms, edited FROM message"
)

_BEYOND_IDS = 2**62
"""Ids grow from the largest one on: one that damage made up must leave room for them."""
_BEYOND_MS = 253_402_300_800_000
"""The year 10000: no deletion is from then."""


def read_conversations(connection: sqlite3.Connection) -> tuple[Conversation, ...]:
    """Return the conversations that are not deleted, newest first."""
    rows = connection.execute(f"SELECT {_CONVERSATION} WHERE deleted_ms IS NULL ORDER BY changed_ms DESC, id DESC")
    return tuple(_conversation(row) for row in rows)


def read_messages(connection: sqlite3.Connection, conversation: int) -> Iterator[Message]:
    """Return the messages of a conversation that are not deleted, oldest first."""
    rows = connection.execute(
        f"SELECT {_MESSAGE} WHERE conversation = ? AND deleted_ms IS NULL ORDER BY id", (conversation,)
    )
    return _messages(rows)


def read_message(connection: sqlite3.Connection, message: int) -> Message | None:
    """Return one message, deleted or not."""
    return next(_messages(connection.execute(f"SELECT {_MESSAGE} WHERE id = ?", (message,))), None)


def read_conversation(connection: sqlite3.Connection, conversation: int) -> Conversation | None:
    """Return the head of one conversation, deleted or not."""
    row = connection.execute(f"SELECT {_CONVERSATION} WHERE id = ?", (conversation,)).fetchone()
    return None if row is None else _conversation(row)


def read_newest(connection: sqlite3.Connection) -> int:
    """Return the largest id of a conversation, a message or a comparison, 0 where there is none."""
    newest = [f"SELECT MAX(id) FROM {table} WHERE id < ?" for table in ("conversation", "message")]
    # By its lanes, without which none is kept: those of one that was lost must not be lanes of the next.
    newest.append("SELECT MAX(comparison) FROM answer WHERE comparison < ?")
    return max(connection.execute(select, (_BEYOND_IDS,)).fetchone()[0] or 0 for select in newest)


def read_newest_deletion(connection: sqlite3.Connection) -> int:
    """Return the latest time of a deletion, 0 where there is none."""
    latest = (
        f"SELECT MAX(deleted_ms) FROM {table} WHERE deleted_ms < ?"
        for table in ("conversation", "message INDEXED BY message_deleted")
    )
    return max(connection.execute(select, (_BEYOND_MS,)).fetchone()[0] or 0 for select in latest)


def read_taken_over(connection: sqlite3.Connection) -> frozenset[bytes]:
    """Return the digests of the files that were taken over."""
    return frozenset(digest for (digest,) in connection.execute("SELECT digest FROM taken_over"))


def read_ids(connection: sqlite3.Connection, answer: int) -> bytes:
    """Return the sampled tokens of an answer, int32."""
    rows = connection.execute("SELECT ids, id_width FROM chunk WHERE answer = ? ORDER BY number", (answer,))
    return b"".join(unpack_ids(columns.data(ids), width) for ids, width in rows)


def read_text(connection: sqlite3.Connection, answer: int) -> str:
    """Return what became visible of an answer, from its chunks."""
    rows = connection.execute("SELECT text FROM chunk WHERE answer = ? ORDER BY number", (answer,))
    return "".join(columns.text(text) for (text,) in rows)


def read_record(connection: sqlite3.Connection, answer: int) -> Iterator[bytes]:
    """Yield the record blocks of an answer in order."""
    for (record,) in connection.execute("SELECT record FROM chunk WHERE answer = ? ORDER BY number", (answer,)):
        yield from unpack_blocks(columns.data(record))


def record_bytes(connection: sqlite3.Connection) -> int:
    """Return what the records of all answers take; an index answers this without touching the answers."""
    return int(connection.execute("SELECT COALESCE(SUM(record_bytes), 0) FROM answer").fetchone()[0])


def _conversation(row: tuple[Any, ...]) -> Conversation:
    return Conversation(
        id=row[0],
        title=columns.text(row[1]),
        created_ms=columns.integer(row[2]) or 0,
        changed_ms=columns.integer(row[3]) or 0,
        settings=columns.settings(row[4]),
        system_prompt=columns.text(row[5]),
        model=columns.maybe_json(row[6], columns.MODEL),
        leaf=columns.integer(row[7]),
        folder=columns.text(row[8]),
        pinned=bool(row[9]),
        deleted_ms=columns.integer(row[10]),
    )


def _messages(rows: sqlite3.Cursor) -> Iterator[Message]:
    for key, conversation, parent, is_answer, text, created_ms, deleted_ms, edited in rows:
        yield Message(
            key,
            conversation,
            parent if type(parent) is int else None,
            "assistant" if is_answer else "user",
            text.decode("utf-8", "replace") if type(text) is bytes else "",
            created_ms if type(created_ms) is int else 0,
            deleted_ms if type(deleted_ms) is int else None,
            edited == 1,
        )
