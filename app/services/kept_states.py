"""Chats that go on without prefilling: whether what the model has read of them is kept on disk, and how much of it.

The engine writes and reads the files; which may stay is decided here. Off until people turn it on: the files hold what was said.
"""

from __future__ import annotations

from collections.abc import Callable

from app.core.commands import DropState
from app.core.devices import MainMemory
from app.core.job_events import JobFailed, LanesAnalysed
from app.core.kept_state import StateKept, StatePlace
from app.core.model import ModelRef
from app.core.ports import EnginePort
from app.core.signal import Signal
from app.core.words import translate
from app.services.latest_job import LatestJob
from app.services.notices import Notice, Notices
from app.system.jobs import Jobs
from app.system.settings_file import SettingsFile
from app.system.state_folder import StateFolder, StatesLook

GIGABYTE = 10**9
REMOVED = "removing kept states"
MEMORY_SHARE = 2
"""A state is copied before it is written: it may take one part in so many of the memory that is free."""


class KeptStates:
    """The states of conversations on disk."""

    def __init__(
        self,
        folder: StateFolder,
        engine: EnginePort,
        settings: SettingsFile,
        jobs: Jobs,
        notices: Notices,
        memory: Callable[[], MainMemory],
    ) -> None:
        self.changed: Signal[()] = Signal()
        """Other files are there, or others may be."""
        self._folder = folder
        self._engine = engine
        self._settings = settings
        self._jobs = jobs
        self._notices = notices
        self._memory = memory
        self._look: StatesLook | None = None
        self._looking: LatestJob[StatesLook] = LatestJob(jobs, "kept states", self._take_look)
        self._has_told = False

    @property
    def gigabytes(self) -> int:
        """How much may be kept, in GB; 0 keeps nothing."""
        return self._settings.values.kept_states_gb

    @property
    def look(self) -> StatesLook | None:
        """What there is; None where nobody looked yet."""
        return self._look

    def place(self, conversation: int | None, model: ModelRef | None) -> StatePlace | None:
        """Return where the state of a conversation may be kept; None where it may not be."""
        if not self.gigabytes or conversation is None or model is None:
            return None
        budget, memory = self.gigabytes * GIGABYTE, self._memory().available // MEMORY_SHARE
        path = self._folder.place(conversation, model.identity)
        return StatePlace(str(path), model.identity, min(budget, memory), memory < budget)

    def start(self, deleted: Signal[int, tuple[int, ...]]) -> None:
        """Let what is deleted of chats take their states along, and remove what is older than it may be.

        Where nothing may be kept something may be there all the same: whatever ended the program before it was removed.
        """
        deleted.connect(lambda conversation, _messages: self.forget(conversation))
        self.refresh()

    def refresh(self) -> None:
        """Look what there is, and remove what is too much; `changed` follows."""
        folder, budget = self._folder, self.gigabytes * GIGABYTE
        self._looking.want(lambda: folder.tidy(budget))

    def take_gigabytes(self) -> None:
        """People set how much may be kept: what is too much goes; with 0, all of it."""
        if self.gigabytes:
            self.refresh()
        else:
            self.clear()

    def clear(self) -> None:
        """Remove everything that is kept."""
        self._remove(None)

    def forget(self, conversation: int) -> None:
        """Remove what is kept of a conversation."""
        if self.gigabytes:
            self._remove(conversation)

    def _remove(self, conversation: int | None) -> None:
        begins = "" if conversation is None else f"{conversation}-"
        self._engine.send(DropState(self._engine.new_request(), begins))
        folder, ready = self._folder, LanesAnalysed(0, REMOVED)

        def remove() -> LanesAnalysed:
            folder.remove(conversation)
            return ready

        self._jobs.submit(REMOVED, remove, lambda: JobFailed(REMOVED, _NOT_REMOVED))

    def take(self, event: StateKept | LanesAnalysed) -> None:
        """Take in that the engine wrote a file, or what a look found."""
        if isinstance(event, LanesAnalysed):
            if event.job == REMOVED:
                self.refresh()
            self._looking.take(event)
            return
        if event.problem is not None and not self._has_told:
            self._has_told = True
            self._notices.post(Notice(event.problem))
        elif event.problem is None:
            self._has_told = False
        self.refresh()

    def _take_look(self, look: StatesLook | None) -> None:
        self._look = look
        if look is None:
            self._notices.post(Notice(_NOT_REMOVED))
        self.changed.emit()


_NOT_REMOVED = translate(
    "KeptStates",
    "What is kept on disk of chats could not be looked through: the log says why. Check the folder of the cache, or "
    "turn keeping off in the settings.",
)
