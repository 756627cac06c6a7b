"""Where a preset of a whole chat gets its name, and where people choose what it holds."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.core.chat_preset import ChatPreset
from app.core.errors import UserError
from app.core.words import Sentence
from app.gui import theme
from app.gui.chat.preset_words import prompt_in_words, sampling_in_words
from app.gui.widgets.labels import label
from app.gui.widgets.tall_dialog import TallDialog
from app.gui.widgets.tick_box import TickBox
from app.gui.widgets.words import isolated, render
from app.services.chat_presets import LONGEST_NAME, ChatPresets

WIDTH_PX = 460
INDENT_PX = 24
"""What a part is stands under the words of its box."""


class NameDialog(TallDialog):
    """Another name for a preset."""

    def __init__(self, presets: ChatPresets, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._presets = presets
        self._old_name = name
        self.setObjectName("chat_preset_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self.name = QLineEdit(name)
        self.name.setObjectName("chat_preset_name")
        self.name.setProperty("look", "field")
        self.name.setAccessibleName(self.tr("Name of the chat preset"))
        self.name.setPlaceholderText(self.tr("Name"))
        self.name.setMaxLength(LONGEST_NAME)
        self.problem = label(look="problem", pixels=theme.SMALL_PX, name="chat_preset_problem")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.accept_button = QPushButton(self.tr("Rename"))
        self.accept_button.setObjectName("chat_preset_save")
        self.accept_button.setProperty("look", "primary")
        self.accept_button.setDefault(True)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("chat_preset_cancel")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self._title(), pixels=theme.HEADING_PX, bold=True))
        self.setWindowTitle(self._title())
        column.addWidget(self.name)
        column.addWidget(self.problem)
        self._fill(column)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        row.addStretch(1)
        row.addWidget(cancel)
        row.addWidget(self.accept_button)
        self.hold(contents, row)
        self.name.textEdited.connect(self._show_name)
        self.accept_button.clicked.connect(self._take)
        self.name.selectAll()
        self.name.setFocus()

    def _title(self) -> str:
        return self.tr("Rename the chat preset")

    def _fill(self, column: QVBoxLayout) -> None:
        """Lay out what else is to be chosen: nothing."""

    def _show_name(self) -> None:
        self._say(None)

    def _use(self, name: str) -> None:
        self._presets.rename(self._old_name, name)

    def _take(self) -> None:
        try:
            self._use(self.name.text())
        except UserError as error:
            self._say(error.sentence)
            self.name.setFocus()
            return
        self.accept()

    def _say(self, problem: Sentence | None) -> None:
        self.problem.setText(render(problem) if problem is not None else "")
        self.problem.setVisible(problem is not None)


class PresetDialog(NameDialog):
    """A name for the chat that is shown, and a box for each part that the preset is to hold."""

    def __init__(
        self, presets: ChatPresets, preset: ChatPreset, parent: QWidget, *, updated: str | None = None
    ) -> None:
        """`updated` is the preset that is there already and gets other parts."""
        if updated is not None and preset.model is None:
            preset = msgspec.structs.replace(preset, model=presets.all[updated].model)  # an update loses no model
        self._preset = preset
        self._updated = updated
        self._boxes: dict[str, TickBox] = {}
        super().__init__(presets, updated or "", parent)
        if updated is not None:
            self._tick_as(presets.all[updated])
        self._show_name()

    def _title(self) -> str:
        if self._updated is not None:
            return self.tr("Update the chat preset from this chat")
        return self.tr("Save this chat as a chat preset")

    def _fill(self, column: QVBoxLayout) -> None:
        self._replaces = label(look="muted", pixels=theme.SMALL_PX, name="chat_preset_replaces")
        self._replaces.setWordWrap(True)
        column.addWidget(self._replaces)
        column.addSpacing(theme.SPACE_XS)
        preset, model = self._preset, self._preset.model
        prompt, values = preset.system_prompt or "", preset.sampling
        self._add(column, "system_prompt", self.tr("System prompt"), prompt_in_words(prompt), ticked=bool(prompt))
        if values is not None:
            self._add(column, "sampling", self.tr("Sampling settings"), sampling_in_words(values), ticked=True)
        name = model.name if model is not None else self.tr("No model is loaded.")
        self._add(column, "model", self.tr("Model"), name, ticked=False)
        self._boxes["model"].setEnabled(model is not None)

    def _tick_as(self, preset: ChatPreset) -> None:
        """Tick the parts that a preset has, as far as the chat has them too."""
        for part, box in self._boxes.items():
            box.setChecked(box.isEnabled() and getattr(preset, part) is not None)

    def _add(self, column: QVBoxLayout, part: str, words: str, what: str, *, ticked: bool) -> None:
        box = self._boxes[part] = TickBox(words)
        box.setObjectName(f"chat_preset_{part}")
        box.setAccessibleDescription(what)
        box.setChecked(ticked)
        box.toggled.connect(self._show_name)
        said = label(what, look="muted", pixels=theme.SMALL_PX)
        said.setWordWrap(True)
        said.setContentsMargins(INDENT_PX, 0, 0, 0)
        rows = QVBoxLayout()
        rows.setSpacing(0)
        rows.addWidget(box)
        rows.addWidget(said)
        column.addLayout(rows)

    def _show_name(self) -> None:
        """Say before it happens that a preset is replaced."""
        self._say(None)
        same = self._presets.same_name(self.name.text())
        words, verb = self.tr("A preset keeps a copy: what you change later in this chat does not change it."), ""
        if same is not None and same == self._updated:
            words = self.tr("“{name}” holds what is ticked from now on; chats that it was used in stay as they are.")
            verb = self.tr("Update")
        elif same is not None:
            words, verb = self.tr("“{name}” exists already and is replaced."), self.tr("Replace")
        self._replaces.setText(words.format(name=isolated(same or "")))
        self.accept_button.setText(verb or self.tr("Save"))

    def _use(self, name: str) -> None:
        kept = {part: getattr(self._preset, part) for part, box in self._boxes.items() if box.isChecked()}
        self._presets.save(name, ChatPreset(**kept))
