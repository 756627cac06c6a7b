"""One model on this machine: what its file says, where it lies, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.file_buttons import FileButtons
from app.gui.discover.library_own import OwnWords
from app.gui.discover.library_settings import OwnSettings, load_words
from app.gui.discover.library_words import Fact, facts_of, problem_of, use_of
from app.gui.discover.words import shown
from app.gui.widgets.buttons import text_button
from app.gui.widgets.fit_badge import FitLook
from app.gui.widgets.fit_line import FitLine
from app.gui.widgets.flow import Flow
from app.gui.widgets.labels import label, wrapped
from app.gui.widgets.words import set_hint
from app.services.model_notes import ModelNotes
from app.services.model_sampling import ModelSampling


class LibraryPane(QWidget):
    """Says nothing while nothing is chosen."""

    load_wanted = Signal(str)
    """Somebody wants to chat with it: its file."""
    options_wanted = Signal(str)
    """Somebody wants to load it with other options."""
    plan_wanted = Signal(str)
    """Somebody wants to see what it takes and how fast it would be."""
    inspect_wanted = Signal(str)
    """Somebody wants to see what it is made of."""

    def __init__(self, look: FitLook, notes: ModelNotes, settings: ModelSampling, file_buttons: FileButtons) -> None:
        super().__init__()
        self._look, self._notes, self._sampling = look, notes, settings
        self.file_buttons = file_buttons
        self._model: FoundModel | None = None
        self._copies: tuple[FoundModel, ...] = ()
        self._facts: list[Fact] = []
        self.own, self.settings = OwnWords(notes, look.icons), OwnSettings(settings)
        self.title = wrapped(label(pixels=theme.HEADING_PX, bold=True, name="library_title"))
        self.fit = FitLine("library_fit")
        self.problem = wrapped(label(look="problem", name="library_problem"))
        self.load = text_button(self.tr("Load and chat"), "library_load_button")
        self.load.setProperty("look", "primary")
        self.options = text_button(self.tr("Load options…"), "library_options_button")
        self.plan = text_button(self.tr("Plan"), "library_plan_button")
        set_hint(self.plan, self.tr("What it takes, and how fast it would be"))
        self.inspect = text_button(self.tr("Inspect"), "library_inspect_button")
        set_hint(self.inspect, self.tr("What its file is made of: sizes, tensors, metadata, tokenizer, template"))
        self.folder = text_button(self.tr("Show its folder"), "library_folder_button")
        self._form = QFormLayout()
        self._lay_out()
        self.load.clicked.connect(lambda _checked=False: self.load_wanted.emit(self.path))
        self.options.clicked.connect(lambda _checked=False: self.options_wanted.emit(self.path))
        self.plan.clicked.connect(lambda _checked=False: self.plan_wanted.emit(self.path))
        self.inspect.clicked.connect(lambda _checked=False: self.inspect_wanted.emit(self.path))
        self.folder.clicked.connect(lambda _checked=False: self._show_folder())
        self.show_model(None, is_loaded=False)

    def show_model(self, model: FoundModel | None, *, is_loaded: bool, copies: tuple[FoundModel, ...] = ()) -> None:
        """Show one, which has other files that hold the same, or nothing."""
        self._model, self._copies = model, copies
        for part in (
            self.title,
            self.own,
            self.own.star,
            self.load,
            self.options,
            self.plan,
            self.inspect,
            self.folder,
        ):
            part.setVisible(model is not None)
        self.load.setEnabled(model is not None and model.is_usable and not is_loaded)
        self.load.setText(self.tr("It is loaded") if is_loaded else self.tr("Load and chat"))
        self.load.setAccessibleName(self.load.text())
        for button in (self.options, self.plan):
            button.setEnabled(model is not None and model.is_usable)
        self.title.setText(shown(model.name) if model is not None else "")
        said = problem_of(model) if model is not None else ""
        self.problem.setText(said)
        self.problem.setVisible(bool(said))
        self._show_facts(self._facts_of(model) if model is not None else [])
        self.own.show_model(model, len(copies))
        self.settings.show_model(model)
        self.file_buttons.show_model(model)
        self.show_fit()

    def show_fit(self) -> None:
        """Show whether it fits, as far as that is known."""
        model = self._model
        is_usable = model is not None and model.is_usable
        self.fit.setVisible(is_usable)
        if model is None or not is_usable:
            return
        self.fit.show_fit(self._look.fits.get(model.path), self._look.icons, self._look.themes.current)

    def _facts_of(self, model: FoundModel) -> list[Fact]:
        facts = facts_of(model, self._copies)
        if not model.is_usable:
            return facts
        loads = Fact(self.tr("Loads with"), *load_words(self._sampling.load_options(model.identity)))
        used = use_of(self._notes.use_of(model.identity), is_known=self._notes.has_measured)
        return [*used, loads, *facts]

    def _show_facts(self, facts: list[Fact]) -> None:
        if facts == self._facts:
            return
        self._facts = facts
        while self._form.rowCount():
            self._form.removeRow(0)
        for caption, value, hint in facts:
            said = label(name="library_fact")
            said.setText(value)
            said.setAccessibleName(f"{caption}: {value}")
            if hint:
                set_hint(said, hint)
            said.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            name = label(look="muted", name="library_caption")
            name.setText(caption)
            name.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)  # of several places, too
            self._form.addRow(name, wrapped(said))
        self._line_up()

    def _line_up(self) -> None:
        """Have what people write and what is known of a model begin on one line."""
        captions = [*self.own.captions, *self.findChildren(QLabel, "library_caption")]
        widest = max(caption.sizeHint().width() for caption in captions)
        for caption in captions:
            caption.setMinimumWidth(widest)

    @property
    def path(self) -> str:
        """The file of the one that is shown; empty where none is."""
        return self._model.path if self._model is not None else ""

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(self.path).parent)))

    def _lay_out(self) -> None:
        buttons = Flow()
        for button in (self.load, self.options, self.plan, self.inspect, self.folder):
            buttons.addWidget(button)
        self._form.setHorizontalSpacing(theme.SPACE_L)
        self._form.setVerticalSpacing(theme.SPACE_S)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        top = QHBoxLayout()
        top.setSpacing(theme.SPACE_S)
        top.addWidget(self.title, 1)
        top.addWidget(self.own.star, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(top)
        column.addWidget(self.fit)
        column.addWidget(self.problem)
        column.addLayout(buttons)
        column.addWidget(self.file_buttons)
        column.addWidget(self.own)
        column.addWidget(self.own.copies)
        column.addLayout(self._form)
        column.addWidget(self.settings)
        column.addStretch(1)
