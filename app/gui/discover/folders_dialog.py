"""Which folders are looked into for models: the program's own, and those that people add."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.widgets.buttons import text_button
from app.gui.widgets.file_chooser import dress
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.words import hint_of
from app.services.library import Library

_SIZE_PX = (520, 320)


class FoldersDialog(QDialog):
    """Changes hold at once; a folder is never touched, only looked into."""

    def __init__(self, library: Library, look: FitLook, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("folders_dialog")
        self.setWindowTitle(self.tr("Model folders"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._library, self._look = library, look
        said = label(
            self.tr(
                "Models of LM Studio, Jan, Ollama and the Hugging Face cache are found by themselves. Add other folders"
                " that hold .gguf files: they are only read."
            ),
            look="muted",
            name="folders_words",
        )
        said.setWordWrap(True)
        said.setMinimumWidth(1)
        self.list = QListWidget()
        self.list.setObjectName("folders_list")
        self.list.setAccessibleName(self.tr("Folders that were added"))
        self.list.setProperty("look", "rows")
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)  # else nothing is ever elided
        self.nothing = label(self.tr("No folder has been added."), look="muted", name="folders_nothing")
        self.add = text_button(self.tr("Add a folder…"), "folders_add_button")
        self.remove = text_button(self.tr("Remove from the list"), "folders_remove_button")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self.add)
        row.addWidget(self.remove)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setSpacing(theme.SPACE_M)
        for part in (said, self.nothing, self.list):
            column.addWidget(part, 1 if part is self.list else 0)
        column.addLayout(row)
        column.addWidget(buttons)
        self.resize(*map(theme.scaled, _SIZE_PX))
        buttons.rejected.connect(self.reject)
        self.add.clicked.connect(lambda _checked=False: self._choose())
        self.remove.clicked.connect(lambda _checked=False: self._remove())
        self.list.itemSelectionChanged.connect(self._show_buttons)
        disconnect = library.changed.connect(self._show)
        self.finished.connect(lambda _result: disconnect())
        self._show()

    def _show(self) -> None:
        chosen = self._selected()
        self.list.clear()
        for folder in self._library.folders:
            remark, reason = self._remark(folder)
            item = QListWidgetItem(f"{folder} · {remark}" if remark else folder)
            item.setData(Qt.ItemDataRole.UserRole, folder)
            item.setToolTip(hint_of(f"{folder}\n{reason}" if reason else folder))
            self.list.addItem(item)
            if folder == chosen:
                self.list.setCurrentItem(item)
        self.nothing.setVisible(not self._library.folders)
        self._show_buttons()

    def _remark(self, folder: str) -> tuple[str, str]:
        """Return in a word how it stands with a folder, and what that means; nothing where models were found."""
        match self._library.state_of(folder):
            case "missing":
                reason = self.tr(
                    "It is not there at the moment. If it lies on a drive that is away, its models come back with it;"
                    " your notes and favourites stay."
                )
                return self.tr("not here now"), reason
            case "closed":
                return self.tr("may not be read"), self.tr("Your user may not look into it: change its permissions.")
            case "there" if self._library.is_empty(folder):
                return self.tr("no model in it"), ""
            case _:
                return "", ""

    def _show_buttons(self) -> None:
        self.remove.setEnabled(bool(self._selected()))

    def _selected(self) -> str:
        items = self.list.selectedItems()
        return str(items[0].data(Qt.ItemDataRole.UserRole)) if items else ""

    def _remove(self) -> None:
        folder = self._selected()
        if folder:
            self._library.remove_folder(folder)

    def _choose(self) -> None:
        dialog = QFileDialog(self, self.tr("Add a folder"))
        dialog.setObjectName("folders_chooser")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, self._look.icons)
        dialog.fileSelected.connect(self._library.add_folder)
        dialog.open()
