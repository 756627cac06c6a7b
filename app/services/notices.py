"""The one channel for what people must be told: views render it, tests read it.

Knows no widget; a notice is a sentence and at most one thing to do about it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.signal import Signal
from app.core.words import Sentence

Level = Literal["hint", "error"]
Remedy = Literal["restart_engine", "open_model", "choose_template", "load_options", "undo_delete"]


class Notice(msgspec.Struct, frozen=True):
    """One sentence for people, and what one button under it does."""

    sentence: Sentence
    level: Level = "error"
    remedy: Remedy | None = None
    details: tuple[str, ...] = ()
    """Lines of a log that belong to it."""
    more: tuple[Sentence, ...] = ()
    """Sentences that are read after the first one."""
    lasts: bool = False
    """It holds whatever is asked next: only people dismiss it, or who posted it withdraws it."""


class Notices:
    """Keeps the latest notice until it is dismissed or settled."""

    def __init__(self) -> None:
        self.changed: Signal[()] = Signal()
        """The latest notice is another one, or gone."""
        self._latest: Notice | None = None
        self._covered: Notice | None = None

    @property
    def latest(self) -> Notice | None:
        """What is to be shown now."""
        return self._latest

    def post(self, notice: Notice) -> None:
        """Show a notice; a hint never hides an error that still stands, unless it can be acted upon only now."""
        if self._latest is not None and self._latest.lasts and not notice.lasts:
            self._covered = self._latest
        elif notice.level == "error":
            self._covered = self._covered if self._covered is not None and self._covered.lasts else None
        elif self._latest is not None and self._latest.level == "error":
            if notice.remedy is None:
                return
            self._covered = self._latest
        self._show(notice)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that no longer holds, if it is the one that is shown or the error under it."""
        if notice == self._covered:
            self._covered = None
        if notice == self._latest:
            self.dismiss()

    def settle(self, remedy: Remedy) -> None:
        """Take the latest notice away if what it offers is done or no longer possible."""
        if self._latest is not None and self._latest.remedy == remedy:
            self.dismiss()

    def clear_passing(self) -> None:
        """Somebody goes on: take away what was about the last step, not what lasts or can still be undone."""
        if self._latest is not None and not self._latest.lasts and self._latest.remedy != "undo_delete":
            self.dismiss()

    def dismiss(self) -> None:
        """Take the latest notice away; one that it stood before is shown again."""
        covered, self._covered = self._covered, None
        self._show(covered)

    def _show(self, notice: Notice | None) -> None:
        if notice != self._latest:
            self._latest = notice
            self.changed.emit()
