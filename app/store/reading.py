"""Rows back into values: the list of conversations, one conversation, the record of an answer, how much it all takes.

Reads only. What a damaged page hides is missing from the values, and the error goes on to whoever asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any, get_args

from app.core.conversation import AnswerState, Conversation, Message, StoredAnswer
from app.core.metrics import StopReason
from app.store import columns
from app.store.packing import unpack_blocks, unpack_ids

_STATES: tuple[AnswerState, ...] = get_args(AnswerState)
_STOPS: tuple[StopReason, ...] = get_args(StopReason)
_CONVERSATION = (
    "id, title, created_ms, changed_ms, settings, system_prompt, model, leaf, folder, pinned, deleted_ms "
    "FROM conversation"
)
_ANSWER = (
    "answer.message, state, model, model_name, tokenizer, answer.settings, seed, metrics, ttft_ms, stop_reason, "
    "reason, notes, comparison, lane FROM answer"
)


def read_conversations(connection: sqlite3.Connection) -> tuple[Conversation, ...]:
    """Return the conversations that are not deleted, newest first."""
    rows = connection.execute(f"SELECT {_CONVERSATION} WHERE deleted_ms IS NULL ORDER BY changed_ms DESC, id DESC")
    return tuple(_conversation(row) for row in rows)


def read_messages(connection: sqlite3.Connection, conversation: int) -> Iterator[Message]:
    """Yield the messages of a conversation that are not deleted, oldest first."""
    rows = connection.execute(
        "SELECT id, conversation, parent, role, text, created_ms, deleted_ms FROM message "
        "WHERE conversation = ? AND deleted_ms IS NULL ORDER BY id",
        (conversation,),
    )
    for row in rows:
        yield Message(
            id=row[0],
            conversation=row[1],
            parent=columns.integer(row[2]),
            role="assistant" if row[3] == "assistant" else "user",
            text=columns.text(row[4]),
            created_ms=columns.integer(row[5]) or 0,
            deleted_ms=columns.integer(row[6]),
        )


def read_answer(connection: sqlite3.Connection, message: int) -> StoredAnswer | None:
    """Return how a message was written, without its tokens; None for a message that no model wrote."""
    row = connection.execute(f"SELECT {_ANSWER} WHERE message = ?", (message,)).fetchone()
    return None if row is None else _answer(row)


def read_ids(connection: sqlite3.Connection, answer: int) -> bytes:
    """Return the sampled tokens of an answer, int32."""
    rows = connection.execute("SELECT ids, id_width FROM chunk WHERE answer = ? ORDER BY number", (answer,))
    return b"".join(unpack_ids(columns.data(ids), width) for ids, width in rows)


def read_text(connection: sqlite3.Connection, answer: int) -> str:
    """Return what became visible of an answer, from its chunks."""
    rows = connection.execute("SELECT text FROM chunk WHERE answer = ? ORDER BY number", (answer,))
    return "".join(columns.text(text) for (text,) in rows)


def read_dropped(connection: sqlite3.Connection, conversation: int) -> dict[int, int]:
    """Return how many messages were left out of the prompt of each answer that was written without some."""
    rows = connection.execute(
        "SELECT answer_prompt.message, dropped FROM message JOIN answer_prompt ON answer_prompt.message = message.id "
        "WHERE conversation = ? AND deleted_ms IS NULL AND dropped IS NOT NULL ORDER BY message.id",
        (conversation,),
    )
    counts = {message: len(columns.from_json(dropped, columns.INDICES, ())) for message, dropped in rows}
    return {message: count for message, count in counts.items() if count}


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


def _answer(row: tuple[Any, ...]) -> StoredAnswer:
    return StoredAnswer(
        message=row[0],
        state=columns.one_of(row[1], _STATES, "interrupted"),
        model=columns.maybe_json(row[2], columns.MODEL),
        model_name=columns.text(row[3]),
        tokenizer=columns.text(row[4]),
        settings=columns.from_json(row[5], columns.CHANGES, ()),
        seed=columns.integer(row[6]),
        metrics=columns.maybe_json(row[7], columns.METRICS),
        ttft_ms=columns.number(row[8]),
        stop_reason=next((stop for stop in _STOPS if stop == row[9]), None),
        reason=columns.maybe_json(row[10], columns.SENTENCE),
        notes=columns.from_json(row[11], columns.SENTENCES, ()),
        comparison=columns.integer(row[12]),
        lane=columns.integer(row[13]),
    )
