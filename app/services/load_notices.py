"""What people are told of loads: what they should know of one, why one failed, and that a model is gone.

Decides nothing about engines; `engine_session` says what happened.
"""

from __future__ import annotations

from pathlib import Path

from app.core.events import EngineGone, Failed
from app.core.model import ModelInfo
from app.core.words import translate
from app.services.file_names import unsaid_name
from app.services.notices import Notice, Notices, Remedy
from app.services.units import byte_size


class LoadNotices:
    """Posts a notice for each turn of a load; what was told of the last one gives way."""

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._remarks: Notice | None = None
        self._unloaded: Notice | None = None
        self._failed: Notice | None = None

    def loading(self) -> None:
        """A load begins: what was offered instead, and why the last one failed, is over."""
        for told in (self._unloaded, self._failed):
            if told is not None:
                self._notices.withdraw(told)
        self._unloaded = self._failed = None

    def loaded(self, model: ModelInfo) -> None:
        """Tell what people should know of a load, in place of what was told of the last one."""
        self._take_remarks_away()
        if model.remarks:
            self._remarks = Notice(model.remarks[0], level="hint", more=model.remarks[1:])
            self._notices.post(self._remarks)

    def failed(self, event: Failed, path: Path, name: str) -> None:
        """Tell why a file was not loaded; `name` is what its model is called."""
        remedy: Remedy = "load_options" if event.kind == "memory" else "open_model"
        file = unsaid_name(path, event.sentence, name)
        self._failed = Notice(event.sentence, remedy=remedy, details=event.details, file=file, of_load=True)
        self._notices.post(self._failed)

    def unloaded(self, model: ModelInfo, name: str) -> None:
        """Tell that a model is gone, what that gave back, and offer to load it again."""
        self._take_remarks_away()
        sizes = [use.total for use in model.memory]
        sentence = translate("EngineSession", "{name} was unloaded: its memory is free again.", name=name)
        if sizes and all(size is not None for size in sizes):
            sentence = translate(
                "EngineSession",
                "{name} was unloaded: {size} are free again.",
                name=name,
                size=byte_size(sum(size or 0 for size in sizes)),
            )
        self._unloaded = Notice(sentence, level="hint", remedy="load_again", brief=True)
        self._notices.post(self._unloaded)

    def gone(self, event: EngineGone) -> None:
        """Tell that the engine ended by itself."""
        self._notices.post(Notice(event.sentence, remedy="restart_engine", details=event.details))

    def _take_remarks_away(self) -> None:
        if self._remarks is not None:
            self._notices.withdraw(self._remarks)
            self._remarks = None
