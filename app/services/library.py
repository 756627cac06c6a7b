"""The models on this machine as people look through them: narrowed by a few words, in an order of their choice.

Whose folder a file lies in stays as it is; which folders are looked into as well, people say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from app.core.found_file import ORIGIN_NAMES
from app.core.model import FoundModel
from app.core.signal import Signal
from app.services.engine_session import EngineSession
from app.services.models import Models
from app.system.settings_file import SettingsFile

Order = Literal["name", "size", "parameters"]


class Library:
    """Follows what searches find; `changed` says that a row is another one."""

    def __init__(self, models: Models, session: EngineSession, settings: SettingsFile) -> None:
        self.changed: Signal[()] = Signal()
        self._models = models
        self._session = session
        self._settings = settings
        self._words: tuple[str, ...] = ()
        self._order: Order = "name"
        self.rows: tuple[FoundModel, ...] = ()
        """What is shown: models to chat with first, then the others."""
        self._disconnect = [models.changed.connect(self._sort), session.changed.connect(self._look_at_loaded)]
        self._loaded = self.loaded
        self._sort()

    def close(self) -> None:
        """Follow nothing any more."""
        for disconnect in self._disconnect:
            disconnect()

    @property
    def loaded(self) -> str:
        """The path of the model that is loaded; empty where none is."""
        return self._session.model.path if self._session.model is not None else ""

    @property
    def all_of_them(self) -> int:
        """How many models there are, shown or not."""
        return len(self._models.found)

    @property
    def is_searching(self) -> bool:
        """Whether more may be found, or known of what was found."""
        return not self._models.has_looked or self._models.is_reading

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders that people have added."""
        return self._settings.values.model_folders

    def narrow(self, text: str) -> None:
        """Show those whose facts hold all words of a text, in any order."""
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self._sort()

    def order(self, order: Order) -> None:
        """Have them in another order."""
        if order != self._order:
            self._order = order
            self._sort()

    def refresh(self) -> None:
        """Search again."""
        self._models.refresh()

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

    def is_missing(self, folder: str) -> bool:
        """Whether a folder that was added held nothing at the last search, as that of a drive that is away."""
        prefix = os.path.join(folder, "")  # noqa: PTH118  a text is compared, no path
        return not any(model.path.startswith(prefix) for model in self._models.found)

    def _sort(self) -> None:
        shown = [model for model in self._models.found if all(word in _said(model) for word in self._words)]
        self.rows = tuple(sorted(shown, key=_key(self._order)))
        self.changed.emit()

    def _look_at_loaded(self) -> None:
        if self._loaded != self.loaded:
            self._loaded = self.loaded
            self.changed.emit()


def _key(order: Order) -> Callable[[FoundModel], tuple[object, ...]]:
    def key(model: FoundModel) -> tuple[object, ...]:
        number = {"name": 0, "size": -model.size, "parameters": -(model.parameters or 0)}[order]
        return model.problem is not None, number, model.name.casefold(), model.path

    return key


def _said(model: FoundModel) -> str:
    """Return what a model is searched by."""
    parts: Sequence[str | None] = (
        model.name,
        model.architecture,
        model.quantisation,
        ORIGIN_NAMES[model.origin],
        Path(model.path).name,
    )
    return " ".join(part for part in parts if part).casefold()
