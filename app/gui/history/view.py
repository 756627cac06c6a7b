"""The list as people use it: a click or Enter opens, F2 renames, Delete deletes, Ctrl+Z brings back what was deleted.

A menu for each row has it all, beside the keys that work where the focus is; chats are dragged into folders.

Says what is wanted and does none of it. Knows rows by their roles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Property, QEvent, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.gui import theme
from app.gui.history.delegate import RowDelegate, more_rect
from app.gui.history.list_keys import keys_in_words, wanted_by
from app.gui.history.model import HistoryModel, Index, Role
from app.gui.history.quiet_list import make_quiet
from app.gui.history.row_menu import RowMenu
from app.gui.history.rows import pinned_heading


class HistoryList(QListView):
    """Rows of one height, no widget in any of them."""

    open_wanted = Signal(object)
    """Somebody wants to see a conversation, an int that is too long for Qt's."""
    delete_wanted = Signal(object)
    """Somebody wants a conversation, an int, to go."""
    undo_wanted = Signal()
    """Somebody wants back what was deleted last."""
    pin_wanted = Signal(object, bool)
    """Somebody wants a conversation, an int, to stay on top, or no longer."""
    move_wanted = Signal(object, str)
    """Somebody wants a conversation, an int, in a folder; empty is none."""
    new_folder_wanted = Signal(object)
    """Somebody wants a new folder for a conversation, an int; None for an empty one."""
    fold_wanted = Signal(str, bool)
    """Somebody wants the chats of a folder hidden, or shown."""
    export_wanted = Signal(object)
    """Somebody wants a conversation, an int, or those of a folder, its name, in a file."""
    folder_delete_wanted = Signal(str)
    """Somebody wants a folder to go."""

    def __init__(self, model: HistoryModel, delegate: RowDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = delegate
        self._for_menu: int | str | None = None
        """The conversation that the menu is open for, or the name of the folder."""
        self.folders: Callable[[], Sequence[str]] = tuple
        """The folders that there are."""
        self.rename_keys = ""
        """The keys that rename the open chat from anywhere in the window."""
        self._is_more_pressed = False
        self.setObjectName("conversation_list")
        self.setAccessibleName(self.tr("Chats"))
        self.setModel(model)
        self.setItemDelegate(delegate)
        make_quiet(self)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(False)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.clicked.connect(self._open)
        self.doubleClicked.connect(self.rename)
        self.menu = self._make_menu()

    def _get_line_px(self) -> int:
        return self._delegate.line_px

    def _set_line_px(self, pixels: int) -> None:
        self._delegate.line_px = pixels
        self.viewport().update()

    linePx = Property(int, _get_line_px, _set_line_px)
    """How thick the style sheet's lines are."""

    def minimumSizeHint(self) -> QSize:
        """Leave the height to whoever lays out."""
        return QSize(0, 0)

    def rename(self, index: QModelIndex) -> None:
        """Let somebody type another title in the row."""
        if is_row(index) and self.state() != QAbstractItemView.State.EditingState:
            self.setCurrentIndex(index)
            self.edit(index)

    def show_menu(self, index: QModelIndex, place: QPoint) -> None:
        """Show what can be done with a row, at a place of the viewport."""
        if not is_row(index):
            return
        self._for_menu = index.data(Role.ID) if index.data(Role.FOLDER) is None else index.data(Role.FOLDER)
        self.menu.show_for(index, self.folders())
        self._tell_keys(index)
        self.menu.popup(self.viewport().mapToGlobal(place))

    def choose_folder(self, index: QModelIndex) -> None:
        """Show the folders that a conversation can be moved to, below its row."""
        self.scrollTo(index)
        self._for_menu = index.data(Role.ID)
        self.menu.show_for(index, self.folders())
        place = self.visualRect(index).bottomLeft() + QPoint(theme.SPACE_M, 0)
        self.menu.folders.popup(self.viewport().mapToGlobal(place))
        self.menu.folders.setActiveAction(self.menu.folders.actions()[0])

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        """Paint again what changed; a list would lay out all its rows, which are equally high whatever they say."""
        QAbstractItemView.dataChanged(self, first, last, list(roles))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the keys that do something with the current row."""
        if self.state() == QAbstractItemView.State.EditingState:
            event.accept()  # what the field for a title did not want is not for the rows
            return
        index = self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo_wanted.emit()
            event.accept()
            return
        match wanted_by(event):
            case "open":
                self._open(index)
            case "rename":
                self.rename(index)
            case "delete" if is_row(index):
                self._delete(index)
            case "fold" if index.data(Role.FOLDER) is not None:
                self.fold_wanted.emit(index.data(Role.FOLDER), event.key() == Qt.Key.Key_Left)
            case "menu":
                self._show_menu_below(index)
            case _:
                super().keyPressEvent(event)
                return
        event.accept()

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Go to the conversation below where a jump ends on a heading; Qt would not move at all."""
        index = super().moveCursor(action, modifiers)
        if index.isValid() and not is_row(index):
            index = index.siblingAtRow(index.row() + 1)
        return index

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Show the menu of the row under the pointer, or of the current row when a key asked for it."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            self._show_menu_below(self.currentIndex())
        else:
            self.show_menu(self.indexAt(event.pos()), event.pos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Let the button for more be pressed instead of its row."""
        index = self._more_at(event.position().toPoint())
        self._is_more_pressed = event.button() == Qt.MouseButton.LeftButton and index.isValid()
        if self._is_more_pressed:
            self.show_menu(index, more_rect(self.visualRect(index)).bottomLeft())
            return
        if event.button() != Qt.MouseButton.RightButton:  # its menu is no reason to go to another conversation
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the button for more be released without a click on its row."""
        if not self._is_more_pressed:
            super().mouseReleaseEvent(event)
        self._is_more_pressed = False

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Rename by a double click anywhere but on the button."""
        if not self._more_at(event.position().toPoint()).isValid():
            super().mouseDoubleClickEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Light the button that the pointer is over."""
        super().mouseMoveEvent(event)
        self._light(self._more_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        """Light no button any more."""
        super().leaveEvent(event)
        self._light(QModelIndex())

    def _light(self, index: QModelIndex) -> None:
        if self._delegate.hover_more(index):
            self.viewport().update()

    def _more_at(self, place: QPoint) -> QModelIndex:
        index = self.indexAt(place)
        is_there = is_row(index) and more_rect(self.visualRect(index)).contains(place)
        return index if is_there else QModelIndex()

    def _open(self, index: QModelIndex) -> None:
        if index.data(Role.ID) is not None:
            self.open_wanted.emit(index.data(Role.ID))
        elif index.data(Role.FOLDER) is not None:
            self.fold_wanted.emit(index.data(Role.FOLDER), not index.data(Role.FOLDED))

    def _show_menu_below(self, index: QModelIndex) -> None:
        """Show the menu by keyboard: under the row, whose title stays readable, with its first entry marked."""
        if index.isValid():
            self.scrollTo(index)
        self.show_menu(index, self.visualRect(index).bottomLeft() + QPoint(theme.SPACE_M, 0))
        self.menu.setActiveAction(next(action for action in self.menu.actions() if action.isVisible()))

    def _make_menu(self) -> RowMenu:
        menu = RowMenu(self)
        menu.wanted.connect(lambda name: self._do(name, self._menu_index()))
        menu.move_wanted.connect(lambda folder: self.move_wanted.emit(self._for_menu, folder))
        return menu

    def _do(self, name: str, index: QModelIndex) -> None:
        """Do what the menu says with the row that it was opened for."""
        match name:
            case "open" | "fold":
                self._open(index)
            case "rename":
                self.rename(index)
            case "pin" | "unpin":
                self.pin_wanted.emit(index.data(Role.ID), name == "pin")
            case "new_folder":
                self.new_folder_wanted.emit(index.data(Role.ID))
            case "export" | "export_folder":
                self.export_wanted.emit(self._for_menu)
            case _:
                self._delete(index)

    def _tell_keys(self, index: QModelIndex) -> None:
        """Show beside the words the keys that do just that to this row from where the focus is."""
        has_focus, is_current = self.hasFocus(), index == self.currentIndex()
        elsewhere = self.rename_keys if index.data(Role.OPEN) else ""
        here = keys_in_words("rename") if is_current else ""
        delete = keys_in_words("delete") if has_focus and is_current else ""
        self.menu.tell_keys(here if has_focus else elsewhere, delete)

    def _menu_index(self) -> QModelIndex:
        model, row = self.model(), self._for_menu
        assert isinstance(model, HistoryModel)
        return model.index_of_folder(row) if isinstance(row, str) else model.index_of(row)

    def _delete(self, index: QModelIndex) -> None:
        if index.data(Role.ID) is not None:
            self.delete_wanted.emit(index.data(Role.ID))
        elif index.data(Role.FOLDER) is not None:
            self.folder_delete_wanted.emit(index.data(Role.FOLDER))

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show on which row a chat would be dropped, and scroll near the edges."""
        super().dragMoveEvent(event)
        index = self.indexAt(event.position().toPoint())
        is_own = event.source() is self
        self._show_drop(index if is_own else QModelIndex())
        event.setAccepted(is_own)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """Show it no longer."""
        self._show_drop(QModelIndex())
        super().dragLeaveEvent(event)

    def dropEvent(self, event: QDropEvent) -> None:
        """Put the chat that was dragged where it was let go: into a folder, on top, or among the others."""
        self._show_drop(QModelIndex())
        self.stopAutoScroll()
        dragged, index = self.currentIndex().data(Role.ID), self.indexAt(event.position().toPoint())
        if event.source() is self and dragged is not None:
            self.drop_on(dragged, index)
        event.setDropAction(Qt.DropAction.IgnoreAction)  # the rows follow the service, nothing is moved here
        event.accept()

    def drop_on(self, conversation: int, index: QModelIndex) -> None:
        """Put a conversation where a row is; an index that is not valid is the free room below them."""
        is_heading = index.isValid() and not is_row(index) and index.data() == pinned_heading()
        if is_heading or index.data(Role.PINNED):
            self.pin_wanted.emit(conversation, True)
        else:
            folder = index.data(Role.FOLDER) if index.data(Role.FOLDER) is not None else index.data(Role.INSIDE)
            self.move_wanted.emit(conversation, folder or "")

    def _show_drop(self, index: QModelIndex) -> None:
        self._delegate.drop_at = QPersistentModelIndex(index)
        self.viewport().update()


def is_row(index: Index) -> bool:
    """Return whether something can be done with a row: it is a conversation or a folder, no heading."""
    return index.data(Role.ID) is not None or index.data(Role.FOLDER) is not None
