"""A drop-down list of many things, with a line to search in above them."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox, keep_inside
from app.gui.widgets.choices import ROW_PX, ChoiceDelegate
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import label, wrapped

MOST_ROWS = 10
_STEPS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_Index = QModelIndex | QPersistentModelIndex


class SearchBox(ChoiceBox):
    """Opens its choices under a line: those that hold all words that are typed, in any order."""

    def __init__(self, search: str, nothing: str, parent: QWidget | None = None) -> None:
        """`search` stands in the line, `nothing` in place of the choices where none has what is typed."""
        super().__init__(parent)
        self._search, self._nothing = search, nothing
        self.popup: SearchPopup | None = None
        """The list while it is open, and until it is opened again."""

    def showPopup(self) -> None:
        """Open the list with the line above it."""
        if self.popup is not None:
            self.popup.deleteLater()
        self.popup = SearchPopup(self, self.model(), self._search, self._nothing)
        self.popup.taken.connect(self.choose)
        self.popup.open_below(self.currentIndex())

    def hidePopup(self) -> None:
        """Close it."""
        if self.popup is not None:
            self.popup.close()
        super().hidePopup()

    def choose(self, row: int) -> None:
        """Take a choice, as somebody does."""
        self.hidePopup()
        self.setCurrentIndex(row)
        self.activated.emit(row)


class SearchPopup(QWidget):
    """The line and the choices; no frame, as style sheets leave frames in drop-down lists alone."""

    taken = Signal(int)
    """Somebody takes a choice: its row."""

    def __init__(self, beside: QWidget, choices: QAbstractItemModel, search: str, nothing: str) -> None:
        """`beside` is what is pressed to have it opened, and gives it its name; a choice without data cannot be taken."""
        super().__init__(beside, Qt.WindowType.Popup)
        self._beside, self._choices = beside, choices
        self.setProperty("look", "popup")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setObjectName(f"{beside.objectName()}_popup")
        self.line = ClearLine()
        self.line.setObjectName(f"{beside.objectName()}_search")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(search)
        self.line.setAccessibleName(search)
        self.shown = _Found(self)
        self.shown.setSourceModel(choices)
        self.list = QListView()
        self.list.setObjectName(f"{beside.objectName()}_list")
        self.list.setAccessibleName(beside.accessibleName())
        self.list.setProperty("look", "choices")
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setItemDelegate(ChoiceDelegate(self.list))
        self.list.setModel(self.shown)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.line)
        column.addWidget(self.list)
        self.nothing = wrapped(label(nothing, look="muted", name=f"{beside.objectName()}_nothing"))
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.hide()
        column.addWidget(self.nothing)
        self.line.textChanged.connect(self._filter)
        self.line.installEventFilter(self)
        self.list.clicked.connect(self._take)

    def open_below(self, row: int = -1) -> None:
        """Show it below the box, as wide as its longest choice, with what is chosen, this row, in sight."""
        widths = [
            self.list.sizeHintForIndex(self.shown.index(row, 0)).width() for row in range(self.shown.rowCount())
        ]
        wide = (
            max([*widths, self._beside.width() - 2 * theme.SPACE_S])
            + self.list.verticalScrollBar().sizeHint().width()
        )
        for each in (self.list, self.nothing):
            each.setFixedSize(wide, theme.scaled(ROW_PX) * min(MOST_ROWS, max(self.shown.rowCount(), 1)))
        self.adjustSize()
        corner = self._beside.mapToGlobal(QPoint(0, self._beside.height()))
        room = self._beside.screen().availableGeometry()
        corner.setX(max(room.left(), min(corner.x(), room.right() - self.width())))
        if corner.y() + self.height() > room.bottom():
            corner.setY(max(room.top(), corner.y() - self._beside.height() - self.height()))
        self.move(corner)
        self.show()
        keep_inside(self, room)
        self.line.setFocus()
        current = self.shown.mapFromSource(self._choices.index(row, 0))
        self.list.setCurrentIndex(current if current.isValid() else self.shown.index(0, 0))
        self.list.scrollTo(self.list.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let arrows move in the list and Enter take a choice while the line has the keyboard."""
        if watched is self.line and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() in _STEPS:
                self.list.keyPressEvent(event)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._take(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _filter(self, text: str) -> None:
        self.shown.search(text)
        is_empty = not self.shown.rowCount()
        self.list.setHidden(is_empty)
        self.nothing.setVisible(is_empty)
        self.line.setAccessibleDescription(self.nothing.text() if is_empty else "")
        if not self.list.currentIndex().isValid():
            self.list.setCurrentIndex(self.shown.index(0, 0))

    def _take(self, index: QModelIndex) -> None:
        found = self.shown.mapToSource(index)
        if found.isValid() and found.data(Qt.ItemDataRole.UserRole) is not None:
            self.taken.emit(found.row())


class _Found(QSortFilterProxyModel):
    """The choices that hold every word; lines between groups only as long as nothing is searched."""

    _words: tuple[str, ...] = ()

    def search(self, text: str) -> None:
        """Look for other words."""
        self._words = tuple(text.casefold().split())
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: _Index) -> bool:
        """Return whether a choice is meant."""
        index = self.sourceModel().index(row, 0, parent)
        said = f"{index.data() or ''} {index.data(Qt.ItemDataRole.StatusTipRole) or ''}".casefold()
        return not self._words or (bool(index.data()) and all(word in said for word in self._words))
