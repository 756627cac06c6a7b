"""Which downloads run, wait, are paused or have failed: one thread keeps them in order and on the disk.

Whoever asks only leaves a wish; what comes of it are events. What runs is on threads of its own (`download_run`).
"""

from __future__ import annotations

import importlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from app.core.download import DownloadChanged, DownloadGone, DownloadWanted
from app.core.errors import UserError
from app.core.ports import EventSink
from app.core.words import Sentence
from app.hub.giving_up import is_given_up
from app.hub.partial_file import FileStamp, goals_of, partial_size, remove_empty_folders
from app.hub.queued_download import KeptDownload, QueuedDownload, read_kept
from app.system.whole_file import replace_whole

if TYPE_CHECKING:
    from app.hub.download_run import Connect, Run

RUN = "app.hub.download_run"
"""Loaded with the first download: it brings all that the network needs."""
AT_ONCE = 2
STOP_S = 1.0
_log = logging.getLogger(__name__)


class DownloadQueue:
    """The queue; its threads begin with the first wish."""

    def __init__(
        self,
        connect: Connect,
        folder: Path,
        kept: Path | None,
        sink: EventSink,
        offline: Callable[[], Sentence | None] = lambda: None,
        whole: Callable[[Path, DownloadWanted], None] = lambda _path, _wanted: None,
    ) -> None:
        """`kept` is the file that lets a later run of the program go on; None keeps nothing, and gives up after some tries.

        `offline` says why nothing may be fetched, if that is so; `whole` keeps what came of a download.
        """
        self._connect = connect
        self._folder = folder
        self._kept = kept
        self._sink = sink
        self._offline = offline
        self._whole = whole
        self._held: Sentence | None = None
        """Why nothing runs until `look` finds that it may."""
        self._at_once = AT_ONCE
        self._items: list[QueuedDownload] = []
        self._ending: list[QueuedDownload] = []
        """Taken off the list while their threads still end, or something of them cannot be deleted yet."""
        self._wishes: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._saved = b""
        self._is_read = False
        """Whether what an earlier run left is known: until then nothing may be written over it."""

    def open(self) -> None:
        """Take up what an earlier run left."""
        self._wish(self._read)

    def add(self, wanted: DownloadWanted) -> None:
        """Put one behind the others, or let one that has stopped go on."""
        self._wish(lambda: self._add(wanted))

    def pause(self, key: str) -> None:
        """Stop one and keep what is there."""
        self._wish(lambda: self._pause(key))

    def resume(self, key: str) -> None:
        """Go on with one that has stopped."""
        self._wish(lambda: self._resume(key))

    def first(self, key: str) -> None:
        """Put one before all others."""
        self._wish(lambda: self._first(key))

    def cancel(self, key: str) -> None:
        """End one and delete its partial files."""
        self._wish(lambda: self._cancel(key))

    def set_at_once(self, count: int) -> None:
        """Let so many run at once; more that run already end first."""
        self._wish(lambda: setattr(self, "_at_once", max(1, count)))

    def look(self) -> None:
        """See whether anything may be fetched: what runs stops where it may not, and goes on once it may."""
        self._wish(lambda: None)

    def close(self) -> None:
        """Stop all threads and keep what is there."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._wishes.put(None)
            thread.join(2 * STOP_S)

    def _wish(self, wish: Callable[[], None]) -> None:
        self._wishes.put(wish)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="downloads", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while (wish := self._next()) is not None:
            try:
                self._hold()
                wish()
                self._begin_waiting()
            except Exception:  # noqa: BLE001  the queue must outlive a fault, which the log has
                _log.exception("The queue of downloads failed")
            self._save()
        running = [item for item in (*self._items, *self._ending) if item.run is not None]
        for item in running:
            if item.run is not None:
                item.run.stop()
        for item in running:
            if item.thread is not None:
                item.thread.join(STOP_S)
        for item in self._ending:
            if item.thread is None or not item.thread.is_alive():
                item.run = None  # nobody is left who would hear that it has ended
        self._ending = [item for item in self._ending if item.is_gone and not self._is_given_up(item)]
        self._save()

    def _next(self) -> Callable[[], None] | None:
        """Return the next wish, or one for nothing when a download may try again."""
        moments = [item.again_at for item in self._items if item.state == "retrying"]
        try:
            return self._wishes.get(timeout=max(0.0, min(moments) - time.monotonic()) if moments else None)
        except queue.Empty:
            return lambda: None

    def _hold(self) -> None:
        """Hold all while the program is offline: as if paused, but they go on by themselves."""
        held, self._held = self._held, self._offline()
        if held == self._held:
            return
        for item in self._items:
            if item.state in ("paused", "failed"):
                continue
            if self._held is not None:
                self._stop(item)
                item.state = "waiting"
            self._tell(item)

    def _add(self, wanted: DownloadWanted) -> None:
        if self._find(wanted.key) is not None:
            self._resume(wanted.key)
            return
        item = self._item(KeptDownload(wanted))
        # what is still to be deleted of the same files is wanted again
        self._ending = [each for each in self._ending if each.run is not None or each.goals != item.goals]
        others = [other for other in self._items if set(other.goals) & set(item.goals)]
        if any(other.is_running for other in others):
            return  # another commit of the same files: two never write one file
        for other in others:
            self._remove(other)
        self._items.append(item)
        self._tell(item)

    def _item(self, kept: KeptDownload) -> QueuedDownload:
        try:
            goals = goals_of(self._folder, kept.wanted)
            made = QueuedDownload(kept.wanted, goals, kept.state, kept.problem, came=dict(kept.came))
            made.wants_token = kept.wants_token
            return made
        except UserError as error:
            return QueuedDownload(kept.wanted, [], "failed", error.sentence)

    def _pause(self, key: str) -> None:
        item = self._find(key)
        if item is not None and item.state not in ("paused", "failed"):
            self._stop(item)
            item.state = "paused"
            self._tell(item)

    def _resume(self, key: str) -> None:
        item = self._find(key)
        if item is not None and item.state in ("paused", "failed", "retrying") and item.goals:
            item.state, item.problem, item.tries = "waiting", None, 0
            self._tell(item)

    def _first(self, key: str) -> None:
        item = self._find(key)
        if item is None:
            return
        self._items.remove(item)
        self._items.insert(0, item)
        waits = item.state == "waiting" and item.run is None
        running = [other for other in self._items if other.is_running]
        if waits and len(running) >= self._at_once:
            last = running[-1]
            self._stop(last)
            last.state = "waiting"
            self._tell(last)

    def _cancel(self, key: str) -> None:
        item = self._find(key)
        if item is None:
            return
        item.is_gone = True
        self._stop(item)
        is_left = item.run is None and not self._is_given_up(item)
        self._remove(item)
        if is_left:
            self._ending.append(item)

    def _remove(self, item: QueuedDownload) -> None:
        self._items.remove(item)
        if item.run is not None:
            self._ending.append(item)
        self._sink(DownloadGone(item.wanted.key))

    def _stop(self, item: QueuedDownload) -> None:
        if item.run is not None:
            item.run.stop()

    def _is_given_up(self, item: QueuedDownload) -> bool:
        """Delete what has come of one, and return whether nothing is left."""
        is_over = is_given_up(item)
        if all(other is item or other.run is None for other in (*self._items, *self._ending)):
            remove_empty_folders(item.goals, self._folder)  # nobody makes one of them at this moment
        return is_over

    def _begin_waiting(self) -> None:
        if self._held is not None:
            return
        busy = {goal for item in self._ending if item.run is not None for goal in item.goals}
        count = sum(item.is_running for item in self._items)
        for item in self._items:
            if not item.may_begin:
                continue
            if count < self._at_once and busy.isdisjoint(item.goals):
                count += 1
                self._begin(item)
            elif item.state == "retrying":
                item.state = "waiting"
                self._tell(item)

    def _begin(self, item: QueuedDownload) -> None:
        def came(number: int, stamp: FileStamp) -> None:
            self._wishes.put(lambda: item.came.update({number: stamp}))

        # what a later start goes on with waits for a network that is away, however long; a command ends and says why
        is_given_up = self._kept is None
        make: type[Run] = importlib.import_module(RUN).Run
        run = make(item.wanted, item.goals, self._sink, item.tries, came, is_given_up=is_given_up)
        item.run = run
        item.state, item.problem = "running", None

        def work() -> None:
            whole = run.whole(self._connect)
            self._wishes.put(lambda: self._ended(item, run, whole))

        self._tell(item)
        item.thread = threading.Thread(target=work, name="download", daemon=True)
        item.thread.start()

    def _ended(self, item: QueuedDownload, run: Run, whole: bool) -> None:
        item.run = item.thread = None
        if item in self._ending and not (item.is_gone and whole):
            if not item.is_gone or self._is_given_up(item):
                self._ending.remove(item)
        elif whole:  # also what was given up too late
            (self._ending if item in self._ending else self._items).remove(item)
            item.state = "done"
            self._whole(item.goals[0], item.wanted)
            self._tell(item)
        elif not run.control.is_stopped:
            item.problem, item.tries, item.wants_token = run.problem, run.tries, run.wants_token
            item.state = "failed" if run.pause is None else "retrying"
            item.again_at = time.monotonic() + (run.pause or 0.0)
            if self._held is not None and item.state == "retrying":
                item.state = "waiting"
            self._tell(item, run.pause)

    def _tell(self, item: QueuedDownload, again_in_s: float | None = None) -> None:
        done = item.wanted.size if item.state == "done" else sum(map(partial_size, item.goals))
        path = str(item.goals[0]) if item.goals else ""
        state, problem = item.state, item.problem
        if self._held is not None and state == "waiting":
            state, problem, again_in_s = "paused", self._held, None
        wants = item.wants_token and problem is not None
        self._sink(DownloadChanged(item.wanted, state, done, None, problem, again_in_s, path, wants))

    def _find(self, key: str) -> QueuedDownload | None:
        return next((item for item in self._items if item.wanted.key == key), None)

    def _read(self) -> None:
        try:
            kept = read_kept(self._kept) if self._kept is not None else []
        except OSError as error:
            _log.info("The queue of downloads cannot be read, so nothing is written over it: %s", error)
            return
        self._is_read = True
        for each in kept:
            if not each.wanted.files or self._find(each.wanted.key) is not None:
                continue
            item = self._item(each)
            if each.is_gone:
                item.is_gone = True
                if not self._is_given_up(item):
                    self._ending.append(item)
            elif all(set(other.goals).isdisjoint(item.goals) for other in self._items):
                self._items.append(item)
                self._tell(item)

    def _may_write(self, kept: Path) -> bool:
        """Whether nothing lies there that is not known yet."""
        self._is_read = self._is_read or not kept.exists()
        return self._is_read

    def _save(self) -> None:
        if self._kept is None:
            return
        states: dict[str, Literal["paused", "failed"]] = {"paused": "paused", "failed": "failed"}
        gone = [item for item in self._ending if item.is_gone]
        kept = [item.kept(states.get(item.state, "waiting")) for item in (*self._items, *gone)]
        content = msgspec.json.encode(kept)
        try:
            if not self._may_write(self._kept):
                return
            if content != self._saved and (kept or self._kept.exists()):
                self._kept.parent.mkdir(parents=True, exist_ok=True)
                replace_whole(self._kept, content)
                self._saved = content
        except OSError as error:
            _log.info("The queue of downloads cannot be kept: %s", error)
