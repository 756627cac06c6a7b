"""The process that downloads as the program does: with the program's queue, into a folder, away from any window."""

from __future__ import annotations

import queue
import time
from pathlib import Path

from app.core.download import DownloadChanged, DownloadFile, DownloadWanted
from app.core.events import Event
from app.hub.download_queue import DownloadQueue
from app.hub.reading import HubReader
from tests.bench.children import Answer, serve

WAIT_S = 300.0


class _Downloading:
    """One download at a time."""

    def __init__(self) -> None:
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._queue: DownloadQueue | None = None
        self._begun = 0.0

    def begin(self, endpoint: str, folder: str, name: str, size: int, sha256: str) -> Answer:
        reader = HubReader({"HF_ENDPOINT": endpoint})
        self._queue = DownloadQueue(reader.connect, Path(folder), None, self._events.put)
        self._begun = time.perf_counter()
        self._queue.add(DownloadWanted("org/repo", "main", (DownloadFile(name, size, sha256),)))
        return {}

    def until(self, size: int) -> Answer:
        """Wait until so many bytes are there; the whole file has its name then."""
        while True:
            event = self._events.get(timeout=WAIT_S)
            if not isinstance(event, DownloadChanged):
                continue
            if event.state == "failed" or event.state == "retrying":
                return {"problem": event.problem.english() if event.problem is not None else event.state}
            if event.state == "done" or (event.state == "running" and event.done >= size):
                return {"seconds": time.perf_counter() - self._begun, "done": event.done, "path": event.path}

    def close(self) -> Answer:
        assert self._queue is not None
        self._queue.close()
        return {}


if __name__ == "__main__":
    downloading = _Downloading()
    serve({"begin": downloading.begin, "until": downloading.until, "close": downloading.close})
