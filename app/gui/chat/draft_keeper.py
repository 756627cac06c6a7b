"""Shows in the composer what is written in the conversation that is shown, and has it kept as it is written.

Knows when to keep a draft; where it is kept is the service's.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from app.core.draft import Draft
from app.gui.chat.composer import Composer, Written
from app.gui.chat.pasted import Pasted
from app.services.chat import Chat
from app.services.drafts import place_of

KEPT_MS = 1_000
"""So long after the first key that is not kept yet a draft is kept, whether more keys follow or not."""


class DraftKeeper(QObject):
    """One draft for each conversation, and one for the chat that has no message yet."""

    def __init__(self, chat: Chat, composer: Composer, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chat = chat
        self._composer = composer
        self._place = place_of(chat.shown)
        self._is_dirty = False
        """Whether somebody wrote since the draft was kept."""
        self._waits = False
        """Whether drafts of earlier may still come."""
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(KEPT_MS)
        self._due.timeout.connect(self.keep)
        composer.edited.connect(self._note)

    def wait(self, waits: bool) -> None:
        """Wait for the drafts of earlier; once they are there, the one of here stands before what was typed meanwhile."""
        came, self._waits = self._waits and not waits, waits
        if not came:
            return
        self._place = place_of(self._chat.shown)
        earlier = self._chat.drafts.of(self._place)
        if not earlier.is_empty:
            was_dirty = self._is_dirty
            self._composer.write(_written(earlier).followed_by(self._composer.written))
            self._settle(is_dirty=was_dirty)
        elif self._is_dirty:
            self._note()

    def follow(self) -> None:
        """Keep the draft of the conversation that was left, and show that of the one that is shown now."""
        now = place_of(self._chat.shown)
        if now == self._place:
            return
        self.keep()
        self._place = now
        self._composer.write(_written(self._chat.drafts.of(now)))
        self._settle(is_dirty=False)

    def move(self) -> None:
        """Take what is written along where the new chat became a conversation with its first message, or none again."""
        now = place_of(self._chat.shown)
        if now == self._place:
            return
        self._chat.drafts.write(Draft(self._place))
        self._place = now
        earlier = self._chat.drafts.of(now)
        if not earlier.is_empty:
            self._composer.write(_written(earlier).followed_by(self._composer.written))
        self._is_dirty = True
        self.keep()

    def keep(self) -> None:
        """Have what is written kept now."""
        if self._is_dirty and not self._waits:
            written = self._composer.written
            self._chat.drafts.write(Draft(self._place, written.text, tuple(each.text for each in written.pasted)))
            self._settle(is_dirty=False)

    def _note(self) -> None:
        self._is_dirty = True
        if not self._due.isActive():
            self._due.start()

    def _settle(self, *, is_dirty: bool) -> None:
        self._due.stop()
        self._is_dirty = False
        if is_dirty:
            self._note()


def _written(draft: Draft) -> Written:
    said = Written.of(draft.text)  # what waited to be sent when the program ended may have files
    return Written(said.text, (*map(Pasted, draft.pasted), *said.pasted))
