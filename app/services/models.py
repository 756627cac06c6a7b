"""Which models there are on this machine, and which one to start with.

Looks at files through the job threads; loading is `engine_session`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.core.download import DownloadWanted
from app.core.errors import UserError
from app.core.found_file import FolderState, FoundFile
from app.core.job_events import FoldersLooked, LastModelFound, ModelsListed
from app.core.model import FoundModel, ModelRef
from app.core.ports import OtherModelsPort
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.file_names import short_path
from app.services.folder_watch import FolderWatch
from app.services.model_check import check_model, unread, without_first
from app.system.jobs import Jobs
from app.system.model_files import readable
from app.system.model_search import access_of, find_files, folder_state, once_each
from app.system.settings_file import SettingsFile

_Stamp = tuple[str, int, int, int]
AT_ONCE = 16
"""So many headers are read before people see them; of more files the names come first."""
NAMES_FIRST_S = 0.2
"""Reading begins when the names stand on the screen: it would take the processor from whoever paints them."""
VERY_SMALL = 300_000_000
"""Models with fewer parameters are there to try the program with."""


def is_very_small(parameters: int | None) -> bool:
    """Return whether a model is known to be too small for answers that people could rely on."""
    return parameters is not None and parameters < VERY_SMALL


class Models:
    """The model files in the folders of the program and of the settings, and those that other programs keep."""

    def __init__(
        self, folders: Sequence[Path], settings: SettingsFile, jobs: Jobs, others: OtherModelsPort | None = None
    ) -> None:
        self.changed: Signal[()] = Signal()
        """The list was read again."""
        self._folders = tuple(folders)
        self._settings = settings
        self._jobs = jobs
        self._others = others
        self._checked: dict[_Stamp, FoundModel] = {}
        self._lost: dict[_Stamp, object] = {}
        """How it stood with the files that could not be read."""
        self._identities: dict[str, str] = {}
        """Of files by their path: which model each is."""
        self.source_of: Callable[[FoundFile], DownloadWanted | None] = lambda _file: None
        """Which download a file came of; may look at the disk."""
        self.own_name: Callable[[str], str] = lambda _identity: ""
        """What people call a model; empty where they have given it no name."""
        self.folder_states: dict[str, FolderState] = {}
        """How it stood at the last search with the folders that people added."""
        self._told_models: tuple[FoundModel, ...] = ()
        self._found: tuple[FoundModel, ...] = ()
        self._first_there: Path | None = None
        self._listed: tuple[FoundFile, ...] = ()
        self._stood: dict[str, FolderState] = {}
        """What the last search saw of the files and folders, for the next look."""
        self._searches = 0
        self._told_of = 0
        """Which search people have been told of."""
        self._unread = 0
        self.watch = FolderWatch(self._has_changed, self.refresh, jobs)
        """Searches again when the folders change; begins when it is started."""

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are searched, the program's own first."""
        return (*self._folders, *(Path(folder) for folder in self._settings.values.model_folders))

    @property
    def found(self) -> tuple[FoundModel, ...]:
        """What the last search found."""
        return self._found

    @property
    def has_looked(self) -> bool:
        """Whether a search has come to its end since the program began."""
        return self._told_of > 0

    @property
    def is_reading(self) -> bool:
        """Whether files were found of which no more than their names is known yet."""
        return self._unread > 0

    @property
    def folder(self) -> Path:
        """The first folder that was there at the last search, to begin with where people choose a file."""
        return self._first_there or self.folders[0]

    def entry_of(self, path: str, ref: ModelRef | None) -> FoundModel | None:
        """Return what the last search found of a model: the file at its path, else the same model elsewhere."""
        identity = ref.identity if ref is not None else None
        same = (found for found in self._found if identity and self._identities.get(found.path) == identity)
        return next((found for found in self._found if found.path == path), next(same, None))

    def identity_of(self, path: str) -> str:
        """Return which model a file is that a search has found; empty where none has."""
        return self._identities.get(path, "")

    def refresh(self) -> None:
        """Search again in the background; `changed` follows, more than once where there are many new files."""
        self._searches += 1
        folders, request = self.folders, self._searches

        def search() -> ModelsListed:
            self._first_there = next((folder for folder in folders if os.path.isdir(folder)), None)  # noqa: PTH112
            self._stood = self.look_at_folders()
            for stamp in tuple(self._lost):
                del self._lost[stamp], self._checked[stamp]  # what the system refuses it may give a moment later
            self._listed = tuple(self._files(folders))
            return self._told(self._listed, request, reads_many=False)

        self._jobs.submit("models", search)

    def list_now(self, folders: Sequence[Path] | None = None) -> tuple[FoundModel, ...]:
        """Search and return what is there; may take a moment for many files."""
        return tuple(self._sourced(self._checked_file(file), file) for file in self._files(folders or self.folders))

    def look_at_folders(self) -> dict[str, FolderState]:
        """Return how it stands with the folders that people added; looks at the disk."""
        return {folder: folder_state(folder) for folder in self._settings.values.model_folders}

    def name_again(self) -> None:
        """Call the models what people call them now."""
        found = tuple(map(self._named, self._told_models))
        if found != self._found:
            self._found = found
            self.changed.emit()

    def take(self, event: ModelsListed | FoldersLooked) -> None:
        """Take over what a search, or a look, in the background found."""
        if isinstance(event, FoldersLooked):
            self.watch.take(event)
            return
        if event.request not in (0, self._searches):
            return  # a newer search is on its way
        self._told_models, self._unread, self.folder_states = event.models, event.unread, event.folders
        self._found = tuple(map(self._named, event.models))
        if event.unread:
            listed, request = self._listed, event.request
            pause = 0.0 if event.request == self._told_of else NAMES_FIRST_S
            self._jobs.submit("model headers", lambda: self._told(listed, request, reads_many=True), after_s=pause)
        self._told_of = event.request
        self.changed.emit()

    def look_for_last(self) -> None:
        """Look in the background for the model that was used last; `LastModelFound` follows."""
        last = self._settings.values.last_model or ""
        self._jobs.submit(
            "last model", lambda: LastModelFound(last, _is_file(last)), lambda: LastModelFound(last, False)
        )

    def gone(self, path: str) -> Sentence:
        """Return what to tell people when the model that was used last has no file any more."""
        return translate(
            "Models",
            "The model that you used last is no longer at {path}. Another one is opened if there is one; to go on with"
            " yours, open it where it is now.",
            path=short_path(Path(path)),
        )

    def to_start_with(self) -> Path:
        """Return the model that was used last, else the first usable one; a sentence when there is none.

        Looks at files, which may take a moment.
        """
        last = self._settings.values.last_model or ""
        if _is_file(last):
            return Path(last)
        for file in self._files(self.folders):
            if self._checked_file(file).problem is None:
                return Path(file.path)
        raise UserError(
            translate(
                "Models",
                "No usable model was found: put a .gguf file into {folder}, or name one.",
                folder=readable(self._folders[0]),
            )
        )

    def _told(self, files: Sequence[FoundFile], request: int, *, reads_many: bool) -> ModelsListed:
        """Read the files that are new, some of them where they are many, and tell of all."""
        new = [file for file in files if file.stamp not in self._checked]
        if reads_many or len(new) <= AT_ONCE:
            for file in new[:AT_ONCE]:
                self._checked_file(file)
        models = tuple(self._sourced(self._checked.get(file.stamp) or unread(file), file) for file in files)
        return ModelsListed(models, sum(not model.is_read for model in models), request, self._stood)

    def _sourced(self, model: FoundModel, file: FoundFile) -> FoundModel:
        source = self.source_of(file)
        return msgspec.structs.replace(model, source=source) if source is not None else model

    def _named(self, model: FoundModel) -> FoundModel:
        name = self.own_name(model.identity) if model.identity else ""
        return msgspec.structs.replace(model, name=name, name_before=model.name) if name else model

    def _has_changed(self) -> bool:
        if self.look_at_folders() != self._stood or tuple(self._files(self.folders)) != self._listed:
            return True
        return any(access_of(stamp[0]) != stood for stamp, stood in tuple(self._lost.items()))

    def _files(self, folders: Sequence[Path]) -> list[FoundFile]:
        """Return all files by names and sizes alone: people's own first, and none twice."""
        others = self._others.find() if self._others is not None else ()
        return once_each([*find_files(folders), *others])

    def _checked_file(self, file: FoundFile) -> FoundModel:
        if file.stamp not in self._checked:
            found, ref = check_model(Path(file.path)) if file.is_first else (without_first(file), None)
            if found.is_lost:
                self._lost[file.stamp] = access_of(file.path)
            self._identities[found.path] = ref.identity if ref is not None else ""
            self._checked[file.stamp] = msgspec.structs.replace(
                found,
                origin=file.origin,
                name=file.name or found.name,
                size=max(found.size, file.size),
                parts=file.parts,
                parts_wanted=file.parts_wanted,
            )
        return self._checked[file.stamp]


def _is_file(path: str) -> bool:
    return bool(path) and os.path.isfile(path)  # noqa: PTH113  Path.is_file raises for some names
