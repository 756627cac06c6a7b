"""The part of the page Models that shows what is inside a file, or what differs between two."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.file_name import fitting_stem
from app.gui import theme
from app.gui.chat.text_alone import Background
from app.gui.dialogs import Dialogs
from app.gui.file_view.choice_popup import files_popup, others
from app.gui.file_view.difference_pane import DifferencePane
from app.gui.file_view.entries_pane import EntriesPane
from app.gui.file_view.head import FileHead
from app.gui.file_view.sizes_pane import SizesPane
from app.gui.file_view.table_pane import SaveButton
from app.gui.file_view.template_pane import TemplatePane
from app.gui.file_view.tensors_pane import TensorsPane
from app.gui.file_view.tokens_pane import TokensPane
from app.gui.icons import Icons
from app.gui.widgets.buttons import text_button
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.page_tabs import PageTabs
from app.gui.widgets.scrolled_pages import ScrolledPages
from app.gui.widgets.words import render
from app.services.file_export import FileExport
from app.services.model_viewing import ModelViewing
from app.services.models import Models
from app.system.model_files import readable


class Looks(NamedTuple):
    """What things are painted with."""

    themes: theme.Themes
    icons: Icons
    background: Background


class FilePart(QWidget):
    """Follows the service: whoever wants a file to be seen has it opened there."""

    def __init__(self, viewing: ModelViewing, files: FileExport, models: Models, looks: Looks) -> None:
        """`models` are those that people can choose without knowing where they lie."""
        super().__init__()
        self.setObjectName("file_view")
        self._viewing, self._models, self._icons = viewing, models, looks.icons
        self.head = FileHead()
        self.state = wrapped(label(name="file_view_state"))
        self.begin = text_button(self.tr("Choose a file…"), "file_view_begin_button")
        self.begin.setProperty("look", "primary")
        self.saves = [
            SaveButton(files, looks.icons, f"file_view_{name}_save") for name in ("tensors", "entries", "tokens")
        ]
        tensors, entries, tokens = self.saves
        self.sizes = SizesPane(looks.themes)
        self.tensors = TensorsPane(viewing, tensors)
        self.entries = EntriesPane(viewing, entries)
        self.tokens = TokensPane(viewing, tokens)
        self.template = TemplatePane(looks.themes, looks.background)
        self.difference = DifferencePane()
        self.tabs = PageTabs(
            (
                ("sizes", "file_view_sizes_tab", self.tr("Sizes"), self.tr("Where the size of the file goes")),
                ("tensors", "file_view_tensors_tab", self.tr("Tensors"), self.tr("The numbers that it has learned")),
                ("entries", "file_view_entries_tab", self.tr("Metadata"), self.tr("What is written about the model")),
                ("tokens", "file_view_tokens_tab", self.tr("Tokenizer"), self.tr("How text becomes tokens")),
                ("template", "file_view_template_tab", self.tr("Template"), self.tr("How a chat is written out")),
            )
        )
        self._panes = {
            "sizes": self.sizes,
            "tensors": self.tensors,
            "entries": self.entries,
            "tokens": self.tokens,
            "template": self.template,
            "difference": self.difference,
        }
        self._stack = ScrolledPages()
        self._name = "sizes"
        self._is_waiting = False
        """Whether the keyboard waits beside what is read, to go there when it comes."""
        self._lay_out()
        self._connect()
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer, and have nothing read for nobody."""
        self._disconnect()
        self.entries.disconnect_services()
        self.tokens.disconnect_services()
        self._viewing.close()

    def show_pane(self, name: str) -> None:
        """Show one of the tables of a file that is alone."""
        self._name = name
        self._show_pane()

    def _connect(self) -> None:
        self.tabs.wanted.connect(self.show_pane)
        self.begin.clicked.connect(lambda _checked=False: self._offer(self.begin, self._viewing.open))
        self.head.open_wanted.connect(lambda: self._offer(self.head.other, self._viewing.open))
        self.head.compare_wanted.connect(lambda: self._offer(self.head.compare, self._compare))
        self.head.alone_wanted.connect(lambda: self._viewing.open(self._viewing.shown.paths[0]))
        self._disconnect = self._viewing.changed.connect(self._show)

    def _offer(self, button: QWidget, chosen: Callable[[Path], None]) -> None:
        """Offer the models that are here; where there is none, the files at once."""
        models = others(self._models.found, self._viewing.shown.paths)
        if not models:
            self._choose(chosen)
            return
        first_model = 1  # what Enter takes
        files_popup(button, models, chosen, lambda: self._choose(chosen)).open_below(first_model)

    def _choose(self, chosen: Callable[[Path], None]) -> None:
        paths = self._viewing.shown.paths
        folder = paths[0].parent if paths else self._models.folder
        Dialogs(self.window()).choose_model(folder, self._icons, chosen, self.tr("Inspect a model file"))

    def _compare(self, path: Path) -> None:
        if self._viewing.shown.paths:
            self._viewing.open(self._viewing.shown.paths[0], path)

    def _show(self) -> None:
        shown = self._viewing.shown
        is_two, is_there = len(shown.paths) > 1, bool(shown.views)
        focus = self.window().focusWidget()
        self.head.setVisible(bool(shown.paths))
        self.head.show_files(shown, {Path(model.path): model.name for model in self._models.found})
        self.begin.setVisible(not shown.paths)
        if focus in (self.begin, self.head.compare, self.head.alone) and (focus.isHidden() or not focus.isEnabled()):
            self.head.other.setFocus()  # Qt would hand the keyboard to whichever button comes next
        self.state.setText(self._state_words())
        self._show_look("problem" if shown.problem is not None else "")
        self.state.setVisible(not is_there)
        self.tabs.setVisible(is_there and not is_two)
        self._stack.setVisible(is_there)
        self._room.setVisible(not is_there)
        if not is_there:
            self._show_pane()
            return
        path = shown.paths[0]
        for save, name in zip(self.saves, ("tensors", "metadata", "tokens"), strict=True):
            save.stem = fitting_stem(f"{readable(path.stem)} {name}") or name
        self._show_pane()

    def _show_pane(self) -> None:
        """Fill and show one pane: the others wait until they are seen, so that no file holds up the window."""
        shown = self._viewing.shown
        name = "difference" if len(shown.paths) > 1 else self._name
        if shown.views:
            path, view = shown.paths[0], shown.views[0]
            match name:
                case "difference":
                    self.difference.show_files(shown)
                case "sizes":
                    self.sizes.show_view(view)
                case "tensors":
                    self.tensors.show_view(view)
                case "entries":
                    self.entries.show_view(path, view)
                case "tokens":
                    self.tokens.show_view(path, view)
                case "template":
                    self.template.show_view(view, shown.templates)
        self._stack.setCurrentWidget(self._panes[name])
        keeps = self.head.other if shown.paths else self.begin
        is_waiting = self._is_waiting and bool(shown.views) and self.window().focusWidget() is keeps
        self._is_waiting = self._viewing.is_reading
        self.setFocusProxy(self._panes[name] if shown.views else keeps)
        if is_waiting:
            self.setFocus()
        self.tabs.show_page(self._name)

    def _show_look(self, look: str) -> None:
        if self.state.property("look") != look:
            self.state.setProperty("look", look)
            self.state.style().unpolish(self.state)
            self.state.style().polish(self.state)

    def _state_words(self) -> str:
        shown = self._viewing.shown
        if shown.problem is not None:
            said = render(shown.problem)
            if len(shown.paths) > 1 and shown.broken is not None:
                return f"{shown.paths.index(shown.broken) + 1}: {said}"
            return said
        if shown.paths:
            return "" if shown.views else self.tr("Reading …")
        return self.tr(
            "Here you see what a model file is made of: what it says of itself, its tensors, its tokens and its "
            "template, and where its size goes. Nothing of it is run or changed."
        )

    def _lay_out(self) -> None:
        for pane in self._panes.values():
            self._stack.addWidget(pane)
        self._room = QWidget()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.head)
        column.addWidget(self.state)
        column.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._stack, 1)
        column.addWidget(self._room, 1)
