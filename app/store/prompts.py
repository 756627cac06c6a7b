"""The prompts of answers, kept as what they add to the prompt and answer before them in the conversation.

A conversation of n turns would take n² tokens otherwise. Must not know how a prompt was made.
"""

from __future__ import annotations

import sqlite3

from app.core.conversation import AnswerPrompt
from app.store import columns
from app.store.packing import WIDE, pack_ids, unpack_ids
from app.store.reading import read_ids

_LONGEST_CHAIN = 100_000
"""More answers are in no conversation: a damaged database may lead in circles."""


class PromptRows:
    """Writes and reads prompts; remembers the last one whole, because the next one mostly begins with it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: tuple[int, bytes] | None = None

    def keep(self, prompt: AnswerPrompt) -> None:
        """Add the prompt of an answer, or take over a new one: those that build on it are put on the new one."""
        following = self._following(prompt.message)
        self._write(prompt)
        for other in following:
            self._write(other)

    def remove(self, message: int) -> None:
        """Remove the prompt of an answer that goes; those that build on it or on the answer stay as they are."""
        following = self._following(message)
        self._connection.execute("DELETE FROM answer_prompt WHERE message = ?", (message,))
        self._last = None
        for other in following:
            self._write(other)

    def forget(self) -> None:
        """What was kept last may not be on disk."""
        self._last = None

    def read(self, message: int) -> AnswerPrompt | None:
        """Return the prompt that an answer was given, whole; None when it is not kept or a part of it is gone."""
        row = self._connection.execute(
            "SELECT dropped, spans FROM answer_prompt WHERE message = ?", (message,)
        ).fetchone()
        ids = self._whole(message) if row is not None else None
        if ids is None:
            return None
        return AnswerPrompt(
            message, ids, columns.unpack_spans(row[1]), columns.from_json(row[0], columns.INDICES, ())
        )

    def _following(self, message: int) -> list[AnswerPrompt]:
        """Return the prompts that build on one, as far as they are whole."""
        rows = self._connection.execute("SELECT message FROM answer_prompt WHERE base = ?", (message,))
        prompts = [self.read(other) for (other,) in rows.fetchall()]
        return [prompt for prompt in prompts if prompt is not None]

    def _write(self, prompt: AnswerPrompt) -> None:
        base = self._base(prompt.message)
        shared = 0
        if base is not None and (before := self._whole(base)) is not None:
            shared = _shared(before + read_ids(self._connection, base), prompt.ids)
        rest, width = pack_ids(prompt.ids[shared * WIDE :])
        self._connection.execute(
            "INSERT OR REPLACE INTO answer_prompt (message, base, shared, dropped, id_width, spans, ids) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                prompt.message,
                base if shared else None,
                shared,
                columns.to_json(prompt.dropped or None),
                width,
                columns.pack_spans(prompt.spans),
                rest,
            ),
        )
        self._last = (prompt.message, prompt.ids)

    def _base(self, message: int) -> int | None:
        """Return the nearest answer on the path above that has a prompt; going in circles ends the search."""
        row = self._connection.execute("SELECT conversation, parent FROM message WHERE id = ?", (message,)).fetchone()
        seen = {message}
        while row is not None and row[1] is not None and row[1] not in seen:
            conversation, parent = row
            seen.add(parent)
            row = self._connection.execute(
                "SELECT conversation, parent, EXISTS (SELECT 1 FROM answer_prompt WHERE message = ?) "
                "FROM message WHERE id = ? AND conversation = ?",
                (parent, parent, conversation),
            ).fetchone()
            if row is not None and row[2]:
                return int(parent)
            row = row and row[:2]
        return None

    def _whole(self, message: int) -> bytes | None:
        """Put the ids of a prompt together from those that it builds on; None when one of them is gone."""
        if self._last is not None and self._last[0] == message:
            return self._last[1]
        links: list[tuple[int | None, int, bytes]] = []
        following: int | None = message
        while following is not None and len(links) <= _LONGEST_CHAIN:
            row = self._connection.execute(
                "SELECT base, shared, ids, id_width FROM answer_prompt WHERE message = ?", (following,)
            ).fetchone()
            if row is None:
                return None
            links.append((row[0], row[1] * WIDE, unpack_ids(columns.data(row[2]), row[3])))
            following = row[0]
        ids = b""
        for base, shared, rest in reversed(links):
            if base is not None and shared > len(ids):
                ids += read_ids(self._connection, base)
            if shared > len(ids):
                return None
            ids = ids[:shared] + rest
        return ids


def _shared(before: bytes, ids: bytes) -> int:
    """Count the tokens that both begin with, by halving: comparing long stretches of bytes is what Python does fast."""
    least, most = 0, min(len(before), len(ids)) // WIDE
    while least < most:
        middle = (least + most + 1) // 2
        if before[least * WIDE : middle * WIDE] == ids[least * WIDE : middle * WIDE]:
            least = middle
        else:
            most = middle - 1
    return least
