"""Saves a comparison for others: its figures as a table, everything as JSON, a picture, or a page to hand out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHideEvent, QImage, QImageWriter, QPaintEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from app.gui import theme
from app.gui.chat.printing import file_stem
from app.gui.compare.picture_steps import Done
from app.gui.compare.report import report
from app.gui.icons import Icons
from app.gui.widgets.buttons import PointedButton
from app.gui.widgets.documents_folder import documents_folder
from app.gui.widgets.file_chooser import dress
from app.gui.widgets.menu_arrow import paint_arrow
from app.gui.widgets.words import set_hint
from app.services.comparison_export import comparison_json, lanes_csv
from app.services.file_export import FileExport
from app.services.lane_analysis import Analysis
from app.services.lanes_run import LanesRun, still_run

Picture = Callable[[Done], None]


class ExportButton(PointedButton):
    """A menu with the kinds of files; it asks where each goes."""

    def __init__(self, themes: theme.Themes, icons: Icons, picture: Picture, files: FileExport) -> None:
        """`picture` hands on what is shown now, a moment later, or None; `files` writes a file beside the window."""
        super().__init__()
        self._themes = themes
        self._icons = icons
        self._picture = picture
        self._files = files
        self.is_drawing = False
        """Whether a picture is being made, which is written then."""
        self._run: LanesRun | None = None
        self._analysis: Analysis | None = None
        self.setObjectName("compare_export_button")
        self.setProperty("look", "outlined")
        self.setProperty("menu", "arrow")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_hint(self, self.tr("Save the comparison as a table, as data, as a picture, or as a page to hand out"))
        menu = QMenu(self)
        menu.setObjectName("compare_export_menu")
        entries = (
            ("csv", self.tr("Table of the figures (CSV)…")),
            ("json", self.tr("Everything as data (JSON)…")),
            ("png", self.tr("Picture of what is shown (PNG)…")),
            ("html", self.tr("Page to hand out (HTML)…")),
        )
        for kind, words in entries:
            action = menu.addAction(words)
            action.setObjectName(f"export_{kind}_action")
            action.triggered.connect(lambda _checked=False, kind=kind: self.choose(kind))
        self.setMenu(menu)
        self.setText(self.tr("Export"))
        self._show_state()
        self._disconnect = files.changed.connect(self._show_state)

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def sizeHint(self) -> QSize:
        """Ask for the room of the longer word: nothing moves while a file is written."""
        size, metrics = super().sizeHint(), QFontMetrics(self.font())
        missing = metrics.horizontalAdvance(self.tr("Exporting…")) - metrics.horizontalAdvance(self.text())
        return QSize(size.width() + max(missing, 0), size.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the arrow that says that a menu opens."""
        super().paintEvent(event)
        paint_arrow(self)

    @property
    def saved_words(self) -> str:
        """Where the last file of this comparison was saved, in words."""
        saved = self._files.saved
        return "" if saved is None else self.tr("Saved as {path}").format(path=str(saved))

    def look_away(self) -> None:
        """Something else is shown than what was saved."""
        self._files.look_away()

    def hideEvent(self, event: QHideEvent) -> None:
        """Another page is shown."""
        super().hideEvent(event)
        if not event.spontaneous():
            self.look_away()

    def show_analysis(self, run: LanesRun | None, analysis: Analysis | None) -> None:
        """Know what there is to be saved."""
        self._run, self._analysis = run, analysis
        self._show_state()

    def choose(self, kind: str) -> None:
        """Ask where a file of a kind goes, and save it there."""
        run = self._run
        if run is None or self._analysis is None:
            return
        filters = {
            "csv": self.tr("Tables (*.csv)"),
            "json": self.tr("Data (*.json)"),
            "png": self.tr("Pictures (*.png)"),
            "html": self.tr("Pages (*.html)"),
        }
        folder = str(documents_folder())
        dialog = QFileDialog(self.window(), self.tr("Export the comparison"), folder)
        dialog.setObjectName("compare_export_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([filters[kind]])
        dialog.setDefaultSuffix(kind)
        name = self.tr("{title} – comparison").format(title=run.conversation.head.title)
        dialog.selectFile(f"{file_stem(name)}.{kind}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, self._icons)
        dialog.fileSelected.connect(lambda path: self.save(kind, Path(path)))
        dialog.open()

    def save(self, kind: str, path: Path) -> None:
        """Have a file made and written as everything is now; people are told how it ended."""
        run, analysis = self._run, self._analysis
        if run is None or analysis is None:
            return
        still, looks = still_run(run), (self._themes.paper, self._themes.night)

        def write(picture: QImage | None) -> None:
            self.is_drawing = False
            if picture is None:
                self._files.tell_broken(path)
            else:
                self._files.save(path, lambda: _content(kind, still, analysis, looks, picture))
            self._show_state()

        if kind != "png":
            write(QImage())
            return
        self.is_drawing = True
        self._show_state()
        self._picture(write)

    def _show_state(self) -> None:
        is_busy = self._files.is_busy or self.is_drawing
        self.setText(self.tr("Exporting…") if is_busy else self.tr("Export"))
        self.setEnabled(self._run is not None and self._analysis is not None)
        for action in self.menu().actions():
            action.setEnabled(not is_busy)  # the button keeps the keyboard


def _content(
    kind: str, run: LanesRun, analysis: Analysis, looks: tuple[theme.Theme, theme.Theme], picture: QImage
) -> bytes:
    match kind:
        case "csv":
            return lanes_csv(run, analysis)
        case "json":
            return comparison_json(run, analysis)
        case "png":
            return _png(picture)
        case _:
            return report(run, analysis, *looks)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(image)
    return bytes(buffer.data().data())
