"""How far an export or an import of conversations is, with a button that stops it; of an import then what came of it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QProgressBar,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.gui import theme
from app.gui.history.model import Index
from app.gui.widgets.chat_words import one_line
from app.gui.widgets.labels import in_parts, label, wrapped
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import render
from app.services.exporting import ChatExport
from app.services.importing import ChatImport
from app.services.units import count

WIDTH_PX, LIST_PX = 560, 240
PADDING_PX = 10
"""Left and right of a row, as the style sheet has it."""


class _MovingDialog(TallDialog):
    """A title, a sentence, a bar, and a button that stops or closes."""

    def __init__(self, title: str, name: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self.said = wrapped(label(name=f"{name}_said"))
        self.bar = QProgressBar()
        self.bar.setAccessibleName(title)
        self.bar.setTextVisible(False)
        self.button = QPushButton(self.tr("Stop"))
        self.button.setObjectName(f"{name}_button")
        self.button.clicked.connect(self.close)
        contents = QWidget()
        self.column = QVBoxLayout(contents)
        self.column.setSpacing(theme.SPACE_S)
        self.column.addWidget(label(title, pixels=theme.HEADING_PX, bold=True))
        self.column.addWidget(self.said)
        self.column.addWidget(self.bar)
        self.column.addStretch(1)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.button)
        self.hold(contents, row)


class _Wrapped(QStyledItemDelegate):
    """Breaks lines within the padding of the style sheet, of which Qt knows nothing when it counts them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of all lines."""
        narrow = QStyleOptionViewItem(option)
        narrow.rect = option.rect.adjusted(0, 0, -2 * PADDING_PX, 0)
        return super().sizeHint(narrow, index)


class ExportDialog(_MovingDialog):
    """Closes by itself once the file is written, or could not be."""

    def __init__(self, exporting: ChatExport, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Export conversations"), "export_chats_dialog", parent)
        self._exporting = exporting
        self._disconnect = exporting.changed.connect(self._show)
        self._show()

    def done(self, result: int) -> None:
        """Listen no longer, and write no more."""
        self._disconnect()
        self._exporting.cancel()
        super().done(result)

    def _show(self) -> None:
        exporting = self._exporting
        if not exporting.is_busy:
            self.close()
            return
        done, total = count(exporting.done), count(exporting.total)
        self.said.setText(self.tr("{done} of {total} conversations are written").format(done=done, total=total))
        self.bar.setRange(0, exporting.total)
        self.bar.setValue(exporting.done)


class ImportDialog(_MovingDialog):
    """Stays until people have read what came of it."""

    def __init__(self, importing: ChatImport, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Import conversations"), "import_chats_dialog", parent)
        self._importing = importing
        self._list = QListWidget()
        self._list.setObjectName("import_unread_list")
        self._list.setAccessibleName(self.tr("What could not be read"))
        self._list.setProperty("look", "rows")
        self._list.setWordWrap(True)
        self._list.setResizeMode(QListWidget.ResizeMode.Adjust)
        self._list.setItemDelegate(_Wrapped(self._list))
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setFixedHeight(theme.scaled(LIST_PX))
        self._title = label(self.tr("What could not be read"), bold=True)
        for widget in (self._title, self._list):
            widget.hide()
            self.column.insertWidget(self.column.count() - 1, widget)
        self.bar.setRange(0, 0)
        self._disconnect = importing.changed.connect(self._show)
        self._show()

    def done(self, result: int) -> None:
        """Listen no longer, and read no more."""
        self._disconnect()
        self._importing.cancel()
        super().done(result)

    def _show(self) -> None:
        importing, report = self._importing, self._importing.report
        if importing.is_busy:
            said = self.tr("“{file}” is being read; so far {count} are imported")
            name = importing.file.name if importing.file is not None else ""
            self.said.setText(said.format(file=one_line(name), count=count(report.imported)))
            return
        imported = self.tr("1 conversation was imported")
        if report.imported != 1:
            imported = self.tr("{count} conversations were imported").format(count=count(report.imported))
        here = self.tr("1 is here already")
        if report.already_here != 1:
            here = self.tr("{count} are here already").format(count=count(report.already_here))
        self.said.setText(in_parts((imported, here) if report.already_here else (imported,)))
        self.bar.hide()
        self.button.setText(self.tr("Close"))
        if report.unread and not self._list.count():
            self._list_unread()

    def _list_unread(self) -> None:
        for path, each in self._importing.report.unread:
            where = " · ".join(part for part in (one_line(path.name), each.place) if part)
            what = self.tr("“{title}”: {reason}").format(title=one_line(each.title), reason=render(each.reason))
            self._list.addItem(f"{what if each.title else render(each.reason)}\n{where}")
        self._list.setCurrentRow(0)
        self._title.show()
        self._list.show()
        self._list.setFocus()
