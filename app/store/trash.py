"""What was deleted and can be brought back: finds it, brings it back, and marks what is to go for good.

Messages with one `deleted_ms` are one deletion: no two have the same. That of what is to be erased is 0: nothing brings it back, but what was deleted behind it still can be and takes it along.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

import msgspec

from app.core.attached_files import in_words
from app.core.conversation import LONGEST_GLIMPSE, Conversation, Trashed
from app.store import columns, deletions
from app.store.comparisons import hidden_lanes
from app.store.deletions import TO_ERASE
from app.store.leaves import is_shown_leaf, newest_leaf
from app.store.reading import read_conversation

# What is being written has its text in its chunks; of a long text the first line is enough, unless it is a file.
_TEXT = """substr(ltrim(CASE WHEN message.text <> '' THEN message.text ELSE COALESCE(
    (SELECT group_concat(text, '') FROM
        (SELECT text FROM chunk WHERE answer = message.id AND text <> '' ORDER BY number LIMIT 32)), '') END,
    char(9, 10, 13, 32)), 1, CASE WHEN message.text LIKE '<file name="%' THEN length(message.text) ELSE 200 END)"""

_Deleted = dict[int, tuple[int, int | None, int, str, str]]
"""By message: conversation, parent, time, the title of the conversation, and the beginning of its text."""


def read_trash(connection: sqlite3.Connection) -> tuple[Trashed, ...]:
    """Return what can be brought back, newest first; what came to nothing is none of it."""
    found = [*_branches(connection), *_conversations(connection)]
    found.sort(key=lambda item: (-item.deleted_ms, -(item.message or item.conversation)))
    times = deletions.times(connection)
    return tuple(
        msgspec.structs.replace(item, deleted_ms=times.get(item.deleted_ms, item.deleted_ms)) for item in found
    )


def remove(connection: sqlite3.Connection, messages: Iterable[int], deleted_ms: int) -> None:
    """Mark messages as deleted, unless they are already, by this deletion or the next that took nothing yet."""
    deleted_ms = max(deleted_ms, TO_ERASE + 1)
    taken = "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_deleted WHERE deleted_ms = ?)"
    while connection.execute(taken, (deleted_ms,)).fetchone()[0]:
        deleted_ms += 1
    deletions.note(connection, deleted_ms)
    connection.executemany(
        "UPDATE message SET deleted_ms = ? WHERE id = ? AND deleted_ms IS NULL",
        ((deleted_ms, message) for message in messages),
    )


def take_back(connection: sqlite3.Connection, messages: Iterable[int]) -> None:
    """Let messages be there again."""
    connection.executemany(
        "UPDATE message SET deleted_ms = NULL WHERE id = ? AND deleted_ms > ?",
        ((message, TO_ERASE) for message in messages),
    )


def restore(connection: sqlite3.Connection, conversation: int, message: int | None) -> Conversation | None:
    """Bring back a conversation or a branch inside a transaction; return its head, None where it is gone."""
    head = read_conversation(connection, conversation)
    if head is None or head.deleted_ms == TO_ERASE:
        return None
    if message is None:
        leaf = _restore_conversation(connection, head)
    else:
        row = connection.execute(
            "SELECT deleted_ms FROM message WHERE id = ? AND conversation = ?", (message, conversation)
        ).fetchone()
        if row is None or row[0] == TO_ERASE:
            return None
        leaf = _restore_branch(connection, conversation, message, row[0])
    connection.execute("UPDATE conversation SET deleted_ms = NULL, leaf = ? WHERE id = ?", (leaf, conversation))
    return read_conversation(connection, conversation)


def give_up(connection: sqlite3.Connection, conversation: int, message: int | None) -> None:
    """Mark what was deleted as to be erased: a conversation, or a branch as far as nothing of it is still there."""
    if message is None:
        connection.execute(
            "UPDATE conversation SET deleted_ms = ? WHERE id = ? AND deleted_ms IS NOT NULL", (TO_ERASE, conversation)
        )
        return
    connection.execute(
        "WITH RECURSIVE branch (id) AS (SELECT id FROM message WHERE id = ?1 AND conversation = ?2 "
        "AND deleted_ms IS NOT NULL UNION SELECT message.id FROM branch JOIN message ON parent = branch.id "
        "WHERE conversation = ?2 AND deleted_ms IS NOT NULL) "
        "UPDATE message SET deleted_ms = ?3 WHERE id IN (SELECT id FROM branch)",
        (message, conversation, TO_ERASE),
    )


def _branches(connection: sqlite3.Connection) -> Iterable[Trashed]:
    """Yield the deletions of messages in conversations that are there."""
    rows = connection.execute(
        f"SELECT message.id, conversation, parent, message.deleted_ms, title, {_TEXT} FROM message "
        "INDEXED BY message_deleted "
        "JOIN conversation ON conversation.id = conversation AND conversation.deleted_ms IS NULL "
        "WHERE message.deleted_ms > ? ORDER BY message.id",
        (TO_ERASE,),
    )
    deleted: _Deleted = {row[0]: (row[1], *row[2:4], columns.text(row[4]), columns.text(row[5])) for row in rows}
    behind: dict[int, list[int]] = {}
    tops = []
    for message, (conversation, parent, deleted_ms, _, _) in deleted.items():
        above = deleted.get(parent) if parent is not None else None
        if parent is not None and above is not None and above[0] == conversation and above[2] == deleted_ms:
            behind.setdefault(parent, []).append(message)
        else:
            tops.append(message)
    conversations = {row[0] for row in deleted.values()}
    lanes = {each: hidden_lanes(connection, each, "deleted_ms IS NOT NULL") for each in conversations}
    for top in tops:
        branch = [top]
        for message in branch:
            branch += behind.get(message, ())
        text = next((line for message in branch if (line := _glimpse(deleted[message][4]))), "")
        if text:
            conversation, _, deleted_ms, title, _ = deleted[top]
            beside = len(lanes[conversation].intersection(branch))
            yield Trashed(conversation, top, title, text, len(branch) - beside, deleted_ms, beside)


def _conversations(connection: sqlite3.Connection) -> Iterable[Trashed]:
    """Yield the conversations that were deleted and in which anything was ever said."""
    rows = connection.execute("SELECT id, title, deleted_ms FROM conversation WHERE deleted_ms > ?", (TO_ERASE,))
    for conversation, title, deleted_ms in rows.fetchall():
        come_back = _come_back(connection, conversation)
        text = _first_line(connection, conversation, come_back) or _first_line(connection, conversation, "TRUE")
        if text:
            count = f"SELECT COUNT(*) FROM message WHERE conversation = ?1 AND {come_back}"
            ((messages,),) = connection.execute(count, (conversation,))
            lanes = len(hidden_lanes(connection, conversation, come_back))
            yield Trashed(conversation, None, columns.text(title), text, messages - lanes, deleted_ms, lanes)


def _first_line(connection: sqlite3.Connection, conversation: int, which: str) -> str:
    """Return the first line that was said in some messages of a conversation, those to be erased not among them."""
    texts = connection.execute(
        f"SELECT {_TEXT} FROM message WHERE conversation = ?1 AND deleted_ms IS NOT ?2 AND {which} ORDER BY id",
        (conversation, TO_ERASE),
    )
    return next((line for (text,) in texts if (line := _glimpse(columns.text(text)))), "")


def _come_back(connection: sqlite3.Connection, conversation: int) -> str:
    """Return which messages come back with a conversation: those that were there when it was deleted.

    Where none was, it was deleted because its last branch was: that comes back then.
    """
    (is_any,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM message WHERE conversation = ? AND deleted_ms IS NULL)", (conversation,)
    ).fetchone()
    if is_any:
        return "deleted_ms IS NULL"
    return "deleted_ms > 0 AND deleted_ms = (SELECT MAX(deleted_ms) FROM message WHERE conversation = ?1)"


def _restore_conversation(connection: sqlite3.Connection, head: Conversation) -> int | None:
    come_back = _come_back(connection, head.id)
    last = connection.execute(
        f"SELECT id FROM message WHERE conversation = ?1 AND {come_back} ORDER BY id DESC LIMIT 1", (head.id,)
    )
    if (row := last.fetchone()) is None:
        return None
    connection.execute(f"UPDATE message SET deleted_ms = NULL WHERE conversation = ?1 AND {come_back}", (head.id,))
    _restore_way_up(connection, head.id, row[0])
    return head.leaf if is_shown_leaf(connection, head.id, head.leaf) else newest_leaf(connection, head.id)


def _restore_branch(
    connection: sqlite3.Connection, conversation: int, message: int, deleted_ms: int | None
) -> int | None:
    if deleted_ms is not None:
        connection.execute(
            "WITH RECURSIVE branch (id) AS (SELECT ?1 UNION SELECT message.id FROM branch JOIN message "
            "ON parent = branch.id WHERE conversation = ?2 AND deleted_ms = ?3) "
            "UPDATE message SET deleted_ms = NULL WHERE id IN (SELECT id FROM branch)",
            (message, conversation, deleted_ms),
        )
    _restore_way_up(connection, conversation, message)
    return newest_leaf(connection, conversation, message)


def _restore_way_up(connection: sqlite3.Connection, conversation: int, message: int) -> None:
    """Let everything between the first message and this one be there again."""
    connection.execute(
        "WITH RECURSIVE way (id) AS (SELECT ?1 UNION SELECT above.id FROM way JOIN message ON message.id = way.id "
        "JOIN message AS above ON above.id = message.parent AND above.conversation = ?2) "
        "UPDATE message SET deleted_ms = NULL WHERE id IN (SELECT id FROM way) AND deleted_ms IS NOT NULL",
        (message, conversation),
    )


def _glimpse(text: str) -> str:
    """Return the first line that says something, cut where it is long."""
    lines = in_words(text.strip()).splitlines()
    return lines[0].rstrip()[:LONGEST_GLIMPSE] if lines else ""
