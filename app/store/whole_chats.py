"""Whole conversations out of rows and into them: what export takes and import brings.

Must not know of files. What is written twice, after a fault, is there once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager

import msgspec

from app.core.chat import clean_text
from app.core.conversation import Conversation
from app.core.store_commands import ReadChats
from app.core.store_events import ChatsRead, ConversationRead
from app.core.whole_chat import WholeAnswer, WholeChat, WholeFile, WholePrompt, WholeStretch
from app.store import columns
from app.store.comparisons import keep_comparison
from app.store.packing import pack_blocks, pack_ids, unpack_blocks, unpack_ids
from app.store.prompts import PromptRows

_MOST_BYTES = 8 << 20
_MOST_CHATS = 500
"""Of one answer: another question follows for the rest, and in between the store does what else is wanted."""


def read_chats(
    connection: sqlite3.Connection | None,
    question: ReadChats,
    read: Callable[[int], ConversationRead],
    noting: Callable[[], AbstractContextManager[None]],
    missed: Callable[[], int],
) -> ChatsRead:
    """Return the first of some conversations whole.

    `read` reads the messages of one; under `noting` what cannot be read is noted, and the rest goes on. `missed` counts
    what could not be read so far, by either.
    """
    chats: list[WholeChat] = []
    unread: list[int] = []
    size = 0
    for head in question.heads[:_MOST_CHATS]:
        before = missed()
        chat, has_all_tokens = _read_chat(connection, head, read, noting)
        chats.append(chat)
        if not has_all_tokens or missed() > before:
            unread.append(head.id)
        size += _size(chat)
        if size > _MOST_BYTES:
            break
    return ChatsRead(question.request, tuple(chats), tuple(unread))


def _read_chat(
    connection: sqlite3.Connection | None,
    head: Conversation,
    read: Callable[[int], ConversationRead],
    noting: Callable[[], AbstractContextManager[None]],
) -> tuple[WholeChat, bool]:
    """Return what could be read of a conversation, and whether the stretches that were read have all of its tokens."""
    found = read(head.id)
    answers: list[WholeAnswer] = []
    files: list[WholeFile] = []
    there = frozenset(message.id for message in found.messages)
    has_all_tokens = True
    for answer in found.answers:
        whole = WholeAnswer(msgspec.structs.replace(answer, ids=b""))
        if connection is not None:
            with noting():
                stretches = tuple(_read_stretches(connection, answer.message))
                prompt = _read_prompt(connection, answer.message, there)
                whole = WholeAnswer(whole.answer, stretches, prompt)
                has_all_tokens &= b"".join(each.ids for each in stretches) == answer.ids
        answers.append(whole)
    if connection is not None:
        with noting():
            files.extend(_read_files(connection, head.id))
    chat = WholeChat(head, found.messages, tuple(answers), found.comparisons, tuple(files))
    return chat, has_all_tokens


def _size(chat: WholeChat) -> int:
    """Return about how many bytes a conversation has."""
    texts = sum(len(message.text) for message in chat.messages) + sum(len(file.text) for file in chat.files)
    stretches = (stretch for whole in chat.answers for stretch in whole.stretches)
    return texts + sum(len(each.ids) + sum(map(len, each.blocks)) for each in stretches)


def _read_prompt(connection: sqlite3.Connection, answer: int, there: Collection[int]) -> WholePrompt | None:
    """Return the prompt of an answer as it lies there, or all of it where it builds on what does not come with it."""
    row = connection.execute(
        "SELECT base, shared, dropped, id_width, spans, ids FROM answer_prompt WHERE message = ?", (answer,)
    ).fetchone()
    if row is None:
        return None
    base, shared, dropped, width, spans, ids = row
    parts = columns.unpack_spans(spans)
    if parts is not None and (base is None or base in there):
        kept = columns.unpack_indices(dropped)
        return WholePrompt(unpack_ids(columns.data(ids), width), parts[1], base, shared, parts[0], kept)
    whole = PromptRows(connection).read(answer)
    return WholePrompt(whole.ids, whole.spans, dropped=whole.dropped) if whole is not None else None


def _read_stretches(connection: sqlite3.Connection, answer: int) -> Iterator[WholeStretch]:
    """Yield the stretches of an answer, in order."""
    rows = connection.execute(
        "SELECT text, ids, id_width, record FROM chunk WHERE answer = ? ORDER BY number", (answer,)
    )
    for text, ids, width, record in rows:
        blocks = tuple(unpack_blocks(columns.data(record)))
        yield WholeStretch(columns.text(text), unpack_ids(columns.data(ids), width), blocks)


def _read_files(connection: sqlite3.Connection, conversation: int) -> Iterator[WholeFile]:
    """Yield the files that were sent with the messages of a conversation, in order."""
    rows = connection.execute(
        "SELECT message, name, attachment.text, tokens FROM message JOIN attachment "
        "ON attachment.message = message.id WHERE conversation = ? AND deleted_ms IS NULL ORDER BY attachment.id",
        (conversation,),
    )
    for message, name, text, tokens in rows:
        yield WholeFile(message, columns.text(name), columns.text(text), columns.integer(tokens))


def keep_answer_parts(connection: sqlite3.Connection, whole: WholeAnswer) -> None:
    """Add the stretches and the prompt of an answer that is there."""
    message, size = whole.answer.message, 0
    for number, stretch in enumerate(whole.stretches):
        ids, width = pack_ids(stretch.ids)
        record = pack_blocks(stretch.blocks)
        size += len(record)
        connection.execute(
            "INSERT OR IGNORE INTO chunk (answer, number, text, id_width, ids, record) VALUES (?, ?, ?, ?, ?, ?)",
            (message, number, clean_text(stretch.text), width, ids, record),
        )
    dropped = None
    if whole.prompt is not None:
        _keep_prompt(connection, message, whole.prompt)
        dropped = len(whole.prompt.dropped) or None
    connection.execute(
        "UPDATE answer SET record_bytes = ?, dropped = ?, ids = ? WHERE message = ?",
        (size, dropped, b"".join(stretch.ids for stretch in whole.stretches), message),
    )


def _keep_prompt(connection: sqlite3.Connection, message: int, prompt: WholePrompt) -> None:
    ids, width = pack_ids(prompt.ids)
    connection.execute(
        "INSERT OR IGNORE INTO answer_prompt (message, base, shared, dropped, id_width, spans, ids) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            message,
            prompt.base,
            prompt.shared,
            columns.pack_indices(prompt.dropped),
            width,
            columns.pack_span_rows(prompt.spans, prompt.shared_spans),
            ids,
        ),
    )


def keep_files(connection: sqlite3.Connection, files: Sequence[WholeFile]) -> None:
    """Add the files of messages that have none yet."""
    for message in dict.fromkeys(file.message for file in files):
        there = "SELECT EXISTS (SELECT 1 FROM attachment WHERE message = ?)"
        if connection.execute(there, (message,)).fetchone()[0]:
            continue
        connection.executemany(
            "INSERT INTO attachment (message, name, tokens, text) VALUES (?, ?, ?, ?)",
            [
                (message, clean_text(file.name), file.tokens, clean_text(file.text))
                for file in files
                if file.message == message
            ],
        )


def keep_comparisons(connection: sqlite3.Connection, chat: WholeChat) -> None:
    """Add the comparisons, whose lanes are there."""
    for comparison in chat.comparisons:
        keep_comparison(connection, comparison)
