"""The list of the models on this machine: Enter loads, F2 renames, Delete throws away, and a menu for each row has it all.

Says what is wanted of the model that is chosen, and does none of it.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent
from PySide6.QtWidgets import QListView

from app.gui import theme
from app.gui.discover.library_keys import KEYS
from app.gui.discover.library_rows import LibraryRows
from app.gui.widgets.pressed_keys import meant_by


class LibraryList(QListView):
    """Rows of one height, no widget in any of them."""

    rename_wanted = Signal()
    """Somebody wants to give the file of the model that is chosen another name."""
    trash_wanted = Signal()
    """Somebody wants to be rid of it."""
    menu_wanted = Signal(QPoint, bool)
    """Somebody wants to see all that can be done with it: where on the screen, and whether a key asked for it."""

    def __init__(self, rows: LibraryRows) -> None:
        super().__init__()
        self.setObjectName("library_list")
        self.setAccessibleName(self.tr("Models on this machine"))
        self.setProperty("look", "rows")
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setModel(rows)

    def event(self, event: QEvent) -> bool:
        """Keep its keys from the window, where F2 renames the chat."""
        is_key = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if is_key and isinstance(event, QKeyEvent) and meant_by(event, KEYS) is not None:
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the keys that do something with the model that is chosen."""
        match meant_by(event, KEYS):
            case "rename":
                self.rename_wanted.emit()
            case "trash":
                self.trash_wanted.emit()
            case "menu":
                self._want_menu_below()
            case _:
                super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Want the menu of the row under the pointer, which is chosen with it, or of that which a key is for."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._want_menu_below()
        elif (index := self.indexAt(event.pos())).isValid():
            self.setCurrentIndex(index)
            self.menu_wanted.emit(event.globalPos(), False)

    def _want_menu_below(self) -> None:
        index = self.currentIndex()
        if index.isValid():
            self.scrollTo(index)
            place = self.visualRect(index).bottomLeft() + QPoint(theme.SPACE_M, 0)
            self.menu_wanted.emit(self.viewport().mapToGlobal(place), True)
