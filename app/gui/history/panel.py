"""The conversations on the left, newest first, grouped by day, under a button for a new one.

Tells the service what people want and shows what it says; knows nothing of messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from PySide6.QtCore import QDate, QEvent, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.history.delegate import RowDelegate
from app.gui.history.model import HistoryModel, Today
from app.gui.history.search_part import SearchPart
from app.gui.history.view import HistoryList
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.chat_folders import ChatFolders
from app.services.conversations import Conversations


class HistoryPanel(QWidget):
    """The list of conversations, with a button for a new one."""

    new_wanted = Signal()
    """Somebody wants a new chat."""
    export_wanted = Signal(object)
    """Somebody wants a conversation, an int, or those of a folder, its name, in a file."""
    begin_wanted = Signal(str)
    """Somebody wants a new chat that begins with this preset."""

    def __init__(
        self,
        conversations: Conversations,
        folders: ChatFolders,
        icons: Icons,
        parent: QWidget | None = None,
        *,
        today: Today = QDate.currentDate,
    ) -> None:
        super().__init__(parent)
        self._conversations = conversations
        self._shown: int | None = None
        self._folders = folders
        self._model = HistoryModel(conversations, folders, today, self)
        delegate = RowDelegate(icons, self)
        self._list = HistoryList(self._model, delegate)
        self._empty = label(self.tr("Chats that you begin are kept here, the newest first."), look="muted")
        self._empty.setObjectName("no_conversations")
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._empty.setContentsMargins(theme.SPACE_S, theme.SPACE_S, theme.SPACE_S, 0)
        new = IconButton(icons, "new_chat", self.tr("New chat"), object_name="new_chat_button", look="outlined")
        new.setText(self.tr("New chat"))
        set_hint(new, self.tr("New chat"), "new_chat_action")
        new.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        new.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._search: SearchPart | None = None
        self._column = layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)  # the pane around it has margins
        layout.setSpacing(theme.SPACE_S)
        layout.addLayout(self._new_row(new, icons))
        layout.addWidget(self._list, 1)
        layout.addWidget(self._empty, 1)
        new.clicked.connect(self.new_wanted)
        delegate.renamed.connect(conversations.rename)
        self._list.open_wanted.connect(conversations.open)
        self._list.delete_wanted.connect(conversations.delete)
        self._list.undo_wanted.connect(self._undo)
        self._list.folders = lambda: folders.names
        delegate.folder_renamed.connect(folders.rename)
        self._list.pin_wanted.connect(lambda conversation, on: folders.pin(conversation, on=on))
        self._list.move_wanted.connect(folders.move)
        self._list.fold_wanted.connect(lambda folder, on: folders.fold(folder, on=on))
        self._list.folder_delete_wanted.connect(folders.delete)
        self._list.new_folder_wanted.connect(self.new_folder)
        self._list.export_wanted.connect(self.export_wanted)
        self._disconnect = [each.connect(self._refresh) for each in (conversations.changed, folders.changed)]
        self._refresh()

    def disconnect_services(self) -> None:
        """Listen to the conversations no longer."""
        for disconnect in self._disconnect:
            disconnect()
        if self._search is not None:
            self._search.disconnect_services()

    def take_search(self, part: SearchPart) -> None:
        """Show a search: its line under the button, and what it finds in place of the list."""
        self._search = part
        self._column.insertWidget(1, part.line)
        self._column.addWidget(part, 1)
        for before, behind in pairwise((self._with_preset, part.line, self._list, part.list)):
            QWidget.setTabOrder(before, behind)
        part.searching.connect(self._refresh)
        part.left.connect(self._list.setFocus)
        self._refresh()

    def show_presets(self, names: Sequence[str]) -> None:
        """Offer to begin a chat with one of these presets; without any there is no such offer."""
        self._menu.clear()
        for name in names:
            entry = self._menu.addAction(name.replace("&", "&&"))
            entry.setObjectName("new_chat_with_action")
            entry.triggered.connect(lambda _checked=False, name=name: self.begin_wanted.emit(name))
        self._with_preset.setVisible(bool(names))

    @property
    def can_rename(self) -> bool:
        """Whether the conversation that is shown stands in the list."""
        return self._model.index_of(self._conversations.open_id).isValid()

    def rename(self) -> None:
        """Let somebody type a title: for the row that has the focus, else for the conversation that is shown."""
        shown = self._model.index_of(self._conversations.open_id)
        self._list.rename(self._list.currentIndex() if self._list.hasFocus() else shown)

    def tell_rename_keys(self, keys: str) -> None:
        """Tell the keys that rename the open chat from anywhere in the window, where it has a menu."""
        self._list.rename_keys = keys

    def new_folder(self, conversation: int | None = None) -> None:
        """Make a folder, put a conversation into it if there is one, and let somebody type its name."""
        folder = self._folders.make(self.tr("New folder"))
        if conversation is not None:
            self._folders.move(conversation, folder)
        index = self._model.index_of_folder(folder)
        self._list.scrollTo(index)
        self._list.rename(index)

    def choose_folder(self) -> None:
        """Open the menu of folders for the conversation that is shown."""
        index = self._model.index_of(self._conversations.open_id)
        if index.isValid():
            self._list.choose_folder(index)

    def event(self, event: QEvent) -> bool:
        """Look at the date whenever somebody comes back to the window: no timer waits for midnight."""
        if event.type() in (QEvent.Type.Show, QEvent.Type.WindowActivate):
            self._model.refresh()
        return super().event(event)

    def _undo(self) -> None:
        """Bring back what was deleted last: a folder, or a chat."""
        if not self._folders.undo_delete():
            self._conversations.undo_delete()

    def _new_row(self, new: IconButton, icons: Icons) -> QHBoxLayout:
        """Lay out the button for a new chat, and beside it the one for a chat that begins with a preset."""
        name = self.tr("New chat with a chat preset")
        self._with_preset = IconButton(icons, "down", name, object_name="new_chat_preset_button", look="outlined")
        self._menu = QMenu(self._with_preset)
        self._menu.setAccessibleName(name)
        self._with_preset.setMenu(self._menu)
        self._with_preset.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._with_preset.hide()
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        row.addWidget(new, 1)
        row.addWidget(self._with_preset)
        return row

    def _refresh(self) -> None:
        self._model.refresh()
        is_empty = self._model.rowCount() == 0
        is_known = not self._conversations.is_opening
        searches = self._search is not None and self._search.is_searching
        self._list.setVisible(not searches and not (is_empty and is_known))
        self._empty.setVisible(not searches and is_empty and is_known)
        if self._search is not None:
            self._search.setVisible(searches)
        index = self._model.index_of(self._conversations.open_id)
        opened = self._conversations.open_id if index.isValid() else None
        if opened != self._shown:
            self._shown = opened
            if index.isValid():
                self._list.setCurrentIndex(index)
                self._list.scrollTo(index)
            elif not self._list.hasFocus():  # whoever goes through the list by keyboard keeps the place
                self._list.setCurrentIndex(index)
