"""Copies a branch into another conversation: messages, answers with their records, attachments and prompts.

Must not know who wants it. What was never kept cannot be copied and is left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

import msgspec

from app.core.store_commands import CopyBranch
from app.store.prompts import PromptRows
from app.store.reading import read_text

_MESSAGE = """INSERT INTO message (id, conversation, parent, role, created_ms, text, edited)
    SELECT ?, ?, ?, role, created_ms, text, edited FROM message WHERE id = ?"""
# The copy of a lane stands in no comparison but was written beside others all the same, and nobody writes on in the
# copy of what is being written.
_ANSWER = """INSERT INTO answer (message, state, record_bytes, tokenizer, seed, ttft_ms, stop_reason, model_name, model,
        settings, metrics, reason, notes, lane, thinking, dropped, ids)
    SELECT ?, CASE state WHEN 'open' THEN 'interrupted' ELSE state END, record_bytes, tokenizer, seed, ttft_ms,
        stop_reason, model_name, model, settings, metrics, reason, notes, lane, thinking, dropped, ids
    FROM answer WHERE message = ?"""
_CHUNKS = """INSERT INTO chunk (answer, number, text, id_width, ids, record)
    SELECT ?, number, text, id_width, ids, record FROM chunk WHERE answer = ? ORDER BY number"""
_ATTACHMENTS = """INSERT INTO attachment (message, name, tokens, text)
    SELECT ?, name, tokens, text FROM attachment WHERE message = ? ORDER BY id"""
_PROMPT = """INSERT INTO answer_prompt (message, base, shared, dropped, id_width, spans, ids)
    SELECT ?, ?, shared, dropped, id_width, spans, ids FROM answer_prompt WHERE message = ?"""


def copy_branch(connection: sqlite3.Connection, prompts: PromptRows, command: CopyBranch) -> None:
    """Copy the messages of a branch inside a transaction; the head of the new conversation is there already."""
    copies = dict(command.messages)
    for message, copy in command.messages:
        row = connection.execute("SELECT parent FROM message WHERE id = ?", (message,)).fetchone()
        is_there = connection.execute("SELECT EXISTS (SELECT 1 FROM message WHERE id = ?)", (copy,)).fetchone()[0]
        if row is None or is_there:
            continue
        connection.execute(_MESSAGE, (copy, command.head.id, copies.get(row[0]), message))
        for statement in (_ANSWER, _CHUNKS, _ATTACHMENTS):
            connection.execute(statement, (copy, message))
        _take_text(connection, message, copy)
        _copy_prompt(connection, prompts, copies, message)


def _take_text(connection: sqlite3.Connection, message: int, copy: int) -> None:
    """Give the copy of an answer that is being written the text that is there of it."""
    (is_open,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM answer WHERE message = ? AND state = 'open')", (message,)
    ).fetchone()
    if is_open and (text := read_text(connection, message)):
        connection.execute("UPDATE message SET text = ? WHERE id = ?", (text, copy))


def _copy_prompt(
    connection: sqlite3.Connection, prompts: PromptRows, copies: Mapping[int, int], message: int
) -> None:
    """Copy the prompt of an answer, on top of the copy of the one that it builds on."""
    row = connection.execute("SELECT base FROM answer_prompt WHERE message = ?", (message,)).fetchone()
    if row is None:
        return
    (base,) = row
    if base is None or base in copies:
        connection.execute(_PROMPT, (copies[message], copies.get(base), message))
    elif (whole := prompts.read(message)) is not None:
        prompts.keep(msgspec.structs.replace(whole, message=copies[message]))
