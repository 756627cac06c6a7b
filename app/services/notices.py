"""The one channel for what people must be told: views render it, tests read it.

Knows no widget; a notice is a sentence and at most one thing to do about it.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from app.core.signal import Signal
from app.core.words import Sentence

Level = Literal["hint", "error"]
Remedy = Literal[
    "restart_engine",
    "load_again",
    "load_downloaded",
    "open_model",
    "choose_template",
    "load_options",
    "larger_context",
    "undo_delete",
    "undo_branch",
    "undo_withdraw",
    "undo_folder",
    "show_sent",
    "undo_system_prompt",
    "undo_preset",
    "restore_preset",
]


DELETIONS: frozenset[Remedy] = frozenset({"undo_delete", "undo_branch", "undo_withdraw", "undo_folder"})
"""What one key undoes, and as well after the next question."""


class Notice(msgspec.Struct, frozen=True):
    """One sentence for people, and what one button under it does."""

    sentence: Sentence
    level: Level = "error"
    remedy: Remedy | None = None
    details: tuple[str, ...] = ()
    """Lines of a log that belong to it."""
    more: tuple[Sentence, ...] = ()
    """Sentences that are read after the first one."""
    apart: bool = False
    """Its sentences tell of several things, each to be read by itself."""
    lasts: bool = False
    """It holds whatever is asked next: only people dismiss it, or who posted it withdraws it."""
    brief: bool = False
    """It says what somebody just did: it goes by itself after a while."""
    context: int | None = None
    """Tokens of the context that “larger_context” offers; None leaves it to people."""
    file: str = ""
    """Name of the file that it is about, where no sentence says it."""
    of_load: bool = False
    """It says why a model could not be loaded: pages that need no model have no use for it."""
    path: str = ""
    """The file that “load_downloaded” loads."""
    news: bool = False
    """It says how something ended that takes long: whoever looks at another program is told as well."""


class Notices:
    """Keeps what lasts until it is over, and before it the latest of what passes."""

    def __init__(self) -> None:
        self.changed: Signal[()] = Signal()
        """The latest notice is another one, or gone."""
        self.told: Signal[Notice] = Signal()
        """News, also where something else stands before it."""
        self._lasting: list[Notice] = []
        self._passing: list[Notice] = []
        """The latest last; an error may lie under a hint that offers something."""
        self._latest: Notice | None = None

    @property
    def latest(self) -> Notice | None:
        """What is to be shown now: what lasts is told as one."""
        return self._latest

    def post(self, notice: Notice) -> None:
        """Show a notice; a hint never hides an error that still stands, unless it can be acted upon only now."""
        latest = self._latest
        if latest is not None and latest.sentence == notice.sentence and _says_more(latest, notice):
            return  # it stands there already, and what it is about with it
        if notice.lasts:
            self._lasting = [*(each for each in self._lasting if each != notice), notice]
        elif notice.level == "error" or self._latest is None or self._latest.level == "hint":
            self._passing = [notice]
        elif notice.remedy is not None:
            self._passing = [*self._passing[-1:], notice]
        self._show()
        if notice.news:
            self.told.emit(notice)

    def stands(self, notice: Notice) -> bool:
        """Return whether a notice is shown now, or lies under the one that is."""
        return notice in (*self._lasting, *self._passing)

    def withdraw(self, notice: Notice) -> None:
        """Take a notice away that no longer holds."""
        self._lasting = [each for each in self._lasting if each != notice]
        self._passing = [each for each in self._passing if each != notice]
        self._show()

    def settle(self, remedy: Remedy) -> None:
        """Take the latest notice away if what it offers is done or no longer possible."""
        if self._latest is not None and self._latest.remedy == remedy:
            self.dismiss()

    def clear_passing(self) -> None:
        """Somebody goes on: take away what was about the last step, not what lasts or can still be undone."""
        self._passing = [each for each in self._passing if each.remedy in DELETIONS]
        self._show()

    def begin_anew(self) -> None:
        """Somebody begins something else: take away what went wrong before, unless the engine is still gone."""
        self._passing = [each for each in self._passing if each.level == "hint" or each.remedy == "restart_engine"]
        self._show()

    def dismiss(self) -> None:
        """Take the latest notice away; what it stood before is shown again."""
        if self._passing:
            self._passing.pop()
        else:
            self._lasting.clear()
        self._show()

    def _show(self) -> None:
        latest = self._passing[-1] if self._passing else _as_one(self._lasting)
        if latest != self._latest:
            self._latest = latest
            self.changed.emit()


def _says_more(latest: Notice, notice: Notice) -> bool:
    """Return whether a notice tells what another one with its sentence does not."""
    return bool(latest.file and not notice.file) or (latest.of_load and not notice.of_load)


def _as_one(notices: list[Notice]) -> Notice | None:
    """Return notices as one that says all of them, the first one first."""
    if len(notices) < 2:
        return notices[0] if notices else None
    more = tuple(sentence for each in notices[1:] for sentence in (each.sentence, *each.more))
    details = tuple(line for each in notices for line in each.details)
    return msgspec.structs.replace(notices[0], more=(*notices[0].more, *more), details=details)
