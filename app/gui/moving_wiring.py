"""Joins what exports and imports conversations to the window: which ones, where to, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QFileDialog

from app.core.conversation import Conversation
from app.core.file_name import fitting_stem
from app.core.words import Sentence, translate
from app.gui.icons import Icons
from app.gui.main_window import MainWindow
from app.gui.widgets.documents_folder import documents_folder
from app.services.notices import Notice
from app.services.program import Program

if TYPE_CHECKING:
    from app.services.exporting import ChatWriter

qt_translate = QCoreApplication.translate
_ENDINGS = ("json", "md", "html")
_MOST_TITLES = 5
"""That one notice names."""


class MovingWiring:
    """Listens to the services until it is closed."""

    def __init__(self, program: Program, window: MainWindow) -> None:
        self._program = program
        self._window = window
        self._folder = documents_folder()
        self._was_busy = False
        for name, slot in {
            "export_chat_action": self._export_shown,
            "export_all_action": self._export_all,
            "import_chats_action": self._choose_import,
        }.items():
            window.actions_by_name[name].triggered.connect(lambda _checked=False, slot=slot: slot())
        window.parts.history.export_wanted.connect(self._export_of)
        self._disconnect = [
            program.conversations.changed.connect(self._show),
            program.chat.opened.connect(self._show),
            program.chat_export.changed.connect(self._tell),
        ]
        self._show()

    def close(self) -> None:
        """Listen to the services no longer, and leave no half of a file."""
        for disconnect in self._disconnect:
            disconnect()
        self._program.chat_export.cancel()
        self._program.chat_import.cancel()

    def _show(self) -> None:
        heads, shown = self._program.conversations.heads, self._program.conversations.open_id
        self._window.actions_by_name["export_chat_action"].setEnabled(any(head.id == shown for head in heads))
        self._window.actions_by_name["export_all_action"].setEnabled(bool(heads))

    def _export_shown(self) -> None:
        shown = self._program.conversations.open_id
        heads = [head for head in self._program.conversations.heads if head.id == shown]
        if heads:
            self._export_of(heads[0].id)

    def _export_of(self, row: int | str) -> None:
        """Export a conversation, or those of a folder, under the name that it has."""
        heads = self._program.conversations.heads
        if isinstance(row, str):
            self._choose_export(row, [head for head in heads if head.folder == row])
        else:
            self._choose_export(*next((head.title, [head]) for head in heads if head.id == row))

    def _export_all(self) -> None:
        self._choose_export(qt_translate("Moving", "Conversations"), self._program.conversations.heads)

    def _choose_export(self, name: str, heads: Sequence[Conversation]) -> None:
        from app.gui.widgets.file_chooser import dress  # noqa: PLC0415  loaded when it is first wanted

        filters = (
            qt_translate("Moving", "Everything, to be imported again (*.json)"),
            qt_translate("Moving", "Text of what is shown, Markdown (*.md)"),
            qt_translate("Moving", "Page of what is shown (*.html)"),
        )
        dialog = QFileDialog(self._window, qt_translate("Moving", "Export conversations"), str(self._folder))
        dialog.setObjectName("export_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters(list(filters))
        dialog.setDefaultSuffix(_ENDINGS[0])
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix(_ENDINGS[filters.index(chosen)]))
        dialog.selectFile(fitting_stem(name) or qt_translate("Moving", "Conversations"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, Icons(self._program.resources))
        dialog.fileSelected.connect(lambda path: self.export(Path(path), heads))
        dialog.open()

    def export(self, path: Path, heads: Sequence[Conversation]) -> None:
        """Write conversations into a file whose ending says how."""
        from app.gui.history.moving_dialog import ExportDialog  # noqa: PLC0415  as above

        self._folder = path.parent
        if self._program.chat_export.begin(path, heads, self._writer(path)) and len(heads) > 1:
            ExportDialog(self._program.chat_export, self._window).open()

    def _writer(self, path: Path) -> ChatWriter:
        from app.gui.markdown.page import PageWriter  # noqa: PLC0415  as above
        from app.services.chat_markdown import MarkdownWriter  # noqa: PLC0415
        from app.services.importers.chat_file import ChatLines  # noqa: PLC0415

        match path.suffix.lower():
            case ".md" | ".markdown":
                return MarkdownWriter()
            case ".html" | ".htm":
                return PageWriter(self._program.resources)
            case _:
                return ChatLines()

    def _choose_import(self) -> None:
        from app.gui.widgets.file_chooser import dress  # noqa: PLC0415  as above

        dialog = QFileDialog(self._window, qt_translate("Moving", "Import conversations"), str(self._folder))
        dialog.setObjectName("import_dialog")
        dialog.setNameFilters(
            [
                qt_translate("Moving", "Conversations of Tokenlight, ChatGPT or Open WebUI (*.json *.zip)"),
                qt_translate("Moving", "All files (*)"),
            ]
        )
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, Icons(self._program.resources))
        dialog.filesSelected.connect(lambda paths: self.take_in([Path(path) for path in paths]))
        dialog.open()

    def take_in(self, paths: Sequence[Path]) -> None:
        """Import what is in these files."""
        from app.gui.history.moving_dialog import ImportDialog  # noqa: PLC0415  as above

        self._folder = paths[0].parent
        if self._program.chat_import.begin(paths):
            ImportDialog(self._program.chat_import, self._window).open()

    def _tell(self) -> None:
        exporting, was_busy = self._program.chat_export, self._was_busy
        self._was_busy = exporting.is_busy
        if exporting.is_busy or not was_busy:
            return
        if exporting.problem is not None:
            self._program.notices.post(Notice(exporting.problem))
        elif exporting.saved is not None and exporting.unread:
            self._program.notices.post(Notice(_partly_read(exporting.unread)))
        elif exporting.saved is not None:
            said = translate("FileExport", "Saved as {path}", path=str(exporting.saved))
            self._program.notices.post(Notice(said, level="hint", brief=True))


def _partly_read(titles: Sequence[str]) -> Sentence:
    """Return what people are told of conversations of which the store could not read a part."""
    if len(titles) == 1:
        return translate("Moving", "A part of “{title}” could not be read; the rest of it is saved.", title=titles[0])
    named = [f"“{title}”" for title in titles[:_MOST_TITLES]]
    return translate(
        "Moving",
        "Parts of {count} conversations could not be read; the rest of them is saved: {titles}",
        count=len(titles),
        titles=", ".join([*named, "…"] if len(titles) > _MOST_TITLES else named),
    )
