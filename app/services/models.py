"""Which models there are on this machine, and which one to start with.

Looks at files through the job threads; loading is `engine_session`'s.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from app.core.errors import UserError
from app.core.events import ModelsListed
from app.core.model import FoundModel
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.model_check import check_model
from app.system.jobs import Jobs
from app.system.model_files import find_models, shown
from app.system.settings_file import SettingsFile

_Stamp = tuple[str, int, int]
VERY_SMALL = 300_000_000
"""Models with fewer parameters are there to try the program with."""


def is_very_small(parameters: int | None) -> bool:
    """Return whether a model is known to be too small for answers that people could rely on."""
    return parameters is not None and parameters < VERY_SMALL


class Models:
    """The model files in the folders of the program and of the settings."""

    def __init__(self, folders: Sequence[Path], settings: SettingsFile, jobs: Jobs) -> None:
        self.changed: Signal[()] = Signal()
        """The list was read again."""
        self._folders = tuple(folders)
        self._settings = settings
        self._jobs = jobs
        self._checked: dict[_Stamp, FoundModel] = {}
        self._found: tuple[FoundModel, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that are searched, the program's own first."""
        return (*self._folders, *(Path(folder) for folder in self._settings.values.model_folders))

    @property
    def found(self) -> tuple[FoundModel, ...]:
        """What the last search found."""
        return self._found

    def refresh(self) -> None:
        """Search again in the background; `changed` follows."""
        folders = self.folders
        self._jobs.submit("models", lambda: ModelsListed(self.list_now(folders)))

    def list_now(self, folders: Sequence[Path] | None = None) -> tuple[FoundModel, ...]:
        """Search and return what is there; may take a moment for many files."""
        return tuple(self._checked_file(path) for path in find_models(folders or self.folders))

    def take(self, event: ModelsListed) -> None:
        """Take over what a search in the background found."""
        self._found = event.models
        self.changed.emit()

    def last_used(self) -> Path | None:
        """Return the model that was used last, if its file is still there."""
        last = self._settings.values.last_model
        is_there = last is not None and os.path.isfile(last)  # noqa: PTH113  Path.is_file raises for some names
        return Path(last) if last is not None and is_there else None

    def gone(self) -> Sentence | None:
        """Return what to tell people when the model that was used last has no file any more."""
        last = self._settings.values.last_model
        if last is None or self.last_used() is not None:
            return None
        return translate(
            "Models",
            "The model that you used last is no longer at {path}. Another one is opened if there is one; to go on with"
            " yours, open it where it is now.",
            path=shown(Path(last)),
        )

    def to_start_with(self) -> Path:
        """Return the model that was used last, else the first usable one; a sentence when there is none."""
        last = self.last_used()
        if last is not None:
            return last
        for path in find_models(self.folders):
            if self._checked_file(path).problem is None:
                return path
        raise UserError(
            translate(
                "Models",
                "No usable model was found: put a .gguf file into {folder}, or name one.",
                folder=shown(self._folders[0]),
            )
        )

    def _checked_file(self, path: Path) -> FoundModel:
        try:
            status = path.stat()
        except OSError:
            return check_model(path)[0]
        stamp = (str(path), status.st_size, status.st_mtime_ns)
        if stamp not in self._checked:
            self._checked[stamp] = check_model(path)[0]
        return self._checked[stamp]
