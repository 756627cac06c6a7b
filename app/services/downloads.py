"""The downloads as people see them: a row each, with what can be done about it; what fetches is behind a port."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from app.core.download import (
    DownloadAction,
    DownloadChanged,
    DownloadGone,
    DownloadState,
    DownloadWanted,
    safe_parts,
)
from app.core.hub_model import HubModel, HubReference
from app.core.model import FoundModel
from app.core.ports import DownloadPort, HubListingPort
from app.core.signal import Signal
from app.core.words import Sentence
from app.system.settings_file import LEAST_AT_ONCE, MOST_AT_ONCE, SettingsFile

_ACTIONS: dict[DownloadState, tuple[DownloadAction, ...]] = {
    "waiting": ("first", "pause", "cancel"),
    "running": ("pause", "cancel"),
    "retrying": ("resume", "pause", "cancel"),
    "checking": ("pause", "cancel"),
    "paused": ("resume", "cancel"),
    "failed": ("resume", "cancel"),
    "done": ("dismiss",),
}


class DownloadRow(msgspec.Struct, frozen=True):
    """One download."""

    wanted: DownloadWanted
    state: DownloadState
    done: int
    """Bytes that are here."""
    bytes_per_s: float | None = None
    """None while it is not known, 0 while nothing comes."""
    seconds_left: float | None = None
    """None while it is not known."""
    problem: Sentence | None = None
    """Why it failed, tries again or is held, and what to do."""
    again_in_s: float | None = None
    path: str = ""
    """Where its first file is, or will be."""
    unusable: Sentence | None = None
    """Why there is no chat with what is whole."""
    is_away: bool = False
    """Whether what was whole has been deleted or moved since."""
    wants_token: bool = False
    """Whether an access token, or another one, may have the hub give it."""

    @property
    def key(self) -> str:
        """What names it."""
        return self.wanted.key

    @property
    def total(self) -> int:
        """Bytes of all its files."""
        return self.wanted.size

    @property
    def share(self) -> float:
        """How much of it is here, 0 to 1."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def actions(self) -> tuple[DownloadAction, ...]:
        """What can be done about it now."""
        if self.is_held:
            return ("pause", "cancel")  # who pauses it does not want it to go on by itself
        return ("again", "dismiss") if self.is_away else _ACTIONS[self.state]

    @property
    def is_held(self) -> bool:
        """Whether it only waits until the program is online again, and goes on by itself unless somebody pauses it."""
        return self.state == "paused" and self.problem is not None


class Standing(msgspec.Struct, frozen=True):
    """How it stands with a model of a hub on this machine: one of both is None, or both are."""

    row: DownloadRow | None = None
    """Its download."""
    found: FoundModel | None = None
    """What lies where it belongs, or the same file in the Hugging Face cache or under a name that people gave it."""
    is_other: bool = False
    """Whether that is another version of it, which takes its place."""

    @property
    def is_free(self) -> bool:
        """Whether it can be downloaded now, or what failed be tried again."""
        is_over = self.row is None or self.row.is_away or self.row.state == "failed"
        return self.found is None and is_over

    @property
    def path(self) -> str:
        """The file that there can be a chat with; empty where there is none."""
        if self.found is not None:
            return self.found.path if self.found.is_usable else ""
        row = self.row
        return row.path if row is not None and row.state == "done" and not row.is_away and not row.unusable else ""


class Downloads:
    """All rows, in the order in which they were wanted, or put first; those that are done stay until somebody dismisses them."""

    def __init__(self, port: DownloadPort, folder: Path, hub: HubListingPort, settings: SettingsFile) -> None:
        """`folder` is where the port puts what it downloads."""
        self.changed: Signal[()] = Signal()
        """Some row is another one."""
        self.ended: Signal[DownloadRow] = Signal()
        """This one is whole, or has failed."""
        self._port = port
        self._folder = folder
        self._hub = hub
        self._settings = settings
        self._rows: dict[str, DownloadRow] = {}
        self._wanted: set[str] = set()
        """What was wanted in this run of the program: of what an earlier one left, the end was told then."""
        self._here: dict[str, FoundModel] = {}
        """The models on this machine by their paths."""

    @property
    def rows(self) -> tuple[DownloadRow, ...]:
        """All of them."""
        return tuple(self._rows.values())

    @property
    def share(self) -> float | None:
        """How much is here of all that is on its way, for a task bar; None where nothing is."""
        moving = [row for row in self.rows if row.state in ("waiting", "running", "retrying", "checking")]
        total = sum(row.total for row in moving)
        return sum(row.done for row in moving) / total if total else None

    def row(self, key: str) -> DownloadRow | None:
        """Return one of them; None where there is none of that name."""
        return self._rows.get(key)

    def standing(self, wanted: DownloadWanted) -> Standing:
        """Return whether a model is on its way or here already, in whatever version."""
        row = next((row for row in self._rows.values() if row.wanted.place == wanted.place), None)
        if row is not None and row.state not in ("done", "failed"):
            return Standing(row, is_other=not row.wanted.is_same(wanted))
        parts = safe_parts(wanted.place)
        found = self._here.get(str(self._folder.joinpath(*parts))) if parts is not None else None
        if found is not None and found.parts == found.parts_wanted:
            came_of = row.wanted if row is not None and row.path == found.path else found.source
            is_other = came_of is not None and not came_of.is_same(wanted)
            return Standing(row, found, is_other=is_other or found.size != wanted.size)
        found = next(
            (each for each in self._here.values() if _is_cached(each, wanted) or _came_of(each, wanted)), None
        )
        if found is not None:
            return Standing(row, found)
        return Standing(row, is_other=row is not None and not row.wanted.is_same(wanted))

    def start(self) -> None:
        """Take up what an earlier run of the program left."""
        self._port.set_at_once(self._settings.values.downloads_at_once)
        self._port.open()

    def find(self, wanted: HubReference) -> tuple[HubModel, ...]:
        """Return the models that somebody means, or raise the sentence; waits for the network: who asks does not paint."""
        return self._hub.models(wanted)

    @property
    def at_once(self) -> int:
        """How many may run at once."""
        return self._settings.values.downloads_at_once

    def add(self, wanted: DownloadWanted) -> None:
        """Download a model."""
        self._wanted.add(wanted.key)
        self._port.add(wanted)

    def act(self, key: str, action: DownloadAction) -> None:
        """Do what a row's button says; what is not possible any more does nothing."""
        row = self._rows.get(key)
        if row is None or action not in row.actions:
            return
        match action:
            case "pause":
                self._port.pause(key)
            case "resume":
                self._port.resume(key)
            case "first":
                self._port.first(key)
                self._rows = {key: row, **self._rows}
                self.changed.emit()
            case "cancel":
                self._port.cancel(key)
            case "again":
                self.add(row.wanted)
            case "dismiss":
                self._forget(key)

    def set_at_once(self, count: int) -> None:
        """Let so many run at once, from now on and after a restart; what is not possible is the nearest that is."""
        count = min(max(count, LEAST_AT_ONCE), MOST_AT_ONCE)
        self._settings.change(downloads_at_once=count)
        self._port.set_at_once(count)

    def take(self, event: DownloadChanged | DownloadGone) -> None:
        """Take in what the port tells."""
        if isinstance(event, DownloadGone):
            self._forget(event.key)
            return
        speed = event.bytes_per_s
        left = (event.wanted.size - event.done) / speed if speed else None
        row = DownloadRow(
            event.wanted, event.state, event.done, speed, left, event.problem, event.again_in_s, event.path
        )
        row = msgspec.structs.replace(row, wants_token=event.wants_token)
        before = self._rows.get(row.key)
        if row == before:
            return
        for key in [key for key, each in self._rows.items() if each.wanted.place == row.wanted.place]:
            if key != row.key:  # of the files of one place only the newest download counts
                del self._rows[key]
        self._rows[row.key] = row
        self.changed.emit()
        if before is None and row.path in self._here:
            self._see_whole(row)
        is_kept = before is None and row.state == "failed" and row.key not in self._wanted
        is_news = not is_kept and (before is None or before.state != row.state)
        if row.state in ("done", "failed") and is_news:
            self.ended.emit(row)

    def say_unusable(self, key: str, reason: Sentence) -> None:
        """Have a row say that there is no chat with what was downloaded."""
        row = self._rows.get(key)
        if row is not None and row.state == "done":
            self._rows[key] = msgspec.structs.replace(row, unusable=reason)
            self.changed.emit()

    def note_found(self, found: Iterable[FoundModel]) -> None:
        """Know which models are on this machine; what was downloaded and is no more among them is away."""
        before, self._here = self._here, {model.path: model for model in found}
        for key, row in self._rows.items():
            is_here = row.path in self._here
            if is_here and row.path not in before:
                self._see_whole(row)
            if row.state == "done" and (is_here or row.path in before):  # what no search has found is no news
                self._rows[key] = msgspec.structs.replace(row, is_away=not is_here)
        if before != self._here:
            self.changed.emit()

    def _see_whole(self, row: DownloadRow) -> None:
        """Have one that stands still looked at where another program has completed it: it is done if it is that."""
        found = self._here[row.path]
        is_whole = found.parts == found.parts_wanted and found.size == row.total
        if row.state == "paused" and not row.is_held and is_whole:
            self._port.resume(row.key)

    def follow(self, old: frozenset[str], new: str) -> None:
        """Know what has come under its new path; what has none any more is off the list."""
        for key, row in list(self._rows.items()):
            if row.state == "done" and row.path in old and new:
                self._rows[key] = msgspec.structs.replace(row, path=new)
                self.changed.emit()
            elif row.state == "done" and row.path in old:
                self._forget(key)

    def stop(self) -> None:
        """Stop all and keep what is there."""
        self._port.close()

    def _forget(self, key: str) -> None:
        if self._rows.pop(key, None) is not None:
            self.changed.emit()


def _came_of(found: FoundModel, wanted: DownloadWanted) -> bool:
    """Whether a model is this very one, by the download that it came of."""
    return found.source is not None and found.parts == found.parts_wanted and found.source.is_same(wanted)


def _is_cached(found: FoundModel, wanted: DownloadWanted) -> bool:
    """Whether a model is this very one, of the same commit, in the Hugging Face cache."""
    if found.origin != "hub_cache" or found.size != wanted.size or found.parts != found.parts_wanted:
        return False
    folders = ("models--" + wanted.repository.replace("/", "--"), "snapshots", wanted.revision)
    tail = (*folders, *wanted.files[0].path.split("/"))
    return Path(found.path).parts[-len(tail) :] == tail
