"""The SHA-256 of a file that is still being written, kept up to date beside its writer.

It reads behind the writer what the system still has in memory, so that neither waits for the other, and what an earlier
run left is read the same way.
"""

from __future__ import annotations

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

PIECE = 1 << 20
SYNC_EVERY = 32 << 20
"""So many bytes go to the disk at a time, so that little is left for the end."""


class Checksum:
    """One thread for one file."""

    def __init__(self, path: Path, *, is_wanted: bool = True) -> None:
        """Where the checksum is not wanted, nothing is read: what is written only goes to the disk meanwhile."""
        self._path = path
        self._is_wanted = is_wanted
        self._state = threading.Condition()
        self._written = 0
        self._done = 0
        self._stopped = False
        self._error: OSError | None = None
        self._digest = hashlib.sha256()
        self._thread = threading.Thread(target=self._run, name="checksum", daemon=True)
        self._thread.start()

    def written(self, size: int) -> None:
        """So many bytes of the file are there now."""
        with self._state:
            self._written = size
            if size - self._done >= PIECE:
                self._state.notify_all()

    def result(self, size: int) -> str | None:
        """Wait for the checksum of a file of so many bytes; None where it was stopped."""
        with self._state:
            self._written = size
            self._state.notify_all()
            self._state.wait_for(lambda: self._done >= size or self._stopped or self._error is not None)
            if self._error is not None:
                raise self._error
            return None if self._stopped else self._digest.hexdigest()

    def stop(self) -> None:
        """End it, from any thread."""
        with self._state:
            self._stopped = True
            self._state.notify_all()

    def close(self) -> None:
        """End it and wait for its thread."""
        self.stop()
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._path.open("rb", buffering=0) as file:
                buffer = bytearray(PIECE)
                view = memoryview(buffer)
                while (missing := self._missing()) > 0:
                    count = min(missing, PIECE)
                    if self._is_wanted:
                        count = file.readinto(view[:count])
                        if not count:
                            raise OSError("The file is shorter than what was written to it")
                        self._digest.update(view[:count])
                    if self._done // SYNC_EVERY != (self._done + count) // SYNC_EVERY:
                        with suppress(OSError):  # where a reader may not: then all is left for the end
                            os.fsync(file.fileno())
                    with self._state:
                        self._done += count
                        self._state.notify_all()
        except OSError as error:
            with self._state:
                self._error = error
                self._state.notify_all()

    def _missing(self) -> int:
        """Wait for bytes and return how many there are; 0 at the end."""
        with self._state:
            self._state.wait_for(lambda: self._stopped or self._written > self._done)
            return 0 if self._stopped else self._written - self._done
