"""A program that writes an answer, or lanes in turn, until it is killed; a line on its standard output says what is on disk for certain."""

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
from tests.store.lanes import compared


def write_for_ever(folder: Path, answers: int = 1) -> None:
    """Keep chunks and tell how much of them is there; several answers are lanes of one comparison."""
    events: queue.SimpleQueue[object] = queue.SimpleQueue()
    store = Store(folder, events.put)
    asked = Message(1, 1, None, "user", "Count", 1)
    answer = Message(2, 1, 1, "assistant", "", 1)
    store.send(OpenStore())
    head = Conversation(1, "Numbers", 1, 1)
    if answers > 1:
        store.send(compared(1, head, 1, answers))
    else:
        store.send(KeepQuestion(1, head, (asked, answer), StoredAnswer(2, "open")))
    while not isinstance(events.get(), Kept):
        continue
    print("asked", flush=True)
    pause = threading.Event()
    number = 0
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        while True:
            for message in range(2, 2 + answers):
                store.send(KeepChunk(Chunk(message, f"{number} ", number.to_bytes(4, "little"), b"r%d" % number)))
            number += 1
            pause.wait(0.01)
            (length,) = connection.execute("SELECT COALESCE(SUM(length(text)), 0) FROM chunk").fetchone()
            print(length, flush=True)


if __name__ == "__main__":
    write_for_ever(Path(sys.argv[1]), *map(int, sys.argv[2:]))
