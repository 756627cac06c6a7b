"""A hub that downloads are tried against: it fails at whatever byte somebody wants, once or always."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue

from app.core.download import DownloadChanged, DownloadFile, DownloadGone, DownloadState, DownloadWanted
from app.core.events import Event
from app.hub.download_queue import DownloadQueue
from app.hub.reading import HubReader
from app.system.offline_switch import OfflineSwitch
from tests.hub.loopback_hub import GUARD_S, LoopbackHub, Request

CONTENT = b"GGUF" + bytes(range(256)) * 4_000
HALF = len(CONTENT) // 2
NAME = "tiny.F16.gguf"
_OPEN_RANGE = re.compile(r"bytes=(\d+)-(\d*)")


class DownloadHub(LoopbackHub):
    """Sends whole files and open ranges with an ETag."""

    def __init__(self, files: Mapping[str, bytes], repository: str = "org/tiny-GGUF") -> None:
        super().__init__(files, repository)
        self.delivering = self.deliver
        self.break_at: list[int] = []
        """At which byte of the file to close the connection, one for each request; none left means whole."""
        self.hang_at: int | None = None
        self.hang_after_next: int | None = None
        """Where the answers after the next one hang."""
        self.refusals: list[tuple[int, dict[str, object]]] = []
        """Statuses to answer with first, with their headers."""
        self.etag = '"one"'
        self.knows_ranges = True
        self.at_hold = threading.Event()
        """Set when a request hangs."""

    def deliver(self, request: Request) -> None:
        if self.refusals:
            status, headers = self.refusals.pop(0)
            request.begin(status, {"Content-Length": 0, **headers})
            return
        content = self.content_of(request)
        asked = _OPEN_RANGE.fullmatch(request.headers.get("Range", ""))
        is_same = request.headers.get("If-Range", self.etag) == self.etag
        first = int(asked[1]) if asked is not None and is_same and self.knows_ranges else 0
        headers = {"Content-Type": "application/octet-stream", "ETag": self.etag}
        if first >= len(content) > 0 and first:
            request.begin(416, {"Content-Length": 0})
            return
        if asked is not None and is_same and self.knows_ranges:
            told = f"bytes {first}-{len(content) - 1}/{len(content)}"
            request.begin(206, {**headers, "Content-Range": told, "Content-Length": len(content) - first})
        else:
            request.begin(200, {**headers, "Content-Length": len(content)})
        hang_at, self.hang_at = self.hang_at, self.hang_after_next or self.hang_at
        self.hang_after_next = None
        end = self.break_at.pop(0) if self.break_at else len(content)
        if hang_at is not None:
            request.send(content[first:hang_at])
            self.at_hold.set()
            self.ended.wait(GUARD_S)
            return
        request.send(content[first:end])
        request.close_connection = True

    def wanted(
        self, *names: str, sha256: bool = True, size: int | None = None, revision: str = "main"
    ) -> DownloadWanted:
        files = []
        for name in names or tuple(self.files):
            content = self.files[name]
            digest = hashlib.sha256(content).hexdigest() if sha256 else ""
            files.append(DownloadFile(name, len(content) if size is None else size, digest))
        return DownloadWanted(self.repository, revision, tuple(files))

    def ranges(self) -> list[str]:
        """Return which range each request to the store asked for; empty for whole files."""
        return [headers.get("range", "") for where, _, headers in self.asked if where == "store"]


class Downloader:
    """A queue with what it tells."""

    def __init__(
        self,
        hub: LoopbackHub,
        folder: Path,
        kept: Path | None = None,
        offline: OfflineSwitch | None = None,
        /,
        **environment: str,
    ) -> None:
        self.told: list[Event] = []
        self._events: SimpleQueue[Event] = SimpleQueue()
        self.folder = folder
        offline = offline or OfflineSwitch(environment)
        reader = HubReader({"HF_ENDPOINT": hub.endpoint, **environment}, offline=offline)
        self.queue = DownloadQueue(reader.connect, folder, kept, self._events.put, offline.reason)

    def until(self, state: DownloadState | None, key: str = "") -> DownloadChanged:
        """Wait until one is in that state, or gone where it is None."""
        end = time.monotonic() + GUARD_S
        while True:
            try:
                event = self.next_event(end - time.monotonic())
            except Empty:
                raise AssertionError(f"never {state}: {self.told[-3:]}") from None
            if isinstance(event, DownloadGone) and state is None and key in ("", event.key):
                return DownloadChanged(DownloadWanted("", "", ()), "failed")
            if isinstance(event, DownloadChanged) and event.state == state and key in ("", event.wanted.key):
                return event

    def next_event(self, within_s: float = GUARD_S) -> Event:
        """Wait for what is told next."""
        event = self._events.get(timeout=max(0.0, within_s))
        self.told.append(event)
        return event

    def goal(self, hub: LoopbackHub, name: str) -> Path:
        return self.folder / hub.repository / name

    def files(self) -> list[str]:
        """Return what lies in the folder, by name."""
        return sorted(path.name for path in self.folder.rglob("*") if path.is_file())


@contextmanager
def downloader(
    hub: LoopbackHub,
    folder: Path,
    kept: Path | None = None,
    offline: OfflineSwitch | None = None,
    /,
    **environment: str,
) -> Iterator[Downloader]:
    made = Downloader(hub, folder, kept, offline, **environment)
    try:
        yield made
    finally:
        made.queue.close()
