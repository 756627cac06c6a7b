"""What follows when a download ends: the model is among the models, and people are told, also why it failed.

Whoever had no model at all wants to chat with it.
"""

from __future__ import annotations

from pathlib import Path

from app.core.words import translate
from app.services.downloads import DownloadRow, Downloads
from app.services.engine_session import EngineSession
from app.services.first_model import lacks_model
from app.services.models import Models
from app.services.notices import Notice, Notices
from app.services.wishes import Wish


def watch_ends(downloads: Downloads, models: Models, notices: Notices, session: EngineSession) -> None:
    """Look for the models anew after each download, and post a notice of it."""

    def end(row: DownloadRow) -> None:
        if row.state == "done":
            if lacks_model(session, models) and row.path:
                session.use(Wish(Path(row.path)))
            models.refresh()
            whole = translate("Download", "{name} is downloaded: it is among your models now.", name=row.wanted.name)
            notices.post(Notice(whole, level="hint"))
        elif row.problem is not None:
            notices.post(Notice(row.problem, file=row.wanted.name))

    downloads.ended.connect(end)
