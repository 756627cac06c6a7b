"""Which message the branch ends with that is shown of a conversation, where nobody has said so.

A lane of a comparison that nobody kept is no version of an answer: no branch that is shown ends there.
"""

from __future__ import annotations

import sqlite3

from app.store.comparisons import hidden_lanes


def newest_leaf(connection: sqlite3.Connection, conversation: int, top: int | None = None) -> int | None:
    """Return the newest message that nothing follows, of a conversation or behind one message; None where there is none.

    Behind a lane that nobody kept is what stands beside it, or the message that it answers.
    """
    rows = connection.execute(
        "SELECT id, parent FROM message WHERE conversation = ? AND deleted_ms IS NULL", (conversation,)
    )
    hidden = hidden_lanes(connection, conversation)
    parents: dict[int, int | None] = dict(rows.fetchall())
    seen: set[int] = set()
    while top is not None and top in hidden and top not in seen:
        seen.add(top)
        top = parents[top]
    behind: dict[int | None, list[int]] = {}
    for message, parent in parents.items():
        if message not in hidden and parent != message:
            behind.setdefault(parent, []).append(message)
    branch = set(parents) - hidden
    if top is not None and top in branch:
        reached = [top]
        branch = {top}
        for message in reached:
            new = [each for each in behind.get(message, ()) if each not in branch]
            reached += new
            branch.update(new)
    return max((message for message in branch if message not in behind), default=None)


def is_shown_leaf(connection: sqlite3.Connection, conversation: int, message: int | None) -> bool:
    """Whether a branch that is shown may end with a message: it is there, and no lane that nobody kept."""
    (is_there,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM message WHERE id = ? AND conversation = ? AND deleted_ms IS NULL)",
        (message, conversation),
    ).fetchone()
    return bool(is_there) and message not in hidden_lanes(connection, conversation)
