"""Rows back into values: the list of conversations, their messages, the record of an answer, how much it all takes.

Reads only. What a damaged page hides is missing from the values, and the error goes on to whoever asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, Literal

from app.core.conversation import Conversation, Message, Place
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


def read_places(connection: sqlite3.Connection, conversation: int) -> Iterator[Place]:
    """Yield where the messages of a conversation that are not deleted stand, oldest first."""
    # Both are read from an index alone: the messages and answers themselves are many times as large.
    lanes = connection.execute("SELECT message FROM answer INDEXED BY answer_lane WHERE comparison IS NOT NULL")
    in_comparison = {message for (message,) in lanes}
    rows = connection.execute(
        "SELECT id, parent, role = 'assistant' FROM message INDEXED BY message_place "
        "WHERE conversation = ? AND deleted_ms IS NULL",
        (conversation,),
    )
    for key, parent, is_answer in sorted(rows):
        role: Literal["user", "assistant"] = "assistant" if is_answer else "user"
        yield Place(key, parent if type(parent) is int else None, role, key in in_comparison)


def read_message(connection: sqlite3.Connection, message: int) -> Message | None:
    """Return one message, deleted or not."""
    return next(_messages(connection.execute(f"SELECT {_MESSAGE} WHERE id = ?", (message,))), None)


def read_conversation(connection: sqlite3.Connection, conversation: int) -> Conversation | None:
    """Return the head of one conversation, deleted or not."""
    row = connection.execute(f"SELECT {_CONVERSATION} WHERE id = ?", (conversation,)).fetchone()
    return None if row is None else _conversation(row)


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
