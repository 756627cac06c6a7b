"""What both dialogs about a model's file have: who uses it, what stands against it, and a button that does it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.words import shown
from app.gui.widgets.buttons import text_button
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.words import render
from app.services.file_uses import Deed
from app.services.library_files import LibraryFiles
from app.services.units import byte_size

WIDTH_PX = 520


class FileDialog(TallDialog):
    """Looks at the file when it opens, and closes when the deed is done; what stands against it may end meanwhile."""

    def __init__(self, files: LibraryFiles, model: FoundModel, deed: Deed, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._files, self._model, self._deed = files, model, deed
        self.setObjectName(f"{deed}_model_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self.uses = QVBoxLayout()
        self.uses.setSpacing(theme.SPACE_S)
        self._said: tuple[str, ...] = ()
        self.problem = wrapped(label(look="problem", name="file_problem"))
        self.cancel = text_button(self.tr("Cancel"), "file_cancel_button")
        self.cancel.setAutoDefault(False)
        self.do = text_button("", "file_do_button")
        self.do.setProperty("look", "primary")
        self.cancel.clicked.connect(lambda _checked=False: self.reject())
        self.do.clicked.connect(lambda _checked=False: self.go_on())
        self._disconnect = files.changed.connect(self.show_state)

    def begin(self, title: str, *above: QWidget) -> None:
        """Lay out, with what a dialog has of its own above who uses the file, and look."""
        self.setWindowTitle(title)
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(wrapped(label(title, pixels=theme.HEADING_PX, bold=True, name="file_title")))
        self.place = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="file_place"))
        column.addWidget(self.place)
        for each in above:
            column.addWidget(each)
        column.addLayout(self.uses)
        column.addWidget(self.problem)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(self.cancel)
        row.addWidget(self.do)
        self.hold(contents, row)
        self._files.begin(self._model)
        self.show_state()

    def done(self, result: int) -> None:
        """Listen no longer, and close."""
        self._disconnect()
        self._files.forget()
        super().done(result)

    def go_on(self) -> None:
        """Do it."""

    @property
    def may_go_on(self) -> bool:
        """Whether nothing of the dialog's own stands against it."""
        return True

    def words_of_deed(self, *, is_loaded: bool) -> str:
        """Return what the button says."""
        raise NotImplementedError

    def show_state(self) -> None:
        """Show what is known of the file now."""
        files = self._files
        if files.done_path is not None:
            self.accept()
            return
        size = f"{byte_size(files.size)} · " if files.size else ""
        self.place.setText(f"{size}{shown(self._model.path)}")
        said = tuple(render(each) for each in files.uses(self._deed)) if files.hindrance is None else ()
        if not files.is_ready and not files.is_busy:
            said = (self.tr("Looking who uses it …"),)
        self._show_uses(said)
        problem = files.hindrance or files.problem
        self.problem.setText(render(problem) if problem is not None and not files.is_busy else "")
        self.problem.setVisible(bool(self.problem.text()))
        words = self.words_of_deed(is_loaded=files.is_loaded)
        self.do.setText(self.tr("One moment …") if files.is_busy else words)
        self.do.setAccessibleName(self.do.text())
        self.do.setEnabled(files.is_ready and files.hindrance is None and self.may_go_on)

    def _show_uses(self, said: tuple[str, ...]) -> None:
        if said == self._said:
            return
        self._said = said
        while (item := self.uses.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        for words in said:
            use = wrapped(label(words, name="file_use"))
            self.uses.addWidget(use)
            use.show()  # Qt would wait a turn with that, and the dialog's height with it
