"""How people arrange their chats: folders, which hold chats and nothing else, and chats that stay on top.

A folder is there as long as a chat is in it, or people have made it and not deleted it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from app.core.signal import Signal
from app.core.words import translate
from app.services.conversations import Conversations
from app.services.notices import Notice, Notices
from app.system.settings_file import SettingsFile

LONGEST_NAME = 60
"""Characters."""


class _Deletion(NamedTuple):
    """A folder that was deleted, and what was in it."""

    name: str
    chats: tuple[int, ...]
    was_folded: bool


class ChatFolders:
    """Names and folds of folders lie in the settings, and which folder a chat is in with the chat."""

    def __init__(self, conversations: Conversations, settings: SettingsFile, notices: Notices) -> None:
        self.changed: Signal[()] = Signal()
        """There is another folder, one less, or one is folded or unfolded."""
        self._conversations = conversations
        self._settings = settings
        self._notices = notices
        self._deleted: list[_Deletion] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The folders in the order of their names."""
        used = {head.folder for head in self._conversations.heads if head.folder}
        return tuple(sorted(used.union(self._settings.values.chat_folders), key=lambda name: (name.casefold(), name)))

    @property
    def folded(self) -> frozenset[str]:
        """Those whose chats are not shown."""
        return frozenset(self._settings.values.folded_folders)

    def make(self, wanted: str) -> str:
        """Make a folder and return its name, which is not that of another one."""
        name, number = _one_line(wanted), 2
        taken = {each.casefold() for each in self.names}
        unique = name
        while unique.casefold() in taken:
            unique, number = f"{name} {number}", number + 1
        self._keep((*self._settings.values.chat_folders, unique))
        return unique

    def rename(self, folder: str, wanted: str) -> None:
        """Give a folder another name; a blank one changes nothing, and one that is taken is refused."""
        name = _one_line(wanted)
        if not name or name == folder:
            return
        if any(each.casefold() == name.casefold() for each in self.names if each != folder):
            taken = translate("Folders", "There is a folder “{name}” already: choose another name.", name=name)
            self._notices.post(Notice(taken, level="hint", brief=True))
            return
        others = [each for each in self._settings.values.chat_folders if each != folder]
        folds = [name if each == folder else each for each in self._settings.values.folded_folders]
        self._keep((*others, name), folds)
        self._conversations.change(*self._in(folder), folder=name)

    def delete(self, folder: str) -> None:
        """Delete a folder; its chats stay, and stand among those that are in none. A notice offers to undo that."""
        chats = self._in(folder)
        latest = self._notices.latest
        if latest is None or latest.remedy != "undo_folder":
            self._deleted.clear()  # nobody remembers what was deleted long ago
        self._deleted.append(_Deletion(folder, tuple(chats), folder in self.folded))
        kept = [each for each in self._settings.values.chat_folders if each != folder]
        self._keep(kept, [each for each in self._settings.values.folded_folders if each != folder])
        self._conversations.change(*chats, folder="")
        self._offer_undo()

    def undo_delete(self) -> bool:
        """Bring back the folder that was deleted last, with its chats but for those that lie elsewhere or are gone.

        False where there is none.
        """
        if not self._deleted:
            return False
        deletion = self._deleted.pop()
        self._offer_undo()
        name = next((each for each in self.names if each.casefold() == deletion.name.casefold()), deletion.name)
        folds = self._settings.values.folded_folders
        self._keep(
            (*self._settings.values.chat_folders, name),
            dict.fromkeys((*folds, name)) if deletion.was_folded else folds,
        )
        loose = {head.id for head in self._conversations.heads if not head.folder}
        self._conversations.change(*(each for each in deletion.chats if each in loose), folder=name)
        return True

    def take_deleted(self, _conversation: int, messages: tuple[int, ...]) -> None:
        """A chat was deleted: that is what can be undone from now on, and no folder."""
        if not messages:
            self._deleted.clear()

    def _offer_undo(self) -> None:
        """Say what was deleted last, in place of what was said before."""
        self._notices.settle("undo_folder")
        if not self._deleted:
            return
        last = self._deleted[-1]
        said = translate("Folders", "The folder “{name}” was deleted.", name=last.name)
        if last.chats:
            said = translate("Folders", "The folder “{name}” was deleted; its chats are still here.", name=last.name)
        self._notices.post(Notice(said, level="hint", remedy="undo_folder", brief=True))

    def move(self, conversation: int, folder: str) -> None:
        """Put a chat into a folder, or into none, where it stands with the others: it stays on top no longer."""
        if any(head.id == conversation for head in self._conversations.heads):
            self._conversations.change(conversation, folder=folder, pinned=False)

    def pin(self, conversation: int, *, on: bool) -> None:
        """Let a chat stay on top, or let it go back to where it was."""
        if any(head.id == conversation for head in self._conversations.heads):
            self._conversations.change(conversation, pinned=on)

    def fold(self, folder: str, *, on: bool) -> None:
        """Show the chats of a folder no longer, or again."""
        others = [each for each in self._settings.values.folded_folders if each != folder]
        self._keep(self._settings.values.chat_folders, [*others, folder] if on else others)

    def _in(self, folder: str) -> list[int]:
        return [head.id for head in self._conversations.heads if head.folder == folder]

    def _keep(self, folders: Iterable[str], folded: Iterable[str] | None = None) -> None:
        folds = self._settings.values.folded_folders if folded is None else folded
        self._settings.change(chat_folders=tuple(dict.fromkeys(folders)), folded_folders=tuple(folds))
        self.changed.emit()


def _one_line(name: str) -> str:
    return " ".join(name.split())[:LONGEST_NAME].strip()
