"""What follows when a download ends: the model is among the models, and people are told, also why it failed."""

from __future__ import annotations

from app.core.words import translate
from app.services.downloads import DownloadRow, Downloads
from app.services.models import Models
from app.services.notices import Notice, Notices


def watch_ends(downloads: Downloads, models: Models, notices: Notices) -> None:
    """Look for the models anew after each download, and post a notice of it."""

    def end(row: DownloadRow) -> None:
        if row.state == "done":
            models.refresh()
            whole = translate("Download", "{name} is downloaded: it is among your models now.", name=row.wanted.name)
            notices.post(Notice(whole, level="hint"))
        elif row.problem is not None:
            notices.post(Notice(row.problem, file=row.wanted.name))

    downloads.ended.connect(end)
