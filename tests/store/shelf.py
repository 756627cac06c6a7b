"""Values to keep, and a store whose events are collected, for the tests of this folder."""

from __future__ import annotations

import queue
import sqlite3
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from app.core.conversation import Chunk, Conversation, Message, StoredAnswer
from app.core.events import Event
from app.core.store_commands import EndAnswer, KeepChunk, KeepQuestion, OpenStore, ReadConversation, StoreCommand
from app.core.store_events import ConversationRead, StoreOpened
from app.store import search_index
from app.store.deletions import DAYS_OF_USE
from app.store.opening import FILE_NAME
from tests.inline_store import InlineStore

LONGEST_S = 30.0
PAGE = 4096
"""Bytes of a page of the database."""

_Event = TypeVar("_Event")


def ids(*numbers: int) -> bytes:
    """Return token ids as values hold them."""
    return struct.pack(f"<{len(numbers)}i", *numbers)


def head(key: int = 1) -> Conversation:
    """Return a conversation without messages."""
    return Conversation(key, f"Chat {key}", created_ms=key, changed_ms=key)


def question(request: int, head: Conversation, first: int, parent: int | None = None) -> KeepQuestion:
    """Ask something: message `first` is the question, the next number its answer."""
    asked = Message(first, head.id, parent, "user", f"Question {first}", first)
    answer = Message(first + 1, head.id, first, "assistant", "", first)
    return KeepQuestion(request, head, (asked, answer), StoredAnswer(first + 1, "open"))


def chunk(answer: int, text: str, *numbers: int, record: bytes = b"") -> KeepChunk:
    """Write a stretch of an answer."""
    return KeepChunk(Chunk(answer, text, ids(*numbers), record))


def end(answer: int, text: str, key: int = 1) -> EndAnswer:
    """End an answer well."""
    return EndAnswer(
        Message(answer, key, answer - 1, "assistant", text, answer - 1),
        StoredAnswer(answer, "done", stop_reason="end"),
    )


class Shelf:
    """A store on the calling thread and all of its events."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        self.events: list[Event] = []
        self.store = InlineStore(folder, self.events.append)

    def open(self) -> StoreOpened:
        """Open it."""
        return self.ask(OpenStore(), StoreOpened)

    def ask(self, command: StoreCommand, kind: type[_Event]) -> _Event:
        """Send a command and return the one event of this kind that it led to."""
        before = len(self.events)
        self.store.send(command)
        (event,) = [event for event in self.events[before:] if isinstance(event, kind)]
        return event

    def send(self, *commands: StoreCommand) -> list[Event]:
        """Send commands and return what they led to."""
        before = len(self.events)
        for command in commands:
            self.store.send(command)
        return self.events[before:]

    def read(self, key: int = 1) -> ConversationRead:
        """Read a conversation."""
        return self.ask(ReadConversation(0, key), ConversationRead)

    def sql(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        """Look at the file, or change it, from the side."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as connection:
            return connection.execute(statement, values).fetchall()

    def close(self) -> None:
        """Close it."""
        self.store.close()


@contextmanager
def shelf(folder: Path) -> Iterator[Shelf]:
    """Open a store in a folder and close it at the end."""
    made = Shelf(folder)
    try:
        made.open()
        yield made
    finally:
        made.close()


def lose(folder: Path, table: str) -> None:
    """Let nobody read a part of the chats that lie somewhere below a folder."""
    (path,) = folder.rglob(FILE_NAME)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"ALTER TABLE {table} RENAME TO lost_{table}")


def used_every_day(kept: Shelf) -> None:
    """Let the chats have been open on the last days, as they are where nothing is wrong with the clock."""
    today = int(time.time() // 86_400)
    for day in range(today - DAYS_OF_USE, today):
        kept.sql("INSERT OR IGNORE INTO used_day (day) VALUES (?)", day)


def names(folder: Path) -> list[str]:
    """Return what lies in a folder, the search index left out."""
    return [path.name for path in folder.iterdir() if not path.name.startswith(search_index.FILE_NAME)]


class Post:
    """A sink that events are waited for at."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.put = self._events.put
        self.seen: list[Event] = []

    def wait(self, kind: type[_Event]) -> _Event:
        """Return the next event of this kind."""
        while True:
            event = self._events.get(timeout=LONGEST_S)
            self.seen.append(event)
            if isinstance(event, kind):
                return event


def wait_until(fact: Callable[[], bool]) -> None:
    """Return when something is so."""
    never, limit = threading.Event(), time.monotonic() + LONGEST_S
    while not fact():
        assert time.monotonic() < limit, "it never came to be so"
        never.wait(0.02)


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Hold a database like another program that writes."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield connection
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def break_pages(path: Path, *tables: str, filling: bytes = b"\xaa") -> None:
    """Overwrite the first page of some tables."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, rootpage FROM sqlite_master").fetchall()
    broken = bytearray(path.read_bytes())
    for name, root in rows:
        if name in tables:
            broken[(root - 1) * PAGE : root * PAGE] = filling * PAGE
    path.write_bytes(broken)
