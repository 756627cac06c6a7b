"""What waits to be written, in order: chunks of one answer are joined, and drafts and notes take the place of those before.

Must not know of the disk: what fails, and what people are told of it, is the keeper's.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from app.core.draft import Draft
from app.core.store_commands import KeepChunk, KeepDraft, KeepPieces
from app.store.changes import Asked, Change, EndOpenAnswers, Stretch, TakenOver, latest_of
from app.store.patience import Patience
from app.store.writing import Writer, written


class Waiting:
    """Changes that are not on disk yet, and the questions among them that nobody has answered."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._stretches: dict[int, Stretch] = {}
        """Those in `changes` that more chunks can be added to."""
        self.asked: set[int] = set()
        """Requests of waiting questions that are not answered yet."""

    @property
    def has_words(self) -> bool:
        """Whether anything of it would be lost with the program."""
        # The model knows what tokens say, and the next start takes files over and ends open answers by itself.
        return any(not isinstance(change, KeepPieces | EndOpenAnswers | TakenOver) for change in self.changes)

    def add(self, change: Change) -> None:
        """Let a change wait."""
        if (latest := latest_of(change)) is not None:
            # A full disk must not fill the memory with earlier ones.
            self.changes[:] = [each for each in self.changes if latest_of(each) != latest]
            self.changes.append(change)
            return
        self._stretches.clear()
        self.changes.append(change)

    def begin_with(self, left: Sequence[Change], *, ends_answers: bool) -> None:
        """Let what was left wait before all others, and maybe the end of its open answers; newer drafts and notes stand."""
        newer = {latest_of(change) for change in self.changes} - {None}
        older = [each for each in left if latest_of(each) not in newer]
        self.changes[:0] = [*older, EndOpenAnswers()] if ends_answers else older

    def add_chunk(self, command: KeepChunk) -> None:
        """Let a chunk wait, joined with those before it."""
        chunk = command.chunk
        stretch = self._stretches.get(chunk.message)
        if stretch is None:
            stretch = self._stretches[chunk.message] = Stretch(chunk.message)
            self.changes.append(stretch)
        stretch.add(chunk)

    def draft(self, conversation: int) -> Draft | None:
        """Return the draft of a conversation that waits; None where none does."""
        waiting = (change.draft for change in self.changes if isinstance(change, KeepDraft))
        return next((draft for draft in waiting if draft.conversation == conversation), None)

    def commit(
        self, connection: sqlite3.Connection, writer: Writer, patience: Patience, seconds: float
    ) -> list[Change]:
        """Write all of it in one transaction; return what cannot be written at all.

        Another program that writes is waited for so many seconds. Raises `DATABASE_ERRORS`; then nothing was written
        and everything still waits.
        """
        begin = "BEGIN IMMEDIATE"
        patience.run(lambda: connection.execute(begin), seconds)
        try:
            broken = [change for change in self.changes if not written(connection, writer, change)]
            connection.execute("COMMIT")
        except BaseException:
            # SQLite has rolled back by itself after some errors.
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        return broken

    def questions(self) -> list[Asked]:
        """Return the questions, comparisons and copies that nobody has answered."""
        questions = (change for change in self.changes if isinstance(change, Asked))
        return [question for question in questions if question.request in self.asked]

    def clear(self) -> None:
        """Forget all of it."""
        self.changes.clear()
        self._stretches.clear()
        self.asked.clear()
