"""Dialogs that never block: each opens, and calls back with what was chosen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QPushButton, QWidget

from app.gui.icons import Icons

translate = QCoreApplication.translate


class Dialogs:
    """Opens dialogs over a window."""

    def __init__(self, window: QWidget) -> None:
        self._window = window

    def choose_model(self, folder: Path, icons: Icons, chosen: Callable[[Path], None], title: str = "") -> None:
        """Let people choose a model file; the icons are for where the system has no chooser."""
        # What it is made of takes milliseconds to load, which the start of the window need not wait for.
        from app.gui.widgets.file_chooser import dress  # noqa: PLC0415

        dialog = QFileDialog(self._window, title or translate("Dialogs", "Open a model"), str(folder))
        dialog.setNameFilters([translate("Dialogs", "Models (*.gguf *.GGUF)"), translate("Dialogs", "All files (*)")])
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, icons)
        dialog.fileSelected.connect(lambda path: chosen(Path(path)))
        dialog.open()

    def choose_files(self, folder: Path, icons: Icons, chosen: Callable[[list[Path]], None]) -> None:
        """Let people choose files to attach; the icons are for where the system has no chooser."""
        from app.gui.widgets.file_chooser import dress  # noqa: PLC0415  as above

        dialog = QFileDialog(self._window, translate("Dialogs", "Attach files"), str(folder))
        dialog.setObjectName("attach_dialog")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, icons)
        dialog.filesSelected.connect(lambda paths: chosen([Path(path) for path in paths]))
        dialog.open()

    def show_details(self, sentence: str, lines: list[str]) -> None:
        """Show the lines of a log that belong to a sentence."""
        box = QMessageBox(self._window)
        box.setWindowTitle(translate("Dialogs", "Details"))
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(sentence)
        box.setDetailedText("\n".join(lines))
        box.setStandardButtons(QMessageBox.StandardButton.Close)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for button in box.buttons():
            if box.buttonRole(button) is QMessageBox.ButtonRole.ActionRole:
                button.click()
        box.open()

    def ask_to_lose(self, question: str, chosen: Callable[[bool], None]) -> QMessageBox:
        """Ask whether to close although something is lost with it; to keep the window open is what Enter and Esc do."""
        box = self._ask("closing_question", translate("Dialogs", "Close Tokenlight"), question)
        stays = box.addButton(translate("Dialogs", "Keep the window open"), QMessageBox.ButtonRole.RejectRole)
        goes = box.addButton(translate("Dialogs", "Close anyway"), QMessageBox.ButtonRole.DestructiveRole)
        stays.setObjectName("keep_open_button")
        goes.setObjectName("close_anyway_button")
        return _open(box, stays, goes, chosen)

    def ask_to_delete(self, question: str, chosen: Callable[[bool], None]) -> QMessageBox:
        """Ask whether to delete what has come of a download; to keep it is what Enter and Esc do."""
        box = self._ask("cancel_question", translate("Dialogs", "Cancel a download"), question)
        stays = box.addButton(translate("Dialogs", "Keep the download"), QMessageBox.ButtonRole.RejectRole)
        goes = box.addButton(translate("Dialogs", "Cancel and delete"), QMessageBox.ButtonRole.DestructiveRole)
        stays.setObjectName("keep_download_button")
        goes.setObjectName("cancel_anyway_button")
        return _open(box, stays, goes, chosen)

    def _ask(self, name: str, title: str, question: str) -> QMessageBox:
        box = QMessageBox(self._window)
        box.setObjectName(name)
        box.setWindowTitle(title)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(question)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return box

    def choose_name(self, names: list[str], place: QPoint, chosen: Callable[[str], None]) -> None:
        """Let people choose one of some names from a menu."""
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for name in names:
            menu.addAction(name.replace("&", "&&")).triggered.connect(lambda _checked=False, name=name: chosen(name))
        menu.popup(place)


def _open(box: QMessageBox, stays: QPushButton, goes: QPushButton, chosen: Callable[[bool], None]) -> QMessageBox:
    box.setDefaultButton(stays)
    box.setEscapeButton(stays)
    box.finished.connect(lambda _result: chosen(box.clickedButton() is goes))
    box.open()
    return box
