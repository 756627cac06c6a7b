"""What people say of a model: a name of their own, a note, and whether it is a favourite; kept as they write."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QFormLayout, QLabel, QSizePolicy, QWidget

from app.core.model import FoundModel
from app.core.model_note import ModelNote
from app.core.preset_names import LONGEST_NAME
from app.gui import theme
from app.gui.chat.text_editor import TextEditor
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import set_hint
from app.services.model_notes import ModelNotes, kept_name, kept_note
from app.services.units import count

KEPT_MS = 1_000
"""So long after the first key that is not kept yet it is kept, whether more keys follow or not."""
_NOTE_LINES = 3


class OwnWords(QWidget):
    """Belongs to one model at a time; `star` is for whoever shows its name, `copies` for below this."""

    touched = Signal()
    """Somebody says something of the model that is shown: it stays chosen, wherever the list puts it."""

    def __init__(self, notes: ModelNotes, icons: Icons) -> None:
        super().__init__()
        self.setObjectName("library_own")
        self._notes = notes
        self._identity: str | None = None
        self._path = ""
        self._is_dirty = False
        """Whether somebody wrote since it was kept."""
        self._is_put = False
        """Whether words are being put there, which nobody writes."""
        self.star = IconButton(icons, "star", "", object_name="library_star_button")
        self.star.setCheckable(True)
        self.captions: list[QLabel] = []
        self.name = ClearLine()
        self.name.setObjectName("library_name_line")
        self.name.setProperty("look", "field")
        self.name.setMaxLength(LONGEST_NAME)
        self.name.setAccessibleName(self.tr("Your name for it"))
        self.note = TextEditor("library_note")
        self.note.setAccessibleName(self.tr("Your note"))
        self.note.setFont(theme.font(theme.BASE_PX))
        self.note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.copies = wrapped(label(look="muted", pixels=theme.SMALL_PX, name="library_copies"))
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(KEPT_MS)
        self._due.timeout.connect(self.keep)
        self._lay_out()
        self.star.clicked.connect(self._star)
        self.name.textEdited.connect(lambda _text: self._write())
        self.name.clear_button.clicked.connect(lambda _checked=False: self._write())
        self.name.editingFinished.connect(self.keep)
        self.note.used.connect(self.keep)
        self.note.left.connect(self.keep)
        self.note.textChanged.connect(self._write)

    def show_model(self, model: FoundModel | None, copies: int = 0) -> None:
        """Show what is said of a model, which has so many copies; what is being written of it stays."""
        identity = model.identity if model is not None else ""
        is_same_file = model is not None and model.path == self._path
        if model is not None and is_same_file and not model.is_read:
            identity = self._identity or ""  # its file is looked at anew: who writes goes on
        is_other = identity != self._identity
        note = self._notes.of(identity)
        if is_other:
            is_written = self._is_dirty or self.name.hasFocus() or self.note.hasFocus()
            self.keep()
            # a file that is another one meanwhile is told the same, unless something is said of that already
            self._is_dirty = is_same_file and is_written and bool(identity) and note == ModelNote(identity)
            if self._is_dirty:
                self._due.start()
        self._identity, self._path = identity, model.path if model is not None else ""
        if not self._is_dirty:
            self._put(note.name, note.note, is_other=is_other)
        self.name.setPlaceholderText((model.name_before or model.name) if model is not None else "")
        self.copies.setText(self._of_copies(copies) if identity and copies else "")
        self.copies.setVisible(bool(self.copies.text()))
        reason = "" if identity else self._reason(model)
        for part, words in (
            (self.name, self.tr("Shown wherever models are chosen; its file keeps its name. Empty is the file's.")),
            (self.note, self.tr("Only here: no file is changed. The search finds it.")),
        ):
            part.setEnabled(not reason)
            set_hint(part, reason or words)
        self.note.setPlaceholderText(reason or self.tr("What you want to remember of it"))
        self.star.setEnabled(not reason)
        self.star.setChecked(note.favourite)
        self.star.set_icon("starred" if note.favourite else "star")
        words = self.tr("A favourite: no longer") if note.favourite else self.tr("Make it a favourite")
        self.star.set_name(reason or words)

    def keep(self) -> None:
        """Have what is written kept now."""
        self._due.stop()
        if not self._is_dirty or not self._identity:
            return
        identity, name, note = self._identity, self.name.text(), self.note.toPlainText()
        self._notes.call(identity, name)
        self._notes.write(identity, note)
        if self._identity == identity:  # the list may show another one for it
            self._is_dirty = False

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody writes any more."""
        super().hideEvent(event)
        self.keep()

    def _put(self, name: str, note: str, *, is_other: bool) -> None:
        """Show other words; those that stand there already keep their cursor, and the space that was typed last."""
        self._is_put = True
        if is_other or kept_name(self.name.text()) != name:
            self.name.setText(name)
        if is_other or kept_note(self.note.toPlainText()) != note:
            self.note.setPlainText(note)
        self._is_put = False

    def _write(self) -> None:
        if self._is_put:
            return
        self._is_dirty = True
        self.touched.emit()
        if not self._due.isActive():
            self._due.start()

    def _star(self) -> None:
        self.touched.emit()
        if self._identity:
            self._notes.star(self._identity, self.star.isChecked())

    def _of_copies(self, copies: int) -> str:
        """Say that what is said here is said of other files as well."""
        if copies == 1:
            return self.tr(
                "The same model is in 1 other place: name, note, favourite and settings are those of both."
            )
        words = self.tr(
            "The same model is in {count} other places: name, note, favourite and settings are those of all."
        )
        return words.format(count=count(copies))

    def _reason(self, model: FoundModel | None) -> str:
        """Return why nothing can be said of a model; empty where something can."""
        if model is None or model.identity:
            return ""
        if not model.is_read:
            return self.tr("The file is being looked at.")
        if model.size and model.parts < model.parts_wanted:
            return self.tr("Once its first file is here, a note can be kept of it.")
        return self.tr("Nothing of this file can be read, so it could not be told from others again.")

    def _lay_out(self) -> None:
        line = self.note.fontMetrics().lineSpacing()
        self.note.setFixedHeight(_NOTE_LINES * line + 2 * theme.scaled(theme.SPACE_M))
        form = QFormLayout(self)
        form.setContentsMargins(0, 0, 0, 0)
        form.setHorizontalSpacing(theme.SPACE_L)
        form.setVerticalSpacing(theme.SPACE_S)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for words, field in ((self.tr("Your name for it"), self.name), (self.tr("Your note"), self.note)):
            caption = label(words, look="muted", name="library_own_caption")
            caption.setBuddy(field)
            self.captions.append(caption)
            form.addRow(caption, field)
