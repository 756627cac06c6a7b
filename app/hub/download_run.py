"""One run of a download on a thread of its own: its files one after another, how fast it is, and whether to try again."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

from app.core.download import DownloadChanged, DownloadState, DownloadWanted
from app.core.errors import UserError
from app.core.hub_model import Offline
from app.core.ports import EventSink
from app.core.words import Sentence
from app.hub import download_sentences
from app.hub.download import Source, check_room, fetch
from app.hub.download_control import Control, Stopped
from app.hub.partial_file import FileStamp, partial_size
from app.hub.retrying import seconds as retry_seconds
from app.hub.web import Refused, Web

TELL_EVERY_S = 0.25
SPEED_OVER_S = 3.0
STALL_S = 1.0
"""Nothing came for so long: it waits, which is told, and is no speed."""
LOOK_EVERY_S = 0.5
SHORTEST_S = 0.2
"""Less tells nothing of a speed."""
MOST_TRIES = 6
"""In a row that brought no byte, where somebody waits for the end."""
MOST_DOUBLINGS = 16
"""Of the pause: a network may be away for days."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 60.0
LONGEST_RETRY_AFTER_S = 900.0
"""A server that wants a longer pause is told to people instead."""
TOO_MANY = 429
_PASSING = (408, 425, 500, 502, 503, 504)
Connect = Callable[[], tuple[Web, str]]
_log = logging.getLogger(__name__)


class Run:
    """Runs one download once, until it is whole, fails or is stopped."""

    def __init__(
        self,
        wanted: DownloadWanted,
        goals: list[Path],
        sink: EventSink,
        tries: int = 0,
        came: Callable[[int, FileStamp], None] = lambda _number, _stamp: None,
        *,
        is_given_up: bool = True,
    ) -> None:
        """`tries` is how many runs before it in a row brought no byte; `is_given_up` ends it after `MOST_TRIES` of them.

        `came` hears which of its files it has brought.
        """
        self.control = Control()
        self.problem: Sentence | None = None
        """Why it is not whole."""
        self.wants_token = False
        """Whether the hub may give it to an access token, or to another one."""
        self.pause: float | None = None
        """Seconds after which another run may bring more; None where it would not."""
        self.tries = tries
        self.done = sum(map(partial_size, goals))
        self._most_tries = MOST_TRIES if is_given_up else math.inf
        self._wanted = wanted
        self._goals = goals
        self._sink = sink
        self._came = came
        self._lock = threading.Lock()
        self._told_at = float("-inf")
        self._told: DownloadState | None = None
        self._moments: deque[tuple[float, int]] = deque()
        self._came_at = 0.0
        self._is_stalled = False
        self._telling = threading.Lock()
        """Of both threads that tell: the one that fetches, and the one that looks whether anything comes."""

    def stop(self) -> None:
        """End it from another thread; it tells nothing from now on."""
        with self._lock:
            self.control.stop()

    def whole(self, connect: Connect) -> bool:
        """Return whether all files are there now; otherwise it was stopped, or `problem` says why not."""
        done, ended = self.done, threading.Event()
        looking = threading.Thread(target=self._look_until, args=(ended,), name="download look", daemon=True)
        looking.start()
        try:
            return self._try(connect, done)
        finally:
            ended.set()
            looking.join()

    def _try(self, connect: Connect, done: int) -> bool:
        try:
            self._fetch_all(*connect())
        except Stopped:
            return False
        except UserError as error:
            self.tries = 1 if self.done > done else self.tries + 1
            self.wants_token = isinstance(error, Refused) and error.wants_token
            pause = _pause(error, self.tries)
            if pause is not None and self.tries < self._most_tries:
                self.problem, self.pause = error.sentence, pause
            else:
                self.problem = error.sentence
            return False
        except Exception:  # noqa: BLE001  the queue must outlive a broken download, which is told
            _log.exception("The download of %s failed", self._wanted.key)
            self.problem = download_sentences.broken(self._wanted.name).sentence
            return False
        return True

    def _fetch_all(self, web: Web, endpoint: str) -> None:
        sizes = [partial_size(goal) for goal in self._goals]
        missing = [max(0, file.size - size) for file, size in zip(self._wanted.files, sizes, strict=True)]
        check_room(self._goals[0].parent, sum(missing))
        for number, (file, goal) in enumerate(zip(self._wanted.files, self._goals, strict=True)):
            others = sum(sizes) - sizes[number]

            def tell(state: DownloadState, size: int, others: int = others) -> None:
                self._tell(state, others + size)

            more = sum(missing[number + 1 :])
            source = Source(web, endpoint, self._wanted.repository, self._wanted.revision, file, more)
            stamp = fetch(source, goal, self.control, tell)
            if stamp is not None:
                self._came(number, stamp)
            sizes[number] = file.size

    def _look_until(self, ended: threading.Event) -> None:
        while not ended.wait(LOOK_EVERY_S):
            self.look()

    def look(self) -> None:
        """Tell where nothing has come for a while, which nothing that comes tells."""
        with self._telling:
            if self._told == "running" and not self._is_stalled and time.monotonic() - self._came_at >= STALL_S:
                self._is_stalled = True
                self._moments.clear()  # what comes after it has a speed of its own
                self._emit(DownloadChanged(self._wanted, "running", self.done, 0.0, path=str(self._goals[0])))

    def _tell(self, state: DownloadState, done: int) -> None:
        with self._telling:
            self._note(state, done)

    def _note(self, state: DownloadState, done: int) -> None:
        now = time.monotonic()
        self.done = done
        self._came_at, self._is_stalled = now, False
        if state == self._told and now - self._told_at < TELL_EVERY_S:
            return
        speed = self._speed(now, done, state)
        self._told, self._told_at = state, now
        self._emit(DownloadChanged(self._wanted, state, done, speed, path=str(self._goals[0])))

    def _speed(self, now: float, done: int, state: DownloadState) -> float | None:
        """Return bytes per second over the last seconds; None where they are too few to tell."""
        if state != self._told:
            self._moments.clear()
        self._moments.append((now, done))
        while len(self._moments) > 2 and now - self._moments[0][0] > SPEED_OVER_S:
            self._moments.popleft()
        since, before = self._moments[0]
        return (done - before) / (now - since) if state == "running" and now - since >= SHORTEST_S else None

    def _emit(self, event: DownloadChanged) -> None:
        with self._lock:
            if not self.control.is_stopped:
                self._sink(event)


def _pause(error: UserError, tries: int) -> float | None:
    """Return how long to wait before another try; None where none would help."""
    if isinstance(error, Offline):
        return 0.0  # the queue holds it until the program is online again
    if isinstance(error, Refused):
        if error.status == TOO_MANY or (error.status in _PASSING and error.retry_after):
            wanted = retry_seconds(error.retry_after)
            if wanted is not None:
                return wanted if wanted <= LONGEST_RETRY_AFTER_S else None
        if error.status != TOO_MANY and error.status not in _PASSING:
            return None
    elif not isinstance(error, download_sentences.Passing):
        return None
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(tries - 1, MOST_DOUBLINGS))
