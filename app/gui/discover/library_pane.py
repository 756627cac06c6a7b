"""One model on this machine: what its file says, where it lies, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.core.model import FoundModel
from app.gui import theme
from app.gui.discover.library_words import facts_of, problem_of
from app.gui.discover.words import shown
from app.gui.widgets.fit_badge import FitLook, fit_icon, fit_reason, fit_word
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint

_ICON_PX = 16


class LibraryPane(QWidget):
    """Says nothing while nothing is chosen."""

    load_wanted = Signal(str)
    """Somebody wants to chat with it: its file."""
    options_wanted = Signal(str)
    """Somebody wants to load it with other options."""
    plan_wanted = Signal(str)
    """Somebody wants to see what it takes and how fast it would be."""

    def __init__(self, look: FitLook) -> None:
        super().__init__()
        self._look = look
        self._model: FoundModel | None = None
        self._facts: list[tuple[str, str]] = []
        self.title = _text(label(pixels=theme.HEADING_PX, bold=True, name="library_title"))
        self.icon = QLabel()
        self.fit = _text(label(name="library_fit"))
        self.problem = _text(label(look="problem", name="library_problem"))
        self.load = _button(self.tr("Load and chat"), "library_load_button")
        self.load.setProperty("look", "primary")
        self.options = _button(self.tr("Load options…"), "library_options_button")
        self.plan = _button(self.tr("Plan"), "library_plan_button")
        set_hint(self.plan, self.tr("What it takes, and how fast it would be"))
        self.folder = _button(self.tr("Show its folder"), "library_folder_button")
        self._form = QFormLayout()
        self._lay_out()
        self.load.clicked.connect(lambda _checked=False: self.load_wanted.emit(self._path))
        self.options.clicked.connect(lambda _checked=False: self.options_wanted.emit(self._path))
        self.plan.clicked.connect(lambda _checked=False: self.plan_wanted.emit(self._path))
        self.folder.clicked.connect(lambda _checked=False: self._show_folder())
        self.show_model(None, is_loaded=False)

    def show_model(self, model: FoundModel | None, *, is_loaded: bool) -> None:
        """Show one, or nothing."""
        self._model = model
        for part in (self.title, self.load, self.options, self.plan, self.folder):
            part.setVisible(model is not None)
        self.load.setEnabled(model is not None and model.is_usable and not is_loaded)
        self.load.setText(self.tr("It is loaded") if is_loaded else self.tr("Load and chat"))
        for button in (self.options, self.plan):
            button.setEnabled(model is not None and model.is_usable)
        self.title.setText(shown(model.name) if model is not None else "")
        said = problem_of(model) if model is not None else ""
        self.problem.setText(said)
        self.problem.setVisible(bool(said))
        self._show_facts(facts_of(model) if model is not None else [])
        self.show_fit()

    def show_fit(self) -> None:
        """Show whether it fits, as far as that is known."""
        model = self._model
        is_usable = model is not None and model.is_usable
        self.icon.setVisible(is_usable)
        self.fit.setVisible(is_usable)
        if model is None or not is_usable:
            return
        fit = self._look.fits.get(model.path)
        icon = fit_icon(fit, self._look.icons, self._look.themes.current)
        self.icon.setPixmap(icon.pixmap(QSize(_ICON_PX, _ICON_PX)))
        word = fit_word(fit)
        self.fit.setText(f"{word[:1].upper()}{word[1:]}. {fit_reason(fit)}" if fit is not None else fit_reason(fit))

    def _show_facts(self, facts: list[tuple[str, str]]) -> None:
        if facts == self._facts:
            return
        self._facts = facts
        while self._form.rowCount():
            self._form.removeRow(0)
        for caption, value in facts:
            said = label(name="library_fact")
            said.setText(value)
            said.setAccessibleName(f"{caption}: {value}")
            said.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            name = label(look="muted", name="library_caption")
            name.setText(caption)
            self._form.addRow(name, _text(said))

    @property
    def _path(self) -> str:
        return self._model.path if self._model is not None else ""

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(Path(self._path).parent)))

    def _lay_out(self) -> None:
        fit = QHBoxLayout()
        fit.setSpacing(theme.SPACE_S)
        fit.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignTop)
        fit.addWidget(self.fit, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        for button in (self.load, self.options, self.plan, self.folder):
            buttons.addWidget(button)
        buttons.addStretch(1)
        self._form.setHorizontalSpacing(theme.SPACE_L)
        self._form.setVerticalSpacing(theme.SPACE_S)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_M)
        column.addWidget(self.title)
        column.addLayout(fit)
        column.addWidget(self.problem)
        column.addLayout(buttons)
        column.addLayout(self._form)
        column.addStretch(1)


def _text(made: QLabel) -> QLabel:
    made.setWordWrap(True)
    made.setMinimumWidth(1)
    return made


def _button(words: str, name: str) -> QPushButton:
    button = QPushButton(words)
    button.setObjectName(name)
    button.setAccessibleName(words)
    return button
