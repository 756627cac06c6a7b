"""The headline of a file that is looked at, or of two: its name, what it is, and what can be done."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.core.gguf_view import GgufView
from app.gui import theme
from app.gui.widgets.buttons import text_button
from app.gui.widgets.labels import in_parts, label, wrapped
from app.gui.widgets.words import render, set_hint
from app.services.model_viewing import ViewedFiles
from app.services.units import byte_size, parameter_count
from app.services.viewing_words import one_line, parts_words
from app.system.model_files import readable

translate = QCoreApplication.translate


class FileHead(QWidget):
    """Says the path below, because names alone tell no files apart."""

    open_wanted = Signal()
    """Somebody wants to look at another file."""
    compare_wanted = Signal()
    """Somebody wants to choose a second one."""
    alone_wanted = Signal()
    """Somebody wants to see the first alone again."""

    def __init__(self) -> None:
        super().__init__()
        self.titles = [wrapped(label(pixels=theme.HEADING_PX, bold=True, name=f"file_view_title{n}")) for n in (1, 2)]
        self.facts = [wrapped(label(name=f"file_view_facts{number}")) for number in (1, 2)]
        self.paths = [
            wrapped(label(look="muted", pixels=theme.SMALL_PX, name=f"file_view_path{number}")) for number in (1, 2)
        ]
        self.titles[1].setContentsMargins(0, theme.SPACE_S, 0, 0)
        self.missing = wrapped(label(look="problem", name="file_view_parts"))
        for path in self.paths:
            path.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.other = text_button(self.tr("Another file…"), "file_view_open_button")
        self.compare = text_button(self.tr("Compare with…"), "file_view_compare_button")
        set_hint(self.compare, self.tr("Choose a second file, and see what differs"))
        self.alone = text_button(self.tr("Stop comparing"), "file_view_alone_button")
        self.other.clicked.connect(lambda _checked=False: self.open_wanted.emit())
        self.compare.clicked.connect(lambda _checked=False: self.compare_wanted.emit())
        self.alone.clicked.connect(lambda _checked=False: self.alone_wanted.emit())
        self._lay_out()

    def show_files(self, files: ViewedFiles, names: Mapping[Path, str]) -> None:
        """Show what is looked at; `names` are those by which people know models that are here."""
        is_two = len(files.paths) > 1
        for number in (0, 1):
            path = files.paths[number] if number < len(files.paths) else None
            view = files.views[number] if number < len(files.views) else None
            self._show_file(number, path, view)
            if path is not None:
                known = names.get(path, "") or (view.name if view is not None else None) or readable(path.stem)
                self.titles[number].setText(f"{number + 1}: {one_line(known)}" if is_two else one_line(known))
        missing = [words for view in files.views if (words := parts_words(view)) is not None]
        self.missing.setText(" ".join(render(each) for each in missing))
        self.missing.setVisible(bool(missing))
        self.alone.setVisible(is_two)
        self.compare.setVisible(not is_two)
        self.compare.setEnabled(bool(files.views))

    def _show_file(self, number: int, path: Path | None, view: GgufView | None) -> None:
        title, facts, where = self.titles[number], self.facts[number], self.paths[number]
        title.setVisible(path is not None)
        facts.setVisible(view is not None)
        where.setVisible(path is not None)
        if path is None:
            return
        where.setText(readable(path))
        if view is not None:
            facts.setText(in_parts(facts_of(view)))

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        for button in (self.compare, self.alone, self.other):
            buttons.addWidget(button)
        words = QVBoxLayout()
        words.setSpacing(theme.SPACE_XS)
        for number in (0, 1):
            for each in (self.titles[number], self.facts[number], self.paths[number]):
                words.addWidget(each)
        words.addWidget(self.missing)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addLayout(words, 1)
        above = QVBoxLayout()
        above.addLayout(buttons)
        above.addStretch(1)
        row.addLayout(above)


def facts_of(view: GgufView) -> list[str]:
    """Return what people compare models by; what the file does not say is left out."""
    facts = [one_line(view.architecture)] if view.architecture else []
    if view.parameters:
        words = translate("FileView", "{count} parameters")
        facts.append(words.format(count=parameter_count(view.parameters)))
    if view.quantisation:
        facts.append(one_line(view.quantisation))
    facts.append(byte_size(view.file_size))
    if view.bits_per_weight is not None:
        facts.append(translate("FileView", "{bits} bits per weight").format(bits=f"{view.bits_per_weight:.2f}"))
    if view.parts_wanted > 1 and not view.part:
        words = translate("FileView", "{there} of {count} parts")
        facts.append(words.format(there=view.parts, count=view.parts_wanted))
    facts.append(f"GGUF {view.version}")
    return facts
