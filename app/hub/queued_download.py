"""What the queue knows of one download, in the program and in its file."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from app.core.download import DownloadState, DownloadWanted
from app.core.words import Sentence
from app.hub.partial_file import FileStamp

if TYPE_CHECKING:
    from app.hub.download_run import Run

_MOST_KEPT_BYTES = 4 << 20
_log = logging.getLogger(__name__)


class KeptDownload(msgspec.Struct, frozen=True):
    """One download as the file of the queue has it."""

    wanted: DownloadWanted
    state: Literal["waiting", "paused", "failed"] = "waiting"
    problem: Sentence | None = None
    came: dict[int, FileStamp] = {}
    """Which of its files it has brought: of the others none is ever deleted."""
    is_gone: bool = False
    """Whether it was given up, and only what has come of it is still to be deleted."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub give it."""


def read_kept(path: Path) -> list[KeptDownload]:
    """Return what an earlier run of the program has written; nothing where that is not there, or cannot be read."""
    try:
        with path.open("rb") as file:
            return msgspec.json.decode(file.read(_MOST_KEPT_BYTES), type=list[KeptDownload])
    except FileNotFoundError:
        return []
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        _log.info("The queue of downloads cannot be read: %s", error)
        return []


@dataclass(eq=False)
class QueuedDownload:
    """One download while the program runs."""

    wanted: DownloadWanted
    goals: list[Path]
    state: DownloadState = "waiting"
    problem: Sentence | None = None
    run: Run | None = None
    """While a thread of it is there, if only to end."""
    thread: threading.Thread | None = None
    came: dict[int, FileStamp] = field(default_factory=dict)
    """What it has brought, by the number of the file."""
    is_gone: bool = False
    wants_token: bool = False
    tries: int = 0
    """In a row that brought no byte."""
    again_at: float = 0.0
    """When one that is “retrying” tries again."""

    @property
    def is_running(self) -> bool:
        """Whether it takes one of the places: a thread that was told to end takes none, however long that lasts."""
        return self.run is not None and not self.run.control.is_stopped

    @property
    def may_begin(self) -> bool:
        """Whether only a place among those that run is missing."""
        is_due = self.state == "retrying" and time.monotonic() >= self.again_at
        return self.run is None and (self.state == "waiting" or is_due)

    def kept(self, state: Literal["waiting", "paused", "failed"]) -> KeptDownload:
        """Return what is written down of it, in the state that the next start finds."""
        return KeptDownload(self.wanted, state, self.problem, dict(self.came), self.is_gone, self.wants_token)
