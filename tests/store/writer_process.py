"""A program that writes an answer until it is killed; a line on its standard output says what is on disk for certain."""

from __future__ import annotations

import queue
import sqlite3
import sys
import threading
from contextlib import closing
from pathlib import Path

from app.core.conversation import Chunk, Conversation, Message, StoredAnswer
from app.core.store_commands import KeepChunk, KeepQuestion, OpenStore
from app.core.store_events import Kept
from app.store.opening import FILE_NAME
from app.store.store import Store


def write_for_ever(folder: Path) -> None:
    """Keep chunks and tell which of them are there."""
    events: queue.SimpleQueue[object] = queue.SimpleQueue()
    store = Store(folder, events.put)
    asked = Message(1, 1, None, "user", "Count", 1)
    answer = Message(2, 1, 1, "assistant", "", 1)
    store.send(OpenStore())
    store.send(KeepQuestion(1, Conversation(1, "Numbers", 1, 1), (asked, answer), StoredAnswer(2, "open")))
    while not isinstance(events.get(), Kept):
        continue
    print("asked", flush=True)
    pause = threading.Event()
    number = 0
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        while True:
            store.send(KeepChunk(Chunk(2, f"{number} ", number.to_bytes(4, "little"), b"r%d" % number)))
            number += 1
            pause.wait(0.01)
            (length,) = connection.execute("SELECT COALESCE(SUM(length(text)), 0) FROM chunk").fetchone()
            print(length, flush=True)


if __name__ == "__main__":
    write_for_ever(Path(sys.argv[1]))
