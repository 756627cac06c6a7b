"""The search over all chats: a line to type in, and in place of the list what was found.

Says to the service what is typed and which hit is wanted; where line and hits stand is the panel's.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.history.found_delegate import FoundDelegate
from app.gui.history.found_model import FoundModel, FoundRole
from app.gui.history.quiet_list import make_quiet
from app.gui.icons import Icons
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import in_parts, label
from app.gui.widgets.words import set_hint
from app.services.message_search import MessageSearch
from app.services.units import count

NEAR_END_PX = 200
"""So near the end of the list more is looked for."""
_STEPS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class SearchPart(QWidget):
    """What was found, with the number of hits above; the line is laid out by whoever shows both."""

    searching = Signal()
    """Something is looked for, or nothing any more, or something else was found."""
    left = Signal()
    """Somebody has done with it: the keyboard goes elsewhere."""

    def __init__(self, search: MessageSearch, icons: Icons) -> None:
        super().__init__()
        self._search = search
        self.line = ClearLine()
        self.line.setObjectName("search_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("Search"))
        self.line.lead_with(icons, "search")
        self.line.setAccessibleName(self.tr("Search in all chats"))
        set_hint(self.line, self.tr("Search in all chats"), "search_action")
        self.state = label(look="muted", pixels=theme.SMALL_PX, name="search_state")
        self.state.setWordWrap(True)
        self.state.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        self.list = _Found()
        self._model = FoundModel(self)
        self.list.setModel(self._model)
        self.list.setItemDelegate(FoundDelegate(self.list))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self.state)
        column.addWidget(self.list, 1)
        self.line.textChanged.connect(self._type)
        self.line.installEventFilter(self)
        self.list.clicked.connect(self._open)
        self.list.opened.connect(self._open)
        self.list.left.connect(self.end)
        self.list.verticalScrollBar().valueChanged.connect(lambda _value: self._look_further())
        self._disconnect = search.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the service no longer."""
        self._disconnect()

    @property
    def is_searching(self) -> bool:
        """Whether something is looked for."""
        return bool(self._search.text)

    def begin(self) -> None:
        """Let somebody type, in place of what they typed before."""
        self.line.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.line.selectAll()
        self._search.again()

    def end(self) -> None:
        """Look for nothing any more."""
        self.line.clear()
        self.left.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let arrows move in the list, Enter open a hit and Esc end the search while the line has the keyboard."""
        if watched is self.line and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
                event.accept()  # it stops no answer here
                return True
            if event.type() == QEvent.Type.KeyPress and self._take_key(event):
                return True
        return super().eventFilter(watched, event)

    def _take_key(self, event: QKeyEvent) -> bool:
        if _is_escape(event):
            self.end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            current = self.list.currentIndex()
            self._open(current if current.isValid() else self._model.index(0, 0))
        elif event.key() in _STEPS and self._model.rowCount():
            if self.list.currentIndex().isValid():
                self.list.keyPressEvent(event)
            else:
                self.list.setCurrentIndex(self._model.index(0, 0))
        else:
            return False
        return True

    def _type(self, text: str) -> None:
        self._search.search(text)

    def _open(self, index: QModelIndex) -> None:
        if index.isValid():
            self.list.setCurrentIndex(index)
            self._search.open(index.data(FoundRole.HIT))

    def _look_further(self) -> None:
        bar = self.list.verticalScrollBar()
        if bar.maximum() > 0 and bar.value() >= bar.maximum() - NEAR_END_PX:
            self._search.more()

    def _show(self) -> None:
        self._model.show_hits((*self._search.titles, *self._search.hits))
        self.state.setText(self._in_words())
        self.searching.emit()

    def _in_words(self) -> str:
        """Return how much was found."""
        search, found, titles = self._search, len(self._search.hits), len(self._search.titles)
        if not found and not titles and search.is_busy:
            return self.tr("Searching …")
        named = self.tr("1 title") if titles == 1 else self.tr("{count} titles").format(count=count(titles))
        messages = self._messages_in_words(found)
        if titles:
            return in_parts((named, messages)) if found or not search.is_whole else named
        return messages

    def _messages_in_words(self, found: int) -> str:
        search = self._search
        if not search.is_whole:
            words = self.tr("{count} found so far: older chats are still being made ready for searching")
        elif search.is_more:
            words = self.tr("The newest {count} messages")
        elif found == 1:
            words = self.tr("1 message")
        elif found:
            words = self.tr("{count} messages")
        else:
            words = self.tr("No message and no title holds this text, letter for letter.")
        return words.format(count=count(found))


class _Found(QListView):
    """The hits: a click or Enter opens one, Esc leaves."""

    opened = Signal(QModelIndex)
    left = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("search_results")
        self.setAccessibleName(self.tr("What was found"))
        make_quiet(self)

    def minimumSizeHint(self) -> QSize:
        """Leave the height to whoever lays out."""
        return QSize(0, 0)

    def event(self, event: QEvent) -> bool:
        """Keep Esc from stopping an answer."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.ShortcutOverride and _is_escape(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open a hit with Enter, and leave with Esc."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.opened.emit(self.currentIndex())
        elif _is_escape(event):
            self.left.emit()
        else:
            super().keyPressEvent(event)


def _is_escape(event: QKeyEvent) -> bool:
    return bool(event.key() == Qt.Key.Key_Escape)
