"""Which model the window begins with: the one that was used last, else the first usable one that a search finds."""

from __future__ import annotations

from pathlib import Path

from app.core.job_events import LastModelFound
from app.services.engine_session import EngineSession
from app.services.models import Models
from app.services.notices import Notice, Notices
from app.services.wishes import Wish


def begin_with(last: LastModelFound, session: EngineSession, models: Models, notices: Notices) -> None:
    """Load the model that was used last, or what a search finds, unless somebody chose one meanwhile."""
    is_free = session.phase == "no_model"
    if last.is_there and is_free:
        session.use(Wish(Path(last.path)))
    elif is_free:
        if last.path:
            notices.post(Notice(models.gone(last.path), level="hint"))
        _use_first_found(session, models)
    models.refresh()


def _use_first_found(session: EngineSession, models: Models) -> None:
    def use() -> None:
        usable = next((found for found in models.found if found.is_usable), None)
        if usable is None and models.is_reading:
            return
        disconnect()
        if usable is not None and session.phase == "no_model":
            session.use(Wish(Path(usable.path)))

    disconnect = models.changed.connect(use)
