"""A field for text that tells of files which are pasted into it; those that are dropped on it are the window's."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent
from PySide6.QtWidgets import QPlainTextEdit

from app.gui.chat.given_files import files_in, is_picture


class FileField(QPlainTextEdit):
    """Takes files while `takes_files`, and else text alone."""

    files_pasted = Signal(list)
    """Files were pasted: their paths."""
    picture_pasted = Signal()
    """A picture was pasted, which is no file and no text."""
    takes_files = False

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Take files as well where they are pasted."""
        if self.takes_files and is_picture(source):
            return True  # so that it is said why nothing comes of it
        if not source.hasUrls():
            return super().canInsertFromMimeData(source)
        return self.takes_files and bool(files_in(source))

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert text, and tell of files."""
        if self.takes_files and is_picture(source):
            self.picture_pasted.emit()
        elif not source.hasUrls():
            super().insertFromMimeData(source)
        elif self.takes_files and (files := files_in(source)):
            self.files_pasted.emit(files)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Leave files to the window, which shows that it takes them."""
        if event.mimeData().hasUrls():
            event.ignore()
        else:
            super().dragEnterEvent(event)
