"""Takes over what can still be read of a damaged database into a new one: a bad page costs what lay on it.

Must not write into the damaged one, nor know where either lies.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from app.store.faults import DATABASE_ERRORS, Fault, fault_of
from app.store.leaves import newest_leaf

_IDS = {
    "conversation": "SELECT DISTINCT conversation FROM message INDEXED BY message_conversation",
    "message": "SELECT id FROM message INDEXED BY message_conversation",
    "answer": "SELECT message FROM answer INDEXED BY answer_record_bytes",
    "answer_prompt": "SELECT message FROM answer_prompt INDEXED BY answer_prompt_base",
    "chunk": "SELECT id FROM chunk INDEXED BY chunk_answer",
    "comparison": "SELECT id FROM comparison INDEXED BY comparison_conversation",
    "attachment": "SELECT id FROM attachment INDEXED BY attachment_message",
    "draft": "SELECT conversation FROM draft INDEXED BY draft_changed",
    "model_note": "SELECT id FROM model_note INDEXED BY model_note_model",
    "deletion": "SELECT DISTINCT deleted_ms FROM message INDEXED BY message_deleted WHERE deleted_ms IS NOT NULL",
}
"""What is taken over, and where else than in the table its ids lie; pieces are left out: the model tells them again."""

Row = tuple[Any, ...]


def salvage(damaged: sqlite3.Connection, fresh: sqlite3.Connection) -> int:
    """Copy the rows that can be read, in one transaction; return how many conversations there are to see now."""
    fresh.execute("PRAGMA foreign_keys = OFF")
    fresh.execute("BEGIN IMMEDIATE")
    for table in _IDS:
        columns = _shared_columns(damaged, fresh, table)
        if not columns:
            continue
        places = ", ".join("?" for _ in columns)
        # A row that a bad page left without what it must have is left out.
        statement = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({places})"
        fresh.executemany(statement, _rows(damaged, table, columns))
    _join_again(fresh)
    fresh.execute("COMMIT")
    fresh.execute("PRAGMA foreign_keys = ON")
    return int(fresh.execute("SELECT COUNT(*) FROM conversation WHERE deleted_ms IS NULL").fetchone()[0])


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})")]


def _shared_columns(damaged: sqlite3.Connection, fresh: sqlite3.Connection, table: str) -> list[str]:
    """Return the columns that are in both: one that an older database lacks is at its default in the new one."""
    try:
        there = set(_columns(damaged, table))
    except DATABASE_ERRORS as error:
        _pass(error)
        return []
    return [column for column in _columns(fresh, table) if column in there]


def _rows(damaged: sqlite3.Connection, table: str, columns: list[str]) -> Iterator[Row]:
    """Yield what can be read from both ends, then row by row what an index knows of in between."""
    select = f"SELECT rowid, {', '.join(columns)} FROM {table}"
    low, high = -(2**63), 2**63 - 1
    for row in _until_damage(damaged, f"{select} ORDER BY rowid"):
        low = int(row[0])
        yield row[1:]
    for row in _until_damage(damaged, f"{select} WHERE rowid > ? ORDER BY rowid DESC", low):
        high = int(row[0])
        yield row[1:]
    between = sorted(row[0] for row in _until_damage(damaged, _IDS[table]) if isinstance(row[0], int))
    for number in between:
        if low < number < high:
            for row in _until_damage(damaged, f"{select} WHERE rowid = ?", number):
                yield row[1:]


def _until_damage(damaged: sqlite3.Connection, statement: str, *values: int) -> Iterator[Row]:
    try:
        yield from damaged.execute(statement, values)
    except DATABASE_ERRORS as error:
        _pass(error)


def _pass(error: Exception) -> None:
    """Go on beyond a damage or what is not there, and let every other trouble end the salvage."""
    if fault_of(error) not in (Fault.DAMAGED, None):
        raise error


def _join_again(fresh: sqlite3.Connection) -> None:
    """Give messages without a conversation one that is named after the first of them.

    What only a message leads to goes with a message that is lost; prompts stay, for later ones may build on them.
    """
    lost = fresh.execute(
        "SELECT conversation, MIN(created_ms), MAX(created_ms) FROM message "
        "WHERE typeof(conversation) = 'integer' AND conversation NOT IN (SELECT id FROM conversation) "
        "AND deleted_ms IS NULL GROUP BY conversation"
    ).fetchall()
    fresh.executemany("INSERT INTO conversation (id, title, created_ms, changed_ms) VALUES (?, '', ?, ?)", lost)
    for conversation, _, _ in lost:
        leaf = newest_leaf(fresh, conversation)
        fresh.execute("UPDATE conversation SET leaf = ? WHERE id = ?", (leaf, conversation))
    fresh.execute(
        "UPDATE conversation SET title = COALESCE((SELECT substr(text, 1, 60) FROM message "
        "WHERE message.conversation = conversation.id ORDER BY message.id LIMIT 1), '') WHERE title = ''"
    )
    fresh.execute("DELETE FROM message WHERE conversation NOT IN (SELECT id FROM conversation)")
    for table in ("answer", "attachment"):
        fresh.execute(f"DELETE FROM {table} WHERE message NOT IN (SELECT id FROM message)")
    # A comparison goes with its conversation, and with the last of its lanes.
    fresh.execute(
        "DELETE FROM comparison WHERE conversation NOT IN (SELECT id FROM conversation) "
        "OR NOT EXISTS (SELECT 1 FROM answer WHERE answer.comparison = comparison.id)"
    )
