"""The part of the page Models that shows those on this machine: a list to search, and beside it the one that is chosen."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.gui import theme
from app.gui.discover.file_buttons import FileButtons
from app.gui.discover.folders_dialog import FoldersDialog
from app.gui.discover.library_list import LibraryList
from app.gui.discover.library_menu import library_menu
from app.gui.discover.library_pane import LibraryPane
from app.gui.discover.library_rows import LibraryRows
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.clear_line import ClearLine
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.labels import label
from app.gui.widgets.scrolled_pages import scrolled
from app.gui.widgets.words import set_hint
from app.services.file_names import short_path
from app.services.library import Library
from app.services.library_files import LibraryFiles
from app.services.model_sampling import ModelSampling
from app.services.units import count

_LIST_PX = 340


class LibraryPart(QWidget):
    """Looks for the models anew each time it is shown."""

    load_wanted = Signal(str)
    """Somebody wants to chat with a model: its file."""
    options_wanted = Signal(str)
    """Somebody wants to load one with other options."""
    plan_wanted = Signal(str)
    """Somebody wants to plan with one."""
    inspect_wanted = Signal(str)
    """Somebody wants to see what one is made of."""
    find_wanted = Signal()
    """Somebody wants to find models that are not here."""

    def __init__(self, library: Library, look: FitLook, settings: ModelSampling, files: LibraryFiles) -> None:
        super().__init__()
        self.setObjectName("library_part")
        self._library, self._look, self._sampling, self._files = library, look, settings, files
        self._chosen = ""
        self._renamed: frozenset[str] = frozenset()
        """The paths of the model that has another name since the last deed."""
        self._wanted: tuple[str, ...] = ()
        """Those of which it is asked whether they fit."""
        self.line = ClearLine()
        self.line.searches_page = True
        self.line.setObjectName("library_line")
        self.line.setProperty("look", "field")
        self.line.setPlaceholderText(self.tr("Search your models"))
        self.line.setAccessibleName(self.tr("Search your models"))
        self.orders = ChoiceBox()
        self.orders.setObjectName("library_order_box")
        self.orders.setAccessibleName(self.tr("Order"))
        set_hint(self.orders, self.tr("Order"))
        for words, order in (
            (self.tr("Favourites first"), "favourites"),
            (self.tr("By name"), "name"),
            (self.tr("Largest file first"), "size"),
            (self.tr("Most parameters first"), "parameters"),
            (self.tr("Last used first"), "used"),
        ):
            self.orders.addItem(words, order)
        self.folders = QPushButton(self.tr("Folders…"))
        self.folders.setObjectName("library_folders_button")
        set_hint(self.folders, self.tr("Where models are looked for"))
        self.state = label(look="muted", pixels=theme.SMALL_PX, name="library_state")
        self.state.setWordWrap(True)
        self.state.setMinimumWidth(1)
        self.find_button = QPushButton(self.tr("Find models"))
        self.find_button.setObjectName("library_find_button")
        self.find_button.setProperty("look", "primary")
        self.rows = LibraryRows(look)
        self.list = LibraryList(self.rows)
        self._room = QWidget()
        self.pane = LibraryPane(look, library.notes, settings, FileButtons(files))
        self.setFocusProxy(self.list)
        self._lay_out()
        self._connect()
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the services no longer."""
        for disconnect in self._disconnect:
            disconnect()
        self._library.close()
        self._library.folder_watch.rest(self)
        self._look.fits.rest(self)

    def showEvent(self, event: QShowEvent) -> None:
        """Look what is there now, and what of it fits."""
        super().showEvent(event)
        self._library.is_watched = True
        self._library.refresh()
        self._library.folder_watch.follow(self)
        self._wanted = ()
        self._want_fits()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody looks."""
        super().hideEvent(event)
        self._library.is_watched = False
        self._library.folder_watch.rest(self)
        self._library.hold(None)
        self._look.fits.rest(self)

    def _connect(self) -> None:
        self.line.textChanged.connect(self._library.narrow)
        self.orders.activated.connect(lambda _row: self._library.order(self.orders.currentData()))
        self.folders.clicked.connect(lambda _checked=False: FoldersDialog(self._library, self._look, self).open())
        self.find_button.clicked.connect(lambda _checked=False: self.find_wanted.emit())
        self.list.selectionModel().currentChanged.connect(lambda _now, _before: self._choose())
        bar = self.list.verticalScrollBar()
        for moved in (bar.valueChanged, bar.rangeChanged):
            moved.connect(lambda *_: self._want_fits())
        self.list.activated.connect(lambda _index: self.pane.load.click())
        self.list.rename_wanted.connect(self.pane.file_buttons.want_rename)
        self.list.trash_wanted.connect(self.pane.file_buttons.want_trash)
        self.list.menu_wanted.connect(self._show_menu)
        self.pane.own.touched.connect(self._stay)
        self.pane.load_wanted.connect(self.load_wanted)
        self.pane.options_wanted.connect(self.options_wanted)
        self.pane.plan_wanted.connect(self.plan_wanted)
        self.pane.inspect_wanted.connect(self.inspect_wanted)
        self._look.themes.changed.connect(self._show_fits)
        self._disconnect = [
            self._library.changed.connect(self._show),
            self._look.fits.changed.connect(self._show_fits),
            self._sampling.changed.connect(self._show_chosen),
            self._files.moved.connect(self._follow),
        ]

    def _show_menu(self, place: QPoint, is_by_key: bool) -> None:
        menu = library_menu(self.pane, self)
        menu.popup(place)
        if is_by_key:
            menu.setActiveAction(next(action for action in menu.actions() if action.isEnabled()))

    def _follow(self, old: frozenset[str], new: str) -> None:
        """Keep a model chosen that has another name now."""
        if self._chosen in old or not self._chosen:
            self._chosen = new
            self._library.hold(None)
        self._renamed = old if new else frozenset()

    def _leave_what_is_gone(self) -> None:
        """Have the keyboard on the list once the model that it was on is gone: no field of another one takes its keys."""
        path = self.pane.path
        focus: QWidget | None = self.window().focusWidget()
        is_gone = bool(path) and self.rows.row_of(path) is None and path not in self._renamed
        if is_gone and focus is not None and self.pane.isAncestorOf(focus):
            self.list.setFocus()

    def _show(self) -> None:
        with QSignalBlocker(self.list.selectionModel()):  # what was chosen stays chosen
            notes = self._library.notes
            starred = frozenset(row.path for row in self._library.rows if notes.of(row.identity).favourite)
            copies = {row.path: len(self._library.copies_of(row)) for row in self._library.rows}
            self.rows.show(self._library.rows, self._library.loaded, starred, copies)
            self._leave_what_is_gone()
            wanted = self._chosen or self._library.loaded
            row = self.rows.row_of(wanted)
            if row is None and self.rows.rowCount():
                row = 0
            if row is not None:
                self.list.setCurrentIndex(self.rows.index(row))
        self._show_chosen()
        missing = [short_path(Path(folder)) for folder in self._library.missing]
        away = self.tr("Not here now: {folder}").format(folder=", ".join(missing)) if missing else ""
        self.state.setText("\n".join(filter(None, (self._state_words(), away))))
        set_hint(
            self.state,
            self.tr("Models on a drive that is away come back with it; notes and favourites stay.") if away else "",
        )
        self.find_button.setVisible(not self._library.all_of_them and not self._library.is_searching)
        has_rows = bool(self._library.rows)
        if (
            not has_rows and self.window().focusWidget() is self.list
        ):  # no field takes the keys that are meant for the list
            (self.folders if self.find_button.isHidden() else self.find_button).setFocus()
        self.list.setVisible(has_rows)
        self._room.setVisible(not has_rows)
        self._want_fits()

    def _want_fits(self) -> None:
        """Have worked out what fits of the rows that are in sight: of thousands that would take long."""
        if not self.isVisible():
            return
        top = self.list.indexAt(QPoint(0, 0)).row()
        end = self.list.indexAt(QPoint(0, self.list.viewport().height() - 1)).row()
        rows = range(max(0, top), end + 1 if end >= 0 else self.rows.rowCount())
        models = [self.rows.model_at(row) for row in (*rows, self.list.currentIndex().row())]
        wanted = tuple(model.path for model in models if model is not None and model.is_usable)
        if wanted != self._wanted:
            self._wanted = wanted
            self._look.fits.want(self, wanted)

    def _choose(self) -> None:
        model = self.rows.model_at(self.list.currentIndex().row())
        if model is not None:
            self._chosen = model.path
            if model.path != self.pane.path:
                self._library.hold(None)
        self._show_chosen()
        self._want_fits()

    def _stay(self) -> None:
        """Have the model that is shown stay chosen, also where nobody has chosen one yet."""
        model = self.rows.model_at(self.list.currentIndex().row())
        if model is not None:
            self._chosen = model.path
            self._library.hold(model)

    def _show_chosen(self) -> None:
        model = self.rows.model_at(self.list.currentIndex().row())
        is_loaded = model is not None and model.path == self._library.loaded
        copies = self._library.copies_of(model) if model is not None else ()
        self.pane.show_model(model, is_loaded=is_loaded, copies=copies)

    def _show_fits(self) -> None:
        self.rows.fits_changed()
        self.pane.show_fit()

    def _state_words(self) -> str:
        there, all_of_them = len(self._library.rows), self._library.all_of_them
        if not all_of_them:
            if self._library.is_searching:
                return self.tr("Looking for models …")
            return self.tr("There is no model on this machine yet: find one, or add a folder that holds some.")
        if not there:
            return self.tr("None of your models is called so.")
        if there < all_of_them:
            return self.tr("{shown} of {count} models").format(shown=count(there), count=count(all_of_them))
        return self.tr("1 model") if there == 1 else self.tr("{count} models").format(count=count(there))

    def _lay_out(self) -> None:
        above = QHBoxLayout()
        above.setSpacing(theme.SPACE_S)
        above.addWidget(self.orders, 1)
        above.addWidget(self.folders)
        left = QWidget()
        left.setFixedWidth(theme.scaled(_LIST_PX))
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self.line)
        column.addLayout(above)
        column.addWidget(self.state)
        column.addWidget(self.find_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.list, 1)
        column.addWidget(self._room, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_L)
        row.addWidget(left)
        row.addWidget(scrolled(self.pane, "library_area", self.tr("The model that is chosen")), 1)
