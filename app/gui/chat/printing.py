"""Prints the conversation that is shown, or saves it as PDF: asks where, shows how far it is, and says how it ended.

The pages are drawn bit by bit while the window is used; the file is written in the background, and takes the place of
an older one only when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QBuffer,
    QCoreApplication,
    QIODevice,
    QLibraryInfo,
    QMarginsF,
    QObject,
    Qt,
    QTimer,
)
from PySide6.QtGui import QPagedPaintDevice, QPageLayout, QPageSize, QPdfWriter
from PySide6.QtWidgets import QDialog, QFileDialog, QProgressDialog, QWidget

from app.core.file_name import fitting_stem
from app.core.words import Sentence, translate
from app.gui.chat.page_job import PageJob
from app.gui.chat.pages import Pages
from app.gui.formulas.shelf import Formulas
from app.gui.icons import Icons
from app.gui.markdown.colouring import Lexers
from app.gui.theme import Themes
from app.gui.widgets.documents_folder import documents_folder
from app.gui.widgets.file_chooser import dress, dress_printing
from app.services.notices import Notice
from app.services.turns import Turn
from app.system.qt_probe import missing_to_print
from app.system.whole_file import replace_whole

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

MARGIN_MM = 20.0
RESOLUTION = 1200
PATIENCE_MS = 400
"""What is done sooner shows no progress."""
LOOK_MS = 30
"""So often it is looked whether the file is written."""
Submit = Callable[[str, Callable[[], None]], None]
"""Runs something in the background; the name is for the log."""
Tell = Callable[[Notice], None]
_DELETE = Qt.WidgetAttribute.WA_DeleteOnClose
qt_translate = QCoreApplication.translate


class Printing(QObject):
    """Prints and saves; one conversation at a time."""

    def __init__(self, window: QWidget, themes: Themes, icons: Icons, submit: Submit, tell: Tell) -> None:
        super().__init__(window)
        self._window = window
        self._themes = themes
        self._icons = icons
        self._submit = submit
        self._tell = tell
        self._job: PageJob | None = None
        self._progress: QProgressDialog | None = None
        self._buffer: QBuffer | None = None
        self._device: QPagedPaintDevice | None = None
        self._outcome: list[OSError | None] = []
        """What became of the file, once it is known; a thread in the background puts it there."""
        self._look = QTimer(self)
        self._look.setInterval(LOOK_MS)
        self._path = Path()
        self._printed_to = ""
        """The file of a printer that writes one."""
        self._look.timeout.connect(self._look_at_outcome)

    @property
    def is_busy(self) -> bool:
        """Whether pages are being drawn or a file is being written."""
        return self._job is not None or self._look.isActive()

    def choose_pdf(self, title: str, turns: Sequence[Turn]) -> None:
        """Ask where the PDF goes, and save it there."""
        if not turns or self._comes_forward():
            return
        folder = str(documents_folder())
        dialog = QFileDialog(self._window, qt_translate("Printing", "Save as PDF"), folder)
        dialog.setObjectName("pdf_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([qt_translate("Printing", "PDF (*.pdf)")])
        dialog.setDefaultSuffix("pdf")
        dialog.selectFile(file_name(title))
        dialog.setAttribute(_DELETE)
        dress(dialog, self._icons)
        dialog.fileSelected.connect(lambda path: self.save_pdf(Path(path), title, turns))
        dialog.open()

    def save_pdf(self, path: Path, title: str, turns: Sequence[Turn]) -> None:
        """Save turns as a PDF; people are told how it ended."""
        if self._comes_forward():
            return
        self._path = path
        self._buffer = QBuffer(self)
        self._buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(self._buffer)
        writer.setResolution(RESOLUTION)
        writer.setTitle(title)
        writer.setCreator("Tokenlight")
        writer.setPageLayout(page_layout())
        self._draw(writer, RESOLUTION, title, turns, qt_translate("Printing", "Saving as PDF …"))

    def choose_printer(self, title: str, turns: Sequence[Turn]) -> None:
        """Ask for a printer, and print there; where none can be reached people are told why."""
        if not turns or self._comes_forward():
            return
        missing = missing_to_print(Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)))
        if missing:
            self._tell(Notice(_unreachable(missing)))
            return
        # Looking for printers is left to the first time that somebody wants one.
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # noqa: PLC0415

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageLayout(page_layout())
        printer.setDocName(file_stem(title))  # what a printer that writes files proposes as the name of one
        dialog = QPrintDialog(printer, self._window)
        dialog.setObjectName("print_dialog")
        dialog.setAttribute(_DELETE)
        dress_printing(dialog, self._icons)
        dialog.accepted.connect(lambda: self.print_on(printer, title, turns))
        QDialog.open(dialog)

    def print_on(self, printer: QPrinter, title: str, turns: Sequence[Turn]) -> None:
        """Print turns."""
        if not self._comes_forward():
            self._printed_to = printer.outputFileName()
            self._draw(printer, printer.resolution(), title, turns, qt_translate("Printing", "Printing …"))

    def cancel(self) -> None:
        """Stop drawing pages; a file that is there stays as it is."""
        if self._job is not None:
            self._job.cancel()
            self._end_job()

    def _comes_forward(self) -> bool:
        """Show how far an earlier one is, where it is not over yet."""
        if self._progress is not None:
            self._progress.show()
            self._progress.raise_()
        return self.is_busy

    def _draw(
        self, device: QPagedPaintDevice, resolution: int, title: str, turns: Sequence[Turn], doing: str
    ) -> None:
        lexers, formulas = Lexers(self._run("colours of code")), Formulas(self._run("formulas"))
        pages = Pages(device, self._themes.paper, lexers, formulas, resolution)
        kept = [copy(turn) for turn in turns if turn.text]  # an answer may go on while it is drawn
        self._device = device
        self._job = PageJob(pages, pages.draw(title, kept), self)
        self._progress = self._shown_progress(doing, len(kept))
        self._job.progressed.connect(self._progress.setValue)
        self._job.finished.connect(self._take_pages)

    def _run(self, name: str) -> Callable[[Callable[[], None]], None]:
        return lambda work: self._submit(name, work)

    def _shown_progress(self, doing: str, turns: int) -> QProgressDialog:
        progress = QProgressDialog(doing, qt_translate("Printing", "Cancel"), 0, turns, self._window)
        progress.setObjectName("print_progress")
        progress.setAccessibleName(doing)
        progress.setWindowTitle("Tokenlight")
        progress.setMinimumDuration(PATIENCE_MS)
        progress.setAutoReset(False)
        progress.setAutoClose(False)
        progress.canceled.connect(self.cancel)
        progress.setValue(0)
        return progress

    def _take_pages(self, are_all: bool) -> None:
        buffer = self._buffer
        self._end_job()
        if buffer is not None and are_all:
            content = bytes(buffer.data().data())
            self._look.start()
            self._submit("PDF", lambda: self._write(self._path, content))
        elif not are_all:
            self._tell(
                Notice(translate("Printing", "The printer did not take all pages: look at it, then print again."))
            )
        elif self._printed_to:
            self._tell_saved(self._printed_to)
        else:
            self._tell(Notice(translate("Printing", "The printer has all pages."), level="hint", brief=True))

    def _write(self, path: Path, content: bytes) -> None:
        try:
            replace_whole(path, content)
        except OSError as error:
            self._outcome.append(error)
        else:
            self._outcome.append(None)

    def _look_at_outcome(self) -> None:
        if not self._outcome:
            return
        self._look.stop()
        error = self._outcome.pop()
        if error is None:
            self._tell_saved(str(self._path))
        else:
            self._tell(Notice(_failed(self._path, error)))

    def _tell_saved(self, path: str) -> None:
        self._tell(Notice(translate("Printing", "Saved as {path}", path=path), level="hint", brief=True))

    def _end_job(self) -> None:
        if self._job is not None:
            self._job.deleteLater()
        if self._progress is not None:
            self._progress.canceled.disconnect(self.cancel)
            self._progress.close()
            self._progress.deleteLater()
        self._job = self._progress = self._buffer = self._device = None


def file_stem(title: str) -> str:
    """Return a name for the file of a conversation that every system takes, without its ending."""
    return fitting_stem(title) or qt_translate("Printing", "Chat")


def file_name(title: str) -> str:
    """Return a name for the PDF of a conversation."""
    return f"{file_stem(title)}.pdf"


def _failed(path: Path, error: OSError) -> Sentence:
    return translate(
        "Printing",
        "The PDF could not be saved in {folder} ({reason}): choose another folder, or free some space.",
        folder=str(path.parent),
        reason=error.strerror or os.strerror(error.errno or 0),
    )


def _unreachable(missing: Sequence[str]) -> Sentence:
    return translate(
        "Printing",
        "No printer can be reached because system libraries are missing ({libraries}): install them, or save the chat as"
        " PDF.",
        libraries=", ".join(missing),
    )


def page_layout() -> QPageLayout:
    """Return the paper and the margins that people have not chosen otherwise."""
    margins = QMarginsF(MARGIN_MM, MARGIN_MM, MARGIN_MM, MARGIN_MM)
    page = QPageSize(QPageSize.PageSizeId.A4)
    return QPageLayout(page, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter)
