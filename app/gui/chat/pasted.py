"""Files and long pasted texts above the draft, each as one row that can be looked at and removed.

They are part of the message and never laid out in the text field, which would freeze over them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from app.core.attached_files import AttachedFile, file_of
from app.gui import theme
from app.gui.chat.row_area import RowArea
from app.gui.icons import Icons
from app.gui.widgets.buttons import IconButton
from app.gui.widgets.labels import ElidedLabel, NamedLabel
from app.gui.widgets.words import set_hint
from app.services.units import count

ROW_PX = 38
MOST_ROWS = 3
"""More rows than these scroll."""
PREVIEW_CHARACTERS = 80
NAME_FIRST = 1_000
"""How much more of the room what a row says gets than how its text begins."""


@dataclass(eq=False)
class Pasted:
    """One pasted text, or a file in its frame; two with the same words are still two."""

    text: str
    tokens: int | None = None

    @cached_property
    def file(self) -> AttachedFile | None:
        """The file that it is; None for a text that was pasted."""
        return file_of(self.text)


class PastedRow(QFrame):
    """One pasted text: how long it is, how it begins, and two buttons."""

    show_wanted = Signal()
    """Somebody wants to read the text."""
    remove_wanted = Signal()
    """Somebody wants the text out of the message."""

    def __init__(self, pasted: Pasted, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pasted = pasted
        self.setObjectName("pasted_text")
        self.setProperty("look", "chip")
        self.setFixedHeight(ROW_PX)
        self._facts = NamedLabel(theme.SMALL_PX)
        self._facts.setObjectName("pasted_facts")
        preview = ElidedLabel(theme.SMALL_PX)
        file = pasted.file
        preview.set_text(" ".join((file.text if file else pasted.text)[:PREVIEW_CHARACTERS].split()))
        read = self.tr("Read the file") if file else self.tr("Read the pasted text")
        away = self.tr("Remove the file") if file else self.tr("Remove the pasted text")
        show = IconButton(icons, "open", read, object_name="show_pasted_button")
        remove = IconButton(icons, "close", away, object_name="remove_pasted_button")
        show.clicked.connect(self.show_wanted)
        remove.clicked.connect(self.remove_wanted)
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_XS, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(self._facts, NAME_FIRST)
        row.addWidget(preview, 1)
        row.addWidget(show)
        row.addWidget(remove)
        self.show_tokens(pasted.tokens)

    def show_tokens(self, tokens: int | None) -> None:
        """Show how many tokens the text has; None is not known yet."""
        self.pasted.tokens = tokens
        file, told = self.pasted.file, self.tr("Pasted text · {characters} characters · {tokens} tokens")
        if file is not None:
            told = self.tr("{name} · {characters} characters · {tokens} tokens")
        length = len(file.text if file else self.pasted.text)
        words = told.format(name="{name}", characters=count(length), tokens=count(tokens))
        self._facts.show_named(words, file.name if file else "")
        set_hint(self._facts, self.tr("No model has counted its tokens yet.") if tokens is None else "")
        self.setAccessibleName(self._facts.text())


class PastedList(RowArea):
    """The pasted texts of a draft, oldest first; not there when there is none."""

    changed = Signal()
    """A text came or went."""
    show_wanted = Signal(Pasted)
    """Somebody wants to read this text."""

    def __init__(self, icons: Icons, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = icons
        self._rows: list[PastedRow] = []
        self._fit()

    @property
    def all(self) -> tuple[Pasted, ...]:
        """The texts, oldest first."""
        return tuple(row.pasted for row in self._rows)

    def add(self, pasted: Pasted) -> None:
        """Add a text at the end."""
        row = PastedRow(pasted, self._icons)
        row.show_wanted.connect(lambda: self.show_wanted.emit(pasted))
        row.remove_wanted.connect(lambda: self.remove(pasted))
        self._rows.append(row)
        self.column.addWidget(row)
        row.show()
        self._fit()
        self.changed.emit()

    def remove(self, pasted: Pasted) -> None:
        """Take a text out, if it is there."""
        row = next((row for row in self._rows if row.pasted is pasted), None)
        if row is not None:
            self._rows.remove(row)
            self.drop(row)
            self._fit()
            self.changed.emit()

    def use(self, texts: tuple[Pasted, ...]) -> None:
        """Show these texts and no others."""
        for pasted in self.all:
            self.remove(pasted)
        for pasted in texts:
            self.add(pasted)

    def show_tokens(self, tokens: tuple[int | None, ...]) -> None:
        """Show how many tokens each text has."""
        for row, value in zip(self._rows, tokens, strict=False):
            row.show_tokens(value)

    def _fit(self) -> None:
        self.fit(min(len(self._rows), MOST_ROWS), ROW_PX)
