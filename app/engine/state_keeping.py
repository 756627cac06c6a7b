"""Conversations go on without prefilling: what their cells hold is kept on disk, and comes back from there.

It is written when another conversation takes the cells, when nothing is to do for a while, and at the end; a thread of its own
writes. Where a state lies and how large it may be comes with the prompt. A file that cannot be used costs a prefill, no more.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from app.core.kept_state import StateKept, StatePlace
from app.core.words import Sentence, translate
from app.engine import state_file
from app.engine.backend import Backend, TokenIds
from app.engine.kv_cache import KVCache, Returned, common_prefix
from app.engine.state_file import Damaged, Ids, Known, Maker, OtherMaker, State

IDLE_S = 2.0
"""What people do not go on with at once is kept: the next moment may be the last one."""
LEAST_TOKENS = 64
"""Fewer are read again before anybody notices."""
MEGABYTE = 10**6
MOST_BYTES_AT_END = 256 * MEGABYTE
"""The process has two seconds to end."""


class StateKeeping:
    """The conversation whose tokens are in the cells, and its file; for the thread that evaluates, alone."""

    def __init__(self, send: Callable[[StateKept], None], now: Callable[[], float] = time.monotonic) -> None:
        self._send = send
        self._now = now
        self._place: StatePlace | None = None
        self._source: tuple[Backend, KVCache] | None = None
        self._on_disk: Ids | None = None
        """The tokens of the file, where they are known; None otherwise."""
        self._due: float | None = None
        self._writer: threading.Thread | None = None

    @property
    def waits_s(self) -> float | None:
        """After how many seconds `keep_if_due` has something to do; None while it has not."""
        return None if self._due is None else max(0.0, self._due - self._now())

    def begin(
        self,
        backend: Backend,
        cache: KVCache,
        place: StatePlace | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        """The cells go to a conversation that may be kept at a place, or to something else; what they held is kept first."""
        self._due = None
        if self._place is None or place is None or place.path != self._place.path:
            self.keep()
            self._on_disk = None
        self._place, self._source = place, (backend, cache)
        cache.kept = None if place is None else KeptOnDisk(backend, place, stopped, self._wait, self._note)

    def ended(self) -> None:
        """The conversation has its answer."""
        self._due = None if self._place is None else self._now() + IDLE_S

    def keep_if_due(self) -> None:
        """Keep what nobody went on with."""
        if self._due is not None and self._now() >= self._due:
            self.keep()

    def keep(self, most_bytes: int | None = None) -> None:
        """Write what the cells hold of the conversation, unless its file holds it already; tell where it is too much."""
        self._due = None
        if self._place is None or self._source is None:
            return
        (backend, cache), place = self._source, self._place
        ids = cache.ids.copy()
        if len(ids) < LEAST_TOKENS or (self._on_disk is not None and np.array_equal(self._on_disk, ids)):
            return
        most = place.most_bytes if most_bytes is None else min(place.most_bytes, most_bytes)
        size = backend.whole.state_bytes()
        if not 0 < size <= most:
            if size:
                self._send(StateKept(place.path, len(ids), 0, _too_large(size, place, most)))
            return
        self._wait()
        try:
            state = backend.whole.save()
        except (MemoryError, RuntimeError) as error:  # an answer is worth more than what it may save later
            sys.excepthook(type(error), error, error.__traceback__)
            self._send(StateKept(place.path, len(ids), 0, _NO_MEMORY))
            return
        self._on_disk = ids
        maker = backend.whole.maker(place.model)
        self._writer = threading.Thread(
            target=self._write, args=(place, maker, ids, state), name="engine-state", daemon=True
        )
        self._writer.start()

    def drop(self, name_begins: str) -> None:
        """Keep nothing of the conversation any more, where the name of its file begins so."""
        if self._place is not None and Path(self._place.path).name.startswith(name_begins):
            self._place = self._due = self._on_disk = None
            if self._source is not None:
                self._source[1].kept = None

    def close(self) -> None:
        """The cells are about to go: keep what can be kept quickly, and wait for it."""
        self.keep(MOST_BYTES_AT_END)
        self._wait()
        self._place = self._source = self._on_disk = None

    def _write(self, place: StatePlace, maker: Maker, ids: Ids, state: State) -> None:
        try:
            size = state_file.write(Path(place.path), maker, ids, state)
        except OSError as error:
            self._send(StateKept(place.path, len(ids), 0, _not_written(error)))
        else:
            self._send(StateKept(place.path, len(ids), size))

    def _wait(self) -> None:
        if self._writer is not None:
            self._writer.join()
        self._writer = None

    def _note(self, ids: Ids | None) -> None:
        self._on_disk = ids


class KeptOnDisk:
    """The file of one conversation, as its cache asks for it when a prompt comes."""

    def __init__(
        self,
        backend: Backend,
        place: StatePlace,
        stopped: Callable[[], bool],
        wait: Callable[[], None],
        note: Callable[[Ids | None], None],
    ) -> None:
        self._backend = backend
        self._place = place
        self._stopped = stopped
        self._wait = wait
        self._note = note

    def take(self, prompt: TokenIds, more_than: int, cells: int) -> Returned | None:
        """Put the state back where it holds clearly more of a prompt than the cells do; None where the cells are as before.

        A cache that cannot be cut anywhere needs a prompt that begins with all of it.
        """
        try:
            self._wait()
            with Path(self._place.path).open("rb") as file:
                known = state_file.read_known(file, self._backend.whole.maker(self._place.model))
                self._note(known.ids)
                shared = common_prefix(known.ids, np.asarray(prompt, np.int32))
                whole = self._backend.memory_kind == "plain" or shared == len(known.ids)
                if len(known.ids) > cells or not whole or shared - more_than < LEAST_TOKENS:
                    return None
                return self._put_back(state_file.read_state(file, known, self._stopped), known, shared)
        except (FileNotFoundError, OtherMaker):
            self._note(None)
            return None
        except state_file.Stopped:
            return None
        except (Damaged, OSError, MemoryError) as error:
            self._note(None)
            return Returned(0, None, DAMAGED if isinstance(error, Damaged) else _not_read(error))

    def _put_back(self, state: State, known: Known, shared: int) -> Returned:
        if self._backend.whole.restore(state):
            with suppress(OSError):  # it only says that it was used: a disk that cannot be written needs no word here
                os.utime(self._place.path)
            return Returned(shared, known.ids)
        self._note(None)
        return Returned(0, known.ids[:0])


def _too_large(size: int, place: StatePlace, most: int) -> Sentence:
    values = {"size": -(-size // MEGABYTE), "most": most // MEGABYTE}
    if most < place.most_bytes:
        return translate(
            "Engine",
            "What the model has read of this chat takes {size:,} MB and was not kept on disk: within the moment in which a "
            "model is put away, only {most:,} MB are written. Wait two seconds after an answer if you want it kept.",
            **values,
        )
    if place.lacks_memory:
        return translate(
            "Engine",
            "What the model has read of this chat takes {size:,} MB and was not kept on disk: free memory allows for {most:,} MB "
            "at the moment. Close other programs if you want it kept.",
            **values,
        )
    return translate(
        "Engine",
        "What the model has read of this chat takes {size:,} MB and was not kept on disk: {most:,} MB are allowed for all chats. "
        "Allow for more in the settings if you want it kept.",
        **values,
    )


def _not_written(error: OSError) -> Sentence:
    return translate(
        "Engine",
        "What the model has read of this chat could not be kept on disk ({reason}): it will be read again after the next "
        "start. Free some space, or turn keeping off in the settings.",
        reason=error.strerror or type(error).__name__,
    )


def _not_read(error: OSError | MemoryError) -> Sentence:
    return translate(
        "Engine",
        "What was kept on disk of this chat could not be read back ({reason}), so that the model read the chat again.",
        reason=(isinstance(error, OSError) and error.strerror) or type(error).__name__,
    )


DAMAGED = translate(
    "Engine", "What was kept on disk of this chat is damaged and was not used: the model read the chat again."
)
_NO_MEMORY = translate(
    "Engine",
    "There was no memory to keep on disk what the model has read of this chat. Close other programs if you want it kept.",
)
