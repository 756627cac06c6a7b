"""Which model the window begins with: the one that was used last, else the first usable one that a search finds.

Where there is none, one has to be had, and that one it begins with as soon as it is here.
"""

from __future__ import annotations

from pathlib import Path

from app.core.job_events import LastModelFound
from app.services.engine_session import EngineSession
from app.services.models import Models
from app.services.notices import Notice, Notices
from app.services.wishes import Wish


def lacks_model(session: EngineSession, models: Models) -> bool:
    """Whether there is nothing to chat with: no model is loaded or chosen, and a search found none."""
    is_free = session.phase == "no_model" and session.name is None
    return (
        is_free and models.has_looked and not models.is_reading and not any(each.is_usable for each in models.found)
    )


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
