"""The presets: choosing one, going back to it, and people's own ones with their names."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.core.sampling import PRESETS
from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.buttons import PointedButton
from app.gui.widgets.labels import label
from app.gui.widgets.words import render, set_hint
from app.services.sampling import LONGEST_NAME, Sampling

translate = QCoreApplication.translate
HEIGHT_PX = 30


class PresetRow(QWidget):
    """A box with the presets and what can be done with them; on hover, and where it matters now, what is in force."""

    def __init__(self, sampling: Sampling, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sampling = sampling
        self._renamed: str | None = None
        self._undo = False
        self._refused = False
        self._listed: tuple[list[str], bool] | None = None
        self._box = ChoiceBox()
        self._box.setObjectName("preset_box")
        self._box.setAccessibleName(self.tr("Preset"))
        self._box.setMinimumContentsLength(4)
        self._box.setSizeAdjustPolicy(ChoiceBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._reset = QToolButton()
        self._reset.setObjectName("reset_button")
        self._reset.setProperty("look", "outlined")
        self._more = PointedButton()
        self._more.setObjectName("preset_menu_button")
        self._more.setProperty("look", "icon")
        self._more.setText("⋯")
        self._more.setAccessibleName(self.tr("Save, rename or delete presets"))
        set_hint(self._more, self._more.accessibleName())
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self._more)
        self._menu.aboutToShow.connect(self._fill_menu)
        self._more.setMenu(self._menu)
        self._reset.setAccessibleName(self.tr("Back to the preset"))
        for button in (self._reset, self._more):
            button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        for widget in (self._box, self._reset):
            widget.setFixedHeight(theme.scaled(HEIGHT_PX))
        self._name = QLineEdit()
        self._name.setObjectName("preset_name")
        self._name.setProperty("look", "field")
        self._name.setAccessibleName(self.tr("Name of the preset"))
        self._name.setPlaceholderText(self.tr("Name"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.installEventFilter(self)
        self._save = QPushButton(self.tr("Save"))
        self._save.setObjectName("preset_save_button")
        self._cancel = QPushButton(self.tr("Cancel"))
        self._cancel.setObjectName("preset_cancel_button")
        self._remark = label(look="muted", pixels=theme.SMALL_PX, name="preset_remark")
        self._remark.setWordWrap(True)
        self._remark.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._remark.hide()
        self._rows = QStackedWidget()
        self._rows.addWidget(_row(self._box, self._reset, self._more))
        self._rows.addWidget(_row(self._name, self._save, self._cancel))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self._rows)
        column.addWidget(self._remark)
        self._box.activated.connect(self._choose)
        self._reset.clicked.connect(self._go_back)
        self._name.returnPressed.connect(self._take_name)
        self._name.textEdited.connect(self._remark_of_name)
        self._save.clicked.connect(self._take_name)
        self._cancel.clicked.connect(self._stop_naming)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Give up the name when Esc is pressed in its line."""
        is_escape = isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape
        if watched is self._name and is_escape:
            if event.type() == QEvent.Type.ShortcutOverride:  # elsewhere Esc stops an answer
                event.accept()
            elif event.type() == QEvent.Type.KeyPress:
                self._stop_naming()
            return True
        return super().eventFilter(watched, event)

    def show_values(self) -> None:
        """Show which preset the values are after they became others."""
        self._undo = False
        self.show_presets()

    def show_presets(self) -> None:
        """Show the presets as they are now."""
        sampling = self._sampling
        self._list(sorted(sampling.presets, key=str.casefold), sampling.preset is None)
        last = self._box.count() - 1
        self._box.setCurrentIndex(last if sampling.preset is None else self._box.findData(sampling.preset))
        differs = sampling.preset is None and sampling.chosen is not None
        undo = self._undo and sampling.deleted is not None
        self._reset.setText(self.tr("Undo") if undo else self.tr("Reset"))
        self._reset.setEnabled(differs or undo)
        if self._rows.currentIndex() == 0:
            self._remark.setText(self._words())
        words = self._words()
        set_hint(self._reset, self._words_of_reset(undo=undo, differs=differs))
        set_hint(self._box, f"{self._box.currentText()}\n{words}")
        self._box.setAccessibleDescription(words)
        self._remark.setVisible(self._refused if self._rows.currentIndex() == 1 else undo)

    def _list(self, own: list[str], is_nobodys: bool) -> None:
        if (own, is_nobodys) == self._listed:
            return
        self._listed = (own, is_nobodys)
        self._box.clear()
        for name in PRESETS:
            self._box.addItem(preset_name(name), name)
        if own:
            self._box.insertSeparator(self._box.count())
        for name in own:
            self._box.addItem(name, name)
        if is_nobodys:
            self._box.addItem(self.tr("Own settings"), None)

    def _words(self) -> str:
        sampling = self._sampling
        if self._undo and sampling.deleted is not None:
            return self.tr("“{name}” is deleted.").format(name=sampling.deleted.name)
        if sampling.preset is None and sampling.chosen is not None:
            return self.tr("Differs from “{name}”.").format(name=preset_name(sampling.chosen))
        if sampling.values.is_greedy:
            return self.tr("Always the likeliest token: top-k, top-p and min-p have no effect.")
        if sampling.preset is None:
            return self.tr("These values belong to no preset.")
        return _description(sampling.preset)

    def _words_of_reset(self, *, undo: bool, differs: bool) -> str:
        sampling = self._sampling
        if undo and sampling.deleted is not None:
            return self.tr("Bring back “{name}”").format(name=sampling.deleted.name)
        if differs and sampling.chosen is not None:
            return self.tr("Back to the values of “{name}”").format(name=preset_name(sampling.chosen))
        return self.tr("The values are those of the preset.") if sampling.preset else self.tr("There is no preset.")

    def _choose(self, index: int) -> None:
        name = self._box.itemData(index)
        if isinstance(name, str):
            self._undo = False
            self._sampling.use_preset(name)

    def _go_back(self) -> None:
        if self._undo and self._sampling.deleted is not None:
            self._restore()
        elif self._sampling.chosen is not None:
            self._sampling.use_preset(self._sampling.chosen)
        self._box.setFocus()

    def _fill_menu(self) -> None:
        menu, sampling = self._menu, self._sampling
        menu.clear()
        save = menu.addAction(self.tr("Save as a preset…"))
        save.setObjectName("save_preset_action")
        save.triggered.connect(lambda: self._begin_naming(None))
        own = sampling.chosen if sampling.chosen in sampling.presets else None
        if own is not None:
            shown = own.replace("&", "&&")
            update = menu.addAction(self.tr("Update “{name}”").format(name=shown))
            update.setObjectName("update_preset_action")
            update.setEnabled(sampling.presets[own] != sampling.values)
            update.triggered.connect(lambda: sampling.save_preset(own))
            rename = menu.addAction(self.tr("Rename “{name}”…").format(name=shown))
            rename.setObjectName("rename_preset_action")
            rename.triggered.connect(lambda: self._begin_naming(own))
            delete = menu.addAction(self.tr("Delete “{name}”").format(name=shown))
            delete.setObjectName("delete_preset_action")
            delete.triggered.connect(lambda: self._delete(own))
        if sampling.deleted is not None and sampling.name_problem(sampling.deleted.name) is None:
            gone = sampling.deleted.name.replace("&", "&&")
            restore = menu.addAction(self.tr("Bring back “{name}”").format(name=gone))
            restore.setObjectName("restore_preset_action")
            restore.triggered.connect(self._restore)

    def _delete(self, name: str) -> None:
        self._undo = True
        self._sampling.delete_preset(name)

    def _restore(self) -> None:
        deleted = self._sampling.deleted
        self._undo = False
        if deleted is not None and self._sampling.name_problem(deleted.name) is None:
            self._sampling.restore_preset()

    def _begin_naming(self, renamed: str | None) -> None:
        self._renamed = renamed
        self._name.setText(renamed or "")
        self._name.selectAll()
        self._rows.setCurrentIndex(1)
        self._remark_of_name()
        self._name.setFocus()

    def _remark_of_name(self) -> None:
        """Say on hover what a name is for: a line of words would push the settings down."""
        seed = self._sampling.values.seed
        if self._renamed is not None:
            words = self.tr("Another name for this preset.")
        elif seed is None:
            words = self.tr("Keeps all values as they are now, with the longest answer and the stop strings.")
        else:
            words = self.tr(
                "Keeps all values as they are now, with the longest answer, the stop strings and the seed {seed}."
            ).format(seed=seed)
        self._show_refusal("", words)

    def _show_refusal(self, problem: str, hint: str) -> None:
        self._refused = bool(problem)
        self._remark.setText(problem)
        self._remark.setVisible(self._refused)
        set_hint(self._name, hint)

    def _take_name(self) -> None:
        name = self._name.text()
        problem = self._sampling.name_problem(name, self._renamed)
        if problem is not None:
            self._show_refusal(render(problem), render(problem))
            self._name.setFocus()
            return
        renamed = self._renamed
        self._stop_naming()
        if renamed is None:
            self._sampling.save_preset(name)
        else:
            self._sampling.rename_preset(renamed, name)

    def _stop_naming(self) -> None:
        self._rows.setCurrentIndex(0)
        self._box.setFocus()
        self.show_presets()


def preset_name(name: str) -> str:
    """Return the name of a preset as people read it."""
    names = {
        "Greedy": translate("SamplingPanel", "Greedy"),
        "Precise": translate("SamplingPanel", "Precise"),
        "Balanced": translate("SamplingPanel", "Balanced"),
        "Creative": translate("SamplingPanel", "Creative"),
        "Wild": translate("SamplingPanel", "Wild"),
    }
    return names.get(name, name)


def _description(name: str) -> str:
    descriptions = {
        "Precise": translate("SamplingPanel", "Stays with likely words: for facts, code and summaries."),
        "Balanced": translate("SamplingPanel", "Varied but on the subject: a good start for most questions."),
        "Creative": translate("SamplingPanel", "Takes more chances: for stories and ideas."),
        "Wild": translate("SamplingPanel", "Takes almost any word: expect surprises and nonsense."),
    }
    return descriptions.get(name, translate("SamplingPanel", "A preset of your own."))


def _row(*widgets: QWidget) -> QWidget:
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(theme.SPACE_XS)
    for index, widget in enumerate(widgets):
        row.addWidget(widget, 0 if index else 1)
    return made
