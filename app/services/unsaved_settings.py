"""Tells people that their settings cannot be saved, for as long as that is so."""

from __future__ import annotations

from app.core.job_events import JobFailed
from app.core.words import Sentence, translate
from app.services.notices import Notice, Notices
from app.system.settings_file import SettingsFile

WRITTEN = frozenset({"system_prompt", "thinking_tags", "chats", "presets"})
"""Settings in which people's own words and work are."""


def question_at_the_end(settings: SettingsFile) -> Sentence | None:
    """Write what is not written; return the question whether the program may end where people's words would go with it."""
    return None if settings.write() is None or not settings.unsaved & WRITTEN else _NOT_SAVED


class UnsavedSettings:
    """One notice while the settings file cannot be written, whatever the reasons one after the other."""

    def __init__(self, settings: SettingsFile, notices: Notices) -> None:
        self._settings = settings
        self._notices = notices
        self._told: Notice | None = None

    def take(self, event: JobFailed) -> None:
        """Tell why a writing failed, in place of what was told before."""
        self._withdraw()
        self._told = Notice(event.sentence, lasts=True)
        self._notices.post(self._told)

    def look(self) -> None:
        """Take the notice away once everything is written."""
        if self._told is not None and self._settings.is_saved:
            self._withdraw()

    def _withdraw(self) -> None:
        if self._told is not None:
            self._notices.withdraw(self._told)
            self._told = None


_NOT_SAVED = translate(
    "Closing",
    "Presets and system prompts that were changed are not saved: the settings file cannot be written. "
    "Close anyway and lose them, or keep the window open?",
)
