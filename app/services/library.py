"""The models on this machine as people look through them: narrowed by a few words, in an order of their choice.

Whose folder a file lies in stays as it is; which folders are looked into as well, people say.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.core.found_file import ORIGIN_NAMES, FolderState
from app.core.model import FoundModel
from app.core.signal import Signal
from app.core.words import translate
from app.services.engine_session import EngineSession
from app.services.model_notes import ModelNotes
from app.services.models import Models
from app.system.settings_file import SettingsFile

Order = Literal["favourites", "name", "size", "parameters", "used"]
"""By name but for those that begin with the largest, with most parameters, or with what answered last."""


class Library:
    """Follows what searches find; `changed` says that a row is another one."""

    def __init__(self, models: Models, session: EngineSession, settings: SettingsFile, notes: ModelNotes) -> None:
        self.changed: Signal[()] = Signal()
        self._models = models
        self._session = session
        self._settings = settings
        self.notes = notes
        """What people say of them, and when each was used."""
        self.folder_watch = models.watch
        """Searches again while somebody follows it."""
        self._words: tuple[str, ...] = ()
        self._order: Order = "favourites"
        self._held: FoundModel | None = None
        """The one that somebody writes about."""
        self._same: dict[str, list[FoundModel]] = {}
        """All files of each model, by its identity."""
        self.rows: tuple[FoundModel, ...] = ()
        """What is shown: models to chat with first, then the others."""
        self._disconnect = [
            models.changed.connect(self._sort),
            notes.changed.connect(self._sort),
            session.changed.connect(self._look_at_loaded),
        ]
        self._loaded, self._was_busy = self.loaded, False
        self.is_watched = False
        """Whether somebody looks: then an answer that ends says at once how fast it was."""
        self._sort()

    def close(self) -> None:
        """Follow nothing any more."""
        for disconnect in self._disconnect:
            disconnect()

    @property
    def loaded(self) -> str:
        """The path of the model that is loaded, where it is listed; empty where none is."""
        model = self._session.model
        if model is None:
            return ""
        entry = self._models.entry_of(model.path, self._session.ref)
        return entry.path if entry is not None else model.path

    @property
    def all_of_them(self) -> int:
        """How many models there are, shown or not."""
        return len(self._models.found)

    @property
    def is_searching(self) -> bool:
        """Whether more may be found, or known of what was found."""
        return not self._models.has_looked or self._models.is_reading

    @property
    def missing(self) -> tuple[str, ...]:
        """The folders that were added and are not there, as those of a drive that is away."""
        return tuple(folder for folder in self.folders if self.state_of(folder) == "missing")

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that people have added."""
        return self._settings.values.model_folders

    def copies_of(self, model: FoundModel) -> tuple[FoundModel, ...]:
        """Return the other files that hold the same model: what people say of it, they say of each."""
        return tuple(each for each in self._same.get(model.identity, ()) if each.path != model.path)

    def narrow(self, text: str) -> None:
        """Show those whose facts hold all words of a text, in any order."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words, self._held = words, None
            self._sort()

    def hold(self, model: FoundModel | None) -> None:
        """Keep the model in the list that somebody writes about, until other words narrow it or another one is held.

        Whatever is searched, and whether its file is there or not; None holds none any more.
        """
        if model is not None and self._held is not None and model.path == self._held.path:
            return
        was_held, self._held = self._held, model
        if was_held is not None:
            self._sort()

    def order(self, order: Order) -> None:
        """Have them in another order."""
        if order != self._order:
            self._order = order
            self._sort()

    def refresh(self) -> None:
        """Search again, and look when each was used."""
        self._models.refresh()
        self.notes.refresh()

    def add_folder(self, folder: str) -> None:
        """Look into a folder as well, from now on."""
        path = os.path.normpath(folder)
        if path not in self.folders:
            self._settings.change(model_folders=(*self.folders, path))
            self._models.refresh()
            self.changed.emit()

    def remove_folder(self, folder: str) -> None:
        """Look no longer into a folder that was added; nothing in it is touched."""
        if folder in self.folders:
            self._settings.change(model_folders=tuple(each for each in self.folders if each != folder))
            self._models.refresh()
            self.changed.emit()

    def state_of(self, folder: str) -> FolderState | None:
        """Return how it stood at the last search with a folder that was added; None before it was searched."""
        return self._models.folder_states.get(folder)

    def is_empty(self, folder: str) -> bool:
        """Whether no model was found in a folder."""
        prefix = os.path.join(folder, "")  # noqa: PTH118  a text is compared, no path
        return not any(model.path.startswith(prefix) for model in self._models.found)

    def _sort(self) -> None:
        self._same = {}
        for model in self._models.found:
            if model.identity:
                self._same.setdefault(model.identity, []).append(model)
        held = self._held
        shown = [
            model
            for model in self._models.found
            if all(word in self._said(model) for word in self._words)
            or (held is not None and model.path == held.path)
        ]
        if held is not None and not any(model.path == held.path for model in self._models.found):
            gone = translate("Library", "This file is not there any more.")
            shown.append(msgspec.structs.replace(held, problem=gone, kind=None))
        self.rows = tuple(sorted(shown, key=self._key))
        self.changed.emit()

    def _look_at_loaded(self) -> None:
        was_busy, self._was_busy = self._was_busy, self._session.phase == "busy"
        if was_busy and not self._was_busy and self.is_watched:
            self.notes.refresh()
        if self._loaded != self.loaded:
            self._loaded = self.loaded
            self.changed.emit()

    def _key(self, model: FoundModel) -> tuple[object, ...]:
        number = 0
        match self._order:
            case "favourites":
                number = -self.notes.of(model.identity).favourite
            case "used":
                use = self.notes.use_of(model.identity)
                number = -use.last_ms if use is not None else 0
            case "size":
                number = -model.size
            case "parameters":
                number = -(model.parameters or 0)
        return model.problem is not None, number, model.name.casefold(), model.path

    def _said(self, model: FoundModel) -> str:
        """Return what a model is searched by."""
        parts: Sequence[str | None] = (
            model.name,
            model.name_before,
            model.architecture,
            model.quantisation,
            ORIGIN_NAMES[model.origin],
            Path(model.path).name,
            self.notes.of(model.identity).note,
        )
        return " ".join(part for part in parts if part).casefold()
