"""What follows when a download ends: the model is among the models, and people are told what it is good for, or why it failed.

Whoever had no model at all wants to chat with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.core.model import FoundModel
from app.core.words import translate
from app.services.downloads import DownloadRow, Downloads
from app.services.engine_session import EngineSession
from app.services.first_model import lacks_model
from app.services.models import Models
from app.services.notices import Notice, Notices, Remedy
from app.services.wishes import Wish


def watch_ends(downloads: Downloads, models: Models, notices: Notices, session: EngineSession) -> None:
    """Look for the models anew after each download, and post a notice of it once the file was looked at."""

    failures: dict[str, Notice] = {}

    def go_on() -> None:
        """Take back why something failed once it is tried again, or given up."""
        for key, notice in list(failures.items()):
            row = downloads.row(key)
            if row is None or row.state != "failed":
                notices.withdraw(failures.pop(key, notice))

    def end(row: DownloadRow) -> None:
        if row.state == "done":
            is_wanted = bool(row.path) and lacks_model(session, models)
            _once_read(models, row.path, lambda found: tell(row, found, is_wanted))
            models.refresh()
        elif row.problem is not None:
            failures[row.key] = Notice(row.problem, file=row.wanted.name, news=True)
            notices.post(failures[row.key])

    def tell(row: DownloadRow, found: FoundModel | None, is_wanted: bool) -> None:
        if found is not None and found.problem is not None:
            downloads.say_unusable(row.key, found.problem)
            notices.post(_unusable(row.wanted.name, found))
            return
        is_used = is_wanted and session.phase == "no_model" and session.name is None
        if is_used:
            session.use(Wish(Path(row.path)))
        whole = translate("Download", "{name} is downloaded.", name=row.wanted.name)
        if found is not None:
            whole = translate("Download", "{name} is downloaded: it is among your models now.", name=row.wanted.name)
        offer: Remedy | None = "load_downloaded" if found is not None and not is_used else None
        notices.post(Notice(whole, level="hint", remedy=offer, path=row.path, news=True))

    models.changed.connect(lambda: downloads.note_found(models.found))
    downloads.note_found(models.found)
    downloads.ended.connect(end)
    downloads.changed.connect(go_on)


def _once_read(models: Models, path: str, then: Callable[[FoundModel | None], None]) -> None:
    """Call when the next search has read the file at this path, or has not found it."""

    def look() -> None:
        found = models.entry_of(path, None)
        if found is None or found.is_read:
            disconnect()
            then(found)

    disconnect = models.changed.connect(look)


def _unusable(name: str, found: FoundModel) -> Notice:
    reasons = () if found.problem is None else (found.problem,)
    if found.kind is not None:
        whole = translate("Download", "{name} is downloaded, but is no model to chat with.", name=name)
        return Notice(whole, level="hint", more=reasons, news=True)
    cannot = translate("Download", "{name} is downloaded, but cannot be used.", name=name)
    return Notice(cannot, more=reasons, news=True)
