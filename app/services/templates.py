"""Chat templates that people can choose when a model has none, or another one than its own."""

from __future__ import annotations

from pathlib import Path

import msgspec

from app.core.errors import ExitCode, UserError
from app.core.words import translate
from app.system.resources import Resources
from app.system.settings_file import SettingsFile

MAX_FILE_BYTES = 1 << 20


class Templates:
    """The shipped templates by name, files by path, and the choice for each model."""

    def __init__(self, resources: Resources, settings: SettingsFile) -> None:
        self._resources = resources
        self._settings = settings

    def names(self) -> list[str]:
        """Return the names of the templates that ship."""
        return self._resources.template_names()

    def named_or_file(self, choice: str) -> str:
        """Return the Jinja source of a shipped template, or of a file."""
        path = Path(choice)
        if choice in self.names() or not path.is_file():
            return self._resources.template(choice)
        try:
            source = path.read_bytes()[: MAX_FILE_BYTES + 1].decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(choice) from error
        if len(source) > MAX_FILE_BYTES:
            raise _unreadable(choice)
        return source

    def for_model(self, identity: str | None) -> str | None:
        """Return the source that people chose for a model; None takes the model's own."""
        choice = self._settings.model(identity).template if identity else None
        if choice is None:
            return None
        return self._resources.template(choice) if choice in self.names() else choice

    def choose(self, identity: str, choice: str | None) -> None:
        """Remember a choice for a model: a name, a source, or None for the model's own."""
        remembered = self._settings.model(identity)
        self._settings.remember_model(identity, msgspec.structs.replace(remembered, template=choice))


def _unreadable(path: str) -> UserError:
    return UserError(
        translate(
            "Templates",
            "The chat template {path} cannot be read: it must be a Jinja text of less than a mebibyte.",
            path=path,
        ),
        ExitCode.WRONG_USE,
    )
