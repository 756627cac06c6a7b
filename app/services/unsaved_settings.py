"""Tells people that their settings cannot be saved, for as long as that is so."""

from __future__ import annotations

from app.core.job_events import JobFailed
from app.services.notices import Notice, Notices
from app.system.settings_file import SettingsFile


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
