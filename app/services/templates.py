"""Chat templates that people can choose when a model has none, or another one than its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.model import ModelRef
from app.core.words import translate
from app.system.model_files import shown
from app.system.resources import Resources
from app.system.settings_file import SettingsFile

MAX_FILE_BYTES = 1 << 20


class Templates:
    """The shipped templates by name, files by path, and the choice for each model."""

    def __init__(self, resources: Resources, settings: SettingsFile) -> None:
        self._resources = resources
        self._settings = settings
        # All are read here, before there is a window: a file must not stand between a question and its first token.
        self._sources = {name: resources.template(name) for name in resources.template_names()}

    def names(self) -> list[str]:
        """Return the names of the templates that ship, sorted."""
        return list(self._sources)

    def named_or_file(self, choice: str) -> str:
        """Return the Jinja source of a shipped template, however its name is written, or of a file."""
        if choice in self._sources:
            return self._sources[choice]
        if not os.path.isfile(choice):  # noqa: PTH113  Path.is_file raises for long names
            alike = (name for name in self._sources if _letters(name) == _letters(choice))
            return self._resources.template(next(alike, choice))
        try:
            with Path(choice).open("rb") as file:
                source = file.read(MAX_FILE_BYTES + 1).decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(choice) from error
        if len(source) > MAX_FILE_BYTES:
            raise _unreadable(choice)
        return source

    def for_model(self, model: ModelRef | None) -> str | None:
        """Return the source of what people chose for a model; None takes the model's own."""
        name = self._settings.model(model.identity).template if model is not None else None
        return self._sources.get(name) if name is not None else None

    def choose(self, model: ModelRef, name: str | None) -> None:
        """Remember a choice for a model: the name of a shipped template, or None for the model's own."""
        remembered = self._settings.model(model.identity)
        self._settings.remember_model(model.identity, msgspec.structs.replace(remembered, template=name))


def _letters(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def _unreadable(path: str) -> UserError:
    return UserError(
        translate(
            "Templates",
            "The chat template {path} cannot be read: it must be a Jinja text of less than a mebibyte.",
            path=shown(path),
        ),
        ExitCode.WRONG_USE,
    )
