"""What was deleted and can still be brought back: chats, and branches of chats.

Nothing leaves the trash by itself before its time; when that is, the store knows.
"""

from __future__ import annotations

from app.core.conversation import Conversation, Trashed
from app.core.ports import StorePort
from app.core.signal import Signal
from app.core.store_commands import EraseTrash, ReadTrash, RestoreTrash
from app.core.store_events import Restored, TrashRead
from app.core.words import translate
from app.services.notices import Notice, Notices


class Trash:
    """The trash as it was read last; whoever looks at it reads it first."""

    def __init__(self, store: StorePort, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """What lies in it is known anew."""
        self.restored: Signal[Conversation] = Signal()
        """A conversation is back, whole or with a branch more; its head says where that branch ends."""
        self.erased: Signal[Trashed] = Signal()
        """Something goes for good: whoever could bring it back no longer can."""
        self._store = store
        self._notices = notices
        self.returned: Signal[Trashed] = Signal()
        """Something is back: whoever offered to bring it back has nothing to offer any more."""
        self._requests = 0
        self._returning: dict[int, Trashed] = {}
        """By request: what is to come back."""
        self._items: tuple[Trashed, ...] | None = None

    @property
    def items(self) -> tuple[Trashed, ...] | None:
        """What lies in it, the latest first; None where that was not read yet."""
        return self._items

    def look(self) -> None:
        """Read what lies in it."""
        self._requests += 1
        self._store.send(ReadTrash(self._requests))

    def restore(self, item: Trashed) -> None:
        """Bring something back."""
        self._requests += 1
        self._returning[self._requests] = item
        self._store.send(RestoreTrash(self._requests, item.conversation, item.message))

    def erase(self, item: Trashed) -> None:
        """Remove something for good."""
        self._store.send(EraseTrash(item.conversation, item.message))
        self.erased.emit(item)
        self.look()

    def take(self, event: TrashRead | Restored) -> None:
        """Take in what the store says."""
        item = self._returning.pop(event.request, None) if isinstance(event, Restored) else None
        match event:
            case TrashRead():
                if event.request == self._requests:
                    self._items = event.items
                    self.changed.emit()
            case Restored(_, None):
                self._notices.post(Notice(_NOT_BACK))
                self.look()
            case Restored(_, conversation) if conversation is not None:
                if item is not None:
                    self.returned.emit(item)
                self.restored.emit(conversation)
                self.look()
            case _:
                pass


_NOT_BACK = translate("Trash", "This could not be brought back: try again, or free some space on the disk.")
