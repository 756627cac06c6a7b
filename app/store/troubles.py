"""What is wrong with the disk, and what of that was told: each trouble once, and its end.

Knows nothing of how troubles are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.core.ports import EventSink
from app.core.store_events import StoreFailed, StoreRecovered
from app.core.words import Sentence
from app.store import faults
from app.store.faults import Fault, fault_of


class Troubles:
    """The troubles of one store, told to its listener."""

    def __init__(self, path: Path, sink: EventSink) -> None:
        self._path = path
        self._sink = sink
        self._fault: Fault | None = None
        """What keeps something from being written, and was told."""
        self._unsaved: Sentence | None = None
        self._news: list[Sentence] = []
        self._unread: set[Fault | None] = set()

    @property
    def are_there(self) -> bool:
        """Whether something could not be written and waits for another try."""
        return self._fault is not None

    @property
    def question(self) -> Sentence | None:
        """Whether the program may end though something is not written; None where everything is."""
        return self._unsaved if self._fault is not None else None

    def unwritten(self, error: Exception, fault: Fault, *, is_kept: bool) -> None:
        """Tell that something could not be written, where it `is_kept` for another try."""
        if is_kept:
            self._begin(fault, faults.unwritten(error, self._path))
        self._unsaved = faults.unsaved(error)

    def unopened(self, error: Exception, problem: Sentence) -> None:
        """Tell that the chats cannot be opened now."""
        self._unsaved = faults.unsaved(error)
        self._begin(fault_of(error), problem)

    def unread(self, error: Exception) -> None:
        """Tell that something cannot be read, the first time."""
        fault = fault_of(error)
        if fault not in self._unread:
            self._unread.add(fault)
            self._sink(StoreFailed(faults.unread(error, self._path)))

    def tell(self, problems: Sequence[Sentence]) -> None:
        """Tell what opening met."""
        for problem in problems:
            self._sink(StoreFailed(problem))

    def tell_later(self, news: Sequence[Sentence]) -> None:
        """Keep what is told as soon as everything is written."""
        self._news += news

    def written(self) -> None:
        """Everything that waited is on disk."""
        if self._fault is not None:
            self._fault = self._unsaved = None
            self._sink(StoreRecovered())
        self.tell(self._news)
        self._news.clear()

    def forget(self) -> None:
        """Nothing will be written any more, which was told."""
        self._fault = self._unsaved = None
        self._news.clear()

    def _begin(self, fault: Fault | None, problem: Sentence) -> None:
        if fault is not self._fault:
            self._fault = fault
            self._sink(StoreFailed(problem, waits=True))
