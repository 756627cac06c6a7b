"""Writes files that somebody wants: their bytes are made and written by a background job.

One file at a time; what went wrong is told in a notice, where a file is stands in `saved` for whoever still looks at what
was saved, and in a notice for everybody else. Knows no view and not what is in a file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.core.job_events import FileSaved
from app.core.signal import Signal
from app.core.words import Sentence, translate
from app.services.notices import Notice, Notices
from app.system.jobs import Jobs
from app.system.whole_file import replace_whole


class FileExport:
    """Knows what became of the last file."""

    def __init__(self, jobs: Jobs, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """A file is being written, or is not any more."""
        self.saved: Path | None = None
        """The last file, once it is written; None while another one is, and where that failed."""
        self._jobs = jobs
        self._notices = notices
        self._request = 0
        self._is_busy = False
        self._path = Path()
        """Of the file that is being written."""
        self._is_looked_at = False
        """Whether what was saved is still shown, beside which `saved` stands."""

    @property
    def is_busy(self) -> bool:
        """Whether a file is being made or written."""
        return self._is_busy

    def save(self, path: Path, make: Callable[[], bytes]) -> bool:
        """Write what `make` returns, which runs beside the window and must not share anything that changes.

        False while another file is being written.
        """
        if self._is_busy:
            return False
        self._request += 1
        request = self._request
        self._is_busy, self._path, self.saved, self._is_looked_at = True, path, None, True
        self.changed.emit()

        def write() -> FileSaved:
            try:
                replace_whole(path, make())
            except OSError as error:
                return FileSaved(request, _not_saved(path, error.strerror or str(error)))
            return FileSaved(request)

        self._jobs.submit("export", write, lambda: FileSaved(request, _broken(path)))
        return True

    def tell_broken(self, path: Path) -> None:
        """Tell people that what a file was to hold could not be made."""
        self._notices.post(Notice(_broken(path)))

    def look_away(self) -> None:
        """Something else is shown: say no longer where the last file is, and where a coming one is in a notice."""
        self.saved, self._is_looked_at = None, False
        self.changed.emit()

    def take(self, event: FileSaved) -> None:
        """Know where a file is, or tell people why it is not there."""
        if event.request != self._request:
            return
        self._is_busy = False
        if event.problem is not None:
            self._notices.post(Notice(event.problem))
        elif self._is_looked_at:
            self.saved = self._path
        else:
            said = translate("FileExport", "Saved as {path}", path=str(self._path))
            self._notices.post(Notice(said, level="hint", brief=True))
        self.changed.emit()


def _not_saved(path: Path, reason: str) -> Sentence:
    return translate("FileExport", "The file {name} could not be saved: {reason}", name=path.name, reason=reason)


def _broken(path: Path) -> Sentence:
    return translate("FileExport", "The file {name} could not be made; the log has the details.", name=path.name)
