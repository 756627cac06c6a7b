"""The prompts of answers, kept as what they add to the prompt and answer before them in the conversation.

A conversation of n turns would take n² tokens and parts otherwise; the lanes of a comparison, whose prompts are the
same, keep one. Must not know how a prompt was made.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from app.core.chat import PromptSpan
from app.core.conversation import AnswerPrompt
from app.core.token_ids import common_start
from app.store import columns
from app.store.packing import WIDE, pack_ids, unpack_ids
from app.store.reading import read_ids

_LONGEST_CHAIN = 100_000
"""More answers are in no conversation: a damaged database may lead in circles."""


class _Whole(NamedTuple):
    """A prompt put together."""

    ids: bytes
    spans: tuple[PromptSpan, ...]


class PromptRows:
    """Writes and reads prompts; remembers the last one whole, because the next one mostly begins with it."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._last: tuple[int, _Whole] | None = None

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
        row = self._connection.execute("SELECT dropped FROM answer_prompt WHERE message = ?", (message,)).fetchone()
        whole = self._whole(message) if row is not None else None
        return AnswerPrompt(message, *whole, columns.unpack_indices(row[0])) if whole is not None else None

    def _following(self, message: int) -> list[AnswerPrompt]:
        """Return the prompts that build on one, as far as they are whole."""
        rows = self._connection.execute("SELECT message FROM answer_prompt WHERE base = ?", (message,))
        prompts = [self.read(other) for (other,) in rows.fetchall()]
        return [prompt for prompt in prompts if prompt is not None]

    def _write(self, prompt: AnswerPrompt) -> None:
        base, shared, parts = self._beginning(prompt)
        rest, width = pack_ids(prompt.ids[shared * WIDE :])
        self._connection.execute(
            "INSERT OR REPLACE INTO answer_prompt (message, base, shared, dropped, id_width, spans, ids) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                prompt.message,
                base,
                shared,
                columns.pack_indices(prompt.dropped),
                width,
                columns.pack_spans(prompt.spans, parts),
                rest,
            ),
        )
        self._last = (prompt.message, _Whole(prompt.ids, prompt.spans))

    def _beginning(self, prompt: AnswerPrompt) -> tuple[int | None, int, int]:
        """Return the answer that a prompt builds on, and how many tokens and parts it has from there."""
        for lane in self._lanes_beside(prompt.message):
            shared, parts = self._alike(lane, prompt)
            if shared * WIDE * 2 >= len(prompt.ids) > 0:  # else the next lanes could not build on this one
                return lane, shared, parts
        base = self._base(prompt.message)
        shared, parts = self._alike(base, prompt) if base is not None else (0, 0)
        return (base, shared, parts) if shared else (None, 0, 0)

    def _alike(self, base: int, prompt: AnswerPrompt) -> tuple[int, int]:
        """Count the tokens and parts that a prompt begins with like an answer and its prompt."""
        before = self._whole(base)
        if before is None:
            return 0, 0
        shared = common_start(before.ids + read_ids(self._connection, base), prompt.ids)
        return shared, _alike(before.spans, prompt.spans) if shared else 0

    def _lanes_beside(self, message: int) -> list[int]:
        """Return the lanes of the same comparison whose prompts build on no other of it: mostly all have the same."""
        rows = self._connection.execute(
            "SELECT other.message FROM answer AS own JOIN answer AS other ON other.comparison = own.comparison "
            "JOIN answer_prompt AS prompt ON prompt.message = other.message "
            "JOIN message AS here ON here.id = own.message "
            "JOIN message AS there ON there.id = other.message AND there.conversation = here.conversation "
            "LEFT JOIN answer AS base ON base.message = prompt.base "
            "WHERE own.message = ?1 AND other.message <> ?1 AND base.comparison IS NOT own.comparison "
            "ORDER BY other.message",
            (message,),
        )
        return [int(lane) for (lane,) in rows.fetchall()]

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

    def _whole(self, message: int) -> _Whole | None:
        """Put a prompt together from those that it builds on; None when the ids of one of them are gone."""
        if self._last is not None and self._last[0] == message:
            return self._last[1]
        links: list[tuple[int | None, int, bytes, tuple[int, tuple[PromptSpan, ...]] | None]] = []
        following: int | None = message
        while following is not None and len(links) <= _LONGEST_CHAIN:
            row = self._connection.execute(
                "SELECT base, shared, ids, id_width, spans FROM answer_prompt WHERE message = ?", (following,)
            ).fetchone()
            if row is None:
                return None
            ids = unpack_ids(columns.data(row[2]), row[3])
            links.append((row[0], row[1] * WIDE, ids, columns.unpack_spans(row[4])))
            following = row[0]
        whole = bytearray()
        for base, shared, rest, _spans in reversed(links):
            if base is not None and shared > len(whole):
                whole += read_ids(self._connection, base)
            if shared > len(whole):
                return None
            del whole[shared:]
            whole += rest
        return _Whole(bytes(whole), _spans_of([spans for *_, spans in reversed(links)]))


def _spans_of(links: Sequence[tuple[int, tuple[PromptSpan, ...]] | None]) -> tuple[PromptSpan, ...]:
    """Return the parts of the last of some prompts, each of which builds on the one before; none where some are gone."""
    spans: list[PromptSpan] = []
    is_whole = True
    for link in links:
        is_whole = link is not None and (link[0] == 0 or (is_whole and 0 < link[0] <= len(spans)))
        if link is not None and is_whole:
            del spans[link[0] :]
            spans += link[1]
    return tuple(spans) if is_whole else ()


def _alike(before: Sequence[PromptSpan], spans: Sequence[PromptSpan]) -> int:
    """Count the parts that two prompts begin with."""
    differing = (number for number, (one, other) in enumerate(zip(before, spans, strict=False)) if one != other)
    return next(differing, min(len(before), len(spans)))
