"""The list as people use it: a click or Enter opens, F2 renames, Delete deletes, Ctrl+Z brings back what was deleted.

A menu for each row has it all, beside the keys that work where the focus is.

Says what is wanted and does none of it. Knows rows by their roles.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Property, QEvent, QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu, QWidget

from app.gui import theme
from app.gui.history.delegate import RowDelegate, more_rect
from app.gui.history.list_keys import wanted_by
from app.gui.history.model import HistoryModel, Index, Role


class HistoryList(QListView):
    """Rows of one height, no widget in any of them."""

    open_wanted = Signal(object)
    """Somebody wants to see a conversation, an int that is too long for Qt's."""
    delete_wanted = Signal(object)
    """Somebody wants a conversation, an int, to go."""
    undo_wanted = Signal()
    """Somebody wants back what was deleted last."""

    def __init__(self, model: HistoryModel, delegate: RowDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = delegate
        self._for_menu: int | None = None
        self._is_more_pressed = False
        self.setObjectName("conversation_list")
        self.setAccessibleName(self.tr("Chats"))
        self.setModel(model)
        self.setItemDelegate(delegate)
        self.setUniformItemSizes(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.viewport().setAutoFillBackground(False)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabKeyNavigation(False)
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
        if index.data(Role.ID) is not None and self.state() != QAbstractItemView.State.EditingState:
            self.setCurrentIndex(index)
            self.edit(index)

    def show_menu(self, index: QModelIndex, place: QPoint) -> None:
        """Show what can be done with a row, at a place of the viewport."""
        if index.data(Role.ID) is None:
            return
        self._for_menu = index.data(Role.ID)
        self._tell_keys(index)
        self.menu.popup(self.viewport().mapToGlobal(place))

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
            case "delete" if index.data(Role.ID) is not None:
                self.delete_wanted.emit(index.data(Role.ID))
            case "menu":
                self._show_menu_below(index)
            case _:
                super().keyPressEvent(event)
                return
        event.accept()

    def moveCursor(self, action: QAbstractItemView.CursorAction, modifiers: Qt.KeyboardModifier) -> QModelIndex:
        """Go to the conversation below where a jump ends on a heading; Qt would not move at all."""
        index = super().moveCursor(action, modifiers)
        if index.isValid() and index.data(Role.ID) is None:
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
        is_there = index.data(Role.ID) is not None and more_rect(self.visualRect(index)).contains(place)
        return index if is_there else QModelIndex()

    def _open(self, index: QModelIndex) -> None:
        if index.data(Role.ID) is not None:
            self.open_wanted.emit(index.data(Role.ID))

    def _show_menu_below(self, index: QModelIndex) -> None:
        """Show the menu by keyboard: under the row, whose title stays readable, with its first entry marked."""
        if index.isValid():
            self.scrollTo(index)
        self.show_menu(index, self.visualRect(index).bottomLeft() + QPoint(theme.SPACE_M, 0))
        self.menu.setActiveAction(self.menu.actions()[0])

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setObjectName("conversation_menu")
        for name, text, slot in (
            ("open", self.tr("&Open"), self._open),
            ("rename", self.tr("&Rename"), self.rename),
            ("delete", self.tr("&Delete"), self._delete),
        ):
            action = QAction(text, menu)
            action.setObjectName(name)
            action.triggered.connect(lambda _checked=False, slot=slot: slot(self._menu_index()))
            menu.addAction(action)
        return menu

    def _tell_keys(self, index: QModelIndex) -> None:
        """Show beside the words the keys that do just that to this row from where the focus is."""
        has_focus, is_current = self.hasFocus(), index == self.currentIndex()
        is_deleted = has_focus and is_current
        is_renamed = is_current if has_focus else bool(index.data(Role.OPEN))
        for action in self.menu.actions():
            keys = {"rename": "F2" if is_renamed else "", "delete": "Del" if is_deleted else ""}
            words = action.text().partition("\t")[0]
            shown = keys.get(action.objectName(), "")
            action.setText(f"{words}\t{shown}" if shown else words)

    def _menu_index(self) -> QModelIndex:
        model = self.model()
        assert isinstance(model, HistoryModel)
        return model.index_of(self._for_menu)

    def _delete(self, index: QModelIndex) -> None:
        if index.data(Role.ID) is not None:
            self.delete_wanted.emit(index.data(Role.ID))
