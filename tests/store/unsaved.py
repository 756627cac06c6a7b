"""Runs of the store that end with words that could not be written, and what became of those."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.core.store_events import StoreFailed
from app.store.opening import connect
from tests.store.shelf import Shelf, chunk, head, question
from tests.store.test_faults_in_use import LONG, fill_disk

BACK = "Tokenlight could not save everything when it was closed last. What was missing is in your chats now."
LOST = "What was written last could be saved neither with the chats nor elsewhere, and is lost."


def told(kept: Shelf) -> list[str]:
    return [event.sentence.english() for event in kept.events if isinstance(event, StoreFailed)]


def texts(kept: Shelf) -> list[str]:
    return [message.text for message in kept.read().messages]


def left(folder: Path) -> list[Path]:
    return sorted(folder.glob("tokenlight-unsaved-*"))


def end_unsaved(folder: Path) -> Shelf:
    """Let a run end whose disk takes the question and the first words of its answer, and nothing after them."""
    kept = Shelf(folder)
    kept.open()
    kept.send(question(1, head(), 1), chunk(2, "Half", 5, record=b"record"))
    fill_disk(kept)
    kept.send(chunk(2, f" an answer {LONG}", 6, record=b"more"), question(3, head(), 3, parent=2))
    kept.close()
    return kept


@contextmanager
def refused(monkeypatch: pytest.MonkeyPatch, *folders: Path) -> Iterator[None]:
    """Let folders be on a disk that is full."""
    make = os.open

    def refuse(path: Any, flags: int, *rest: Any) -> int:
        if Path(path).parent in folders and flags & os.O_CREAT:
            raise OSError(28, "No space left on device")
        return make(path, flags, *rest)

    with monkeypatch.context() as patch:
        patch.setattr("app.store.refuge.os.open", refuse)
        yield


def connect_full(path: Path) -> sqlite3.Connection:
    """Open a database as the program does, on a disk that is full."""
    connection = connect(path)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return connection
