"""The real store on the calling thread: what is sent is done, and answered, before `send` returns."""

from __future__ import annotations

from pathlib import Path

from app.core.model_note import KeptOfModels
from app.core.ports import EventSink
from app.core.search import FoundMessage
from app.core.store_commands import StoreCommand
from app.store.keeper import StoreWork
from app.store.side_look import find, look


class InlineStore:
    """Implements `StorePort` without a thread."""

    def __init__(self, folder: Path, sink: EventSink) -> None:
        self.work = StoreWork(folder, sink)
        self._folder = folder

    def send(self, command: StoreCommand) -> None:
        """Do a command at once, and the work that can wait with it."""
        self.work.do((command,))
        while self.work.rest():
            continue

    def look(self) -> KeptOfModels:
        """Read what is kept of models from the side."""
        return look(self._folder)

    def find(self, text: str, limit: int) -> tuple[FoundMessage, ...]:
        """Find messages from the side."""
        return find(self._folder, text, limit)

    def close(self) -> None:
        """Let go of the files."""
        self.work.close()
