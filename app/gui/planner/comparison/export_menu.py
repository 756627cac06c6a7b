"""Saves the comparison for others: as a table for spreadsheets, a table for texts, or a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, Qt
from PySide6.QtGui import QImage, QImageWriter, QPaintEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from app.gui.icons import Icons
from app.gui.widgets.buttons import PointedButton
from app.gui.widgets.documents_folder import documents_folder
from app.gui.widgets.file_chooser import dress
from app.gui.widgets.menu_arrow import paint_arrow
from app.gui.widgets.words import set_hint
from app.services.file_export import FileExport
from app.services.plan_export import plan_csv, plan_markdown
from app.services.plan_rows import Worked
from app.services.plan_values import ComparedRow


class PlanExport(PointedButton):
    """A menu with the kinds of files; it asks where each goes."""

    def __init__(self, icons: Icons, files: FileExport, picture: Callable[[], Callable[[], QImage]]) -> None:
        """`picture` returns what paints what is shown now, beside the window."""
        super().__init__()
        self._icons = icons
        self._files = files
        self._picture = picture
        self._worked: Worked | None = None
        self.rows: Callable[[], Sequence[ComparedRow]] = tuple
        """The rows as they are sorted now."""
        self.setObjectName("plan_export_button")
        self.setProperty("look", "outlined")
        self.setProperty("menu", "arrow")
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setText(self.tr("Export"))
        set_hint(self, self.tr("Save the comparison as a table or as a picture"))
        menu = QMenu(self)
        menu.setObjectName("plan_export_menu")
        for kind, words in (
            ("csv", self.tr("Table for spreadsheets (CSV)…")),
            ("md", self.tr("Table for texts (Markdown)…")),
            ("png", self.tr("Picture (PNG)…")),
        ):
            action = menu.addAction(words)
            action.setObjectName(f"plan_export_{kind}_action")
            action.triggered.connect(lambda _checked=False, kind=kind: self.choose(kind))
        self.setMenu(menu)
        self._disconnect = files.changed.connect(self._show_state)
        self._show_state()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        self._disconnect()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the arrow that says that a menu opens."""
        super().paintEvent(event)
        paint_arrow(self)

    def show_worked(self, worked: Worked | None) -> None:
        """Know what there is to be saved."""
        self._worked = worked
        self._show_state()

    def choose(self, kind: str) -> None:
        """Ask where a file of a kind goes, and save it there."""
        filters = {
            "csv": self.tr("Tables (*.csv)"),
            "md": self.tr("Texts (*.md)"),
            "png": self.tr("Pictures (*.png)"),
        }
        folder = str(documents_folder())
        dialog = QFileDialog(self.window(), self.tr("Export the comparison"), folder)
        dialog.setObjectName("plan_export_dialog")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([filters[kind]])
        dialog.setDefaultSuffix(kind)
        name = self.tr("Models and GPUs")
        dialog.selectFile(f"{name}.{kind}")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dress(dialog, self._icons)
        dialog.fileSelected.connect(lambda path: self.save(kind, Path(path)))
        dialog.open()

    def save(self, kind: str, path: Path) -> None:
        """Have a file made and written, its rows as they are sorted now."""
        if self._worked is None:
            return
        worked = Worked(self._worked.chosen, tuple(self.rows()), self._worked.left_out)
        picture = self._picture() if kind == "png" else None

        def make() -> bytes:
            if picture is not None:
                return _png(picture())
            return plan_csv(worked) if kind == "csv" else plan_markdown(worked)

        self._files.save(path, make)

    def _show_state(self) -> None:
        self.setEnabled(self._worked is not None and bool(self._worked.rows))
        for action in self.menu().actions():
            action.setEnabled(not self._files.is_busy)


def _png(image: QImage) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, b"png").write(image)
    return bytes(buffer.data().data())
