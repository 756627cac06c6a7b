"""What can be done with a row of the list: with a chat, or with a folder of chats."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.history.model import Role


class RowMenu(QMenu):
    """Says what is wanted of the row that it was opened for; each action carries its name."""

    wanted = Signal(str)
    """Somebody wants this: open, pin, unpin, rename, export, delete or new_folder."""
    move_wanted = Signal(str)
    """Somebody wants the chat in this folder; empty is none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("conversation_menu")
        self.for_folder = False
        """Whether it was opened for a folder."""
        words = {
            "open": self.tr("&Open"),
            "rename": self.tr("&Rename"),
            "pin": self.tr("&Pin on top"),
            "unpin": self.tr("Un&pin"),
            "fold": self.tr("&Fold or unfold"),
        }
        self._entries: dict[str, QAction] = {}
        for name, text in words.items():
            self._add(name, text)
        self.folders = self.addMenu(self.tr("&Move to a folder"))
        self.folders.setObjectName("move_menu")
        self._add("export", self.tr("&Export…"))
        self._add("export_folder", self.tr("&Export its chats…"))
        self._add("delete", self.tr("&Delete"))
        self._add("delete_folder", self.tr("&Delete the folder; its chats stay"))

    def _add(self, name: str, text: str) -> None:
        action = QAction(text, self)
        action.setObjectName(name)
        action.triggered.connect(lambda _checked=False: self.wanted.emit(name))
        self.addAction(action)
        self._entries[name] = action

    def show_for(self, index: QModelIndex | QPersistentModelIndex, folders: Sequence[str]) -> None:
        """Offer what can be done with a row."""
        self.for_folder = index.data(Role.ID) is None
        is_pinned = bool(index.data(Role.PINNED))
        shown = {
            "open": not self.for_folder,
            "pin": not self.for_folder and not is_pinned,
            "unpin": is_pinned,
            "fold": self.for_folder,
            "export": not self.for_folder,
            "export_folder": self.for_folder,
            "delete": not self.for_folder,
            "delete_folder": self.for_folder,
        }
        for name, is_shown in shown.items():
            self._entries[name].setVisible(is_shown)
        self._entries["export_folder"].setEnabled(bool(index.data(Role.CHATS)))
        self.folders.menuAction().setVisible(not self.for_folder)
        self._fill(index.data(Role.INSIDE) or "", folders)

    def tell_keys(self, rename: str, delete: str) -> None:
        """Show beside the words the keys that do just that from where the focus is; empty for none."""
        for name, keys in {"rename": rename, "delete": delete, "delete_folder": delete}.items():
            action = self._entries[name]
            words = action.text().partition("\t")[0]
            action.setText(f"{words}\t{keys}" if keys else words)

    def _fill(self, inside: str, folders: Sequence[str]) -> None:
        """Fill the menu of folders; the one that the chat is in carries a tick."""
        self.folders.clear()
        for folder in folders:
            action = self.folders.addAction(folder.replace("&", "&&"))
            action.setObjectName("folder_entry")
            action.setCheckable(True)
            action.setChecked(folder == inside)
            action.triggered.connect(lambda _checked=False, folder=folder: self.move_wanted.emit(folder))
        if folders:
            self.folders.addSeparator()
        out = self.folders.addAction(self.tr("&No folder"))
        out.setObjectName("no_folder")
        out.setVisible(bool(inside))
        out.triggered.connect(lambda _checked=False: self.move_wanted.emit(""))
        new = self.folders.addAction(self.tr("New &folder…"))
        new.setObjectName("new_folder")
        new.triggered.connect(lambda _checked=False: self.wanted.emit("new_folder"))
