"""A lock between processes, let go by the system when its holder ends, however it ends.

It must not know what is being protected.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

RETRY_S = 0.5


def _try_lock(file: IO[bytes]) -> bool:
    if sys.platform == "win32":
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
    else:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _unlock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def held(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock while the block runs; `on_wait` is called once if another process has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if not _try_lock(file):
            on_wait()
            pause = threading.Event()
            while not _try_lock(file):
                pause.wait(RETRY_S)
        try:
            yield
        finally:
            _unlock(file)
