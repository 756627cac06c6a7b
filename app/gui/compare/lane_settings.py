"""The settings of one lane, in the same rows as those of a chat."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.core.comparison import LETTERS
from app.core.sampling import PRESETS, STAGES, SamplingSettings
from app.gui import theme
from app.gui.sampling.chain_line import ChainLine
from app.gui.sampling.controls import main_controls
from app.gui.sampling.fold_button import FoldButton
from app.gui.sampling.idle import show_idle
from app.gui.sampling.limits import Limits
from app.gui.sampling.more import MoreSettings
from app.gui.sampling.preset_row import preset_name
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.gui.widgets.slider_row import SliderRow
from app.gui.widgets.tall_dialog import TallDialog
from app.services.sampling import Sampling

WIDTH_PX = 420


class LaneSettingsDialog(TallDialog):
    """Changes a copy; whoever opened it takes that over."""

    used = Signal(int, object)
    """A lane is to have other settings: the lane and its `SamplingSettings`."""

    def __init__(self, lane: int, settings: SamplingSettings, sampling: Sampling, parent: QWidget) -> None:
        super().__init__(parent)
        self._lane = lane
        self._settings = self._before = settings
        self._presets = {**PRESETS, **sampling.presets}
        self.setObjectName("lane_settings")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings of lane {letter}").format(letter=LETTERS[lane]))
        self.setMinimumWidth(theme.scaled(WIDTH_PX))
        self._box = ChoiceBox()
        self._box.setObjectName("lane_preset_box")
        self._box.setAccessibleName(self.tr("Preset"))
        for name in self._presets:
            self._box.addItem(preset_name(name) if name in PRESETS else name, name)
        self._box.addItem(self.tr("Own settings"), None)
        self._rows = {
            control.name: SliderRow(f"lane_{control.name}", control.title, control.hint, control.scale)
            for control in main_controls()
        }
        self._chain = ChainLine()
        self._fold = FoldButton("lane_more_button")
        self._fold.set_words(
            self.tr("More"), self.tr("Seed, longest answer, stop strings, a grammar and finer settings")
        )
        self._limits = Limits(of_chat=False)
        self._limits.offer_grammar(sampling.values.grammar)
        self._more = MoreSettings()
        self._folded = QWidget()
        self._use = QPushButton(self.tr("Use"))
        self._lay_out()
        for name, row in self._rows.items():
            row.moved.connect(lambda value, name=name: self._change(name, value))
        for part in (self._limits, self._more):
            part.changed.connect(self._change)
        self._limits.seed_clicked.connect(self._free_or_keep_seed)
        self._box.activated.connect(self._take_preset)
        self._fold.toggled.connect(self._folded.setVisible)
        self._chain.reset_clicked.connect(self._reset_chain)
        self._show()

    def _lay_out(self) -> None:
        contents = QWidget()
        column = QVBoxLayout(contents)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(label(self.windowTitle(), pixels=theme.HEADING_PX, bold=True))
        column.addWidget(self._box)
        for row in self._rows.values():
            column.addWidget(row)
        column.addWidget(self._chain)
        column.addWidget(self._fold)
        folded = QVBoxLayout(self._folded)
        folded.setContentsMargins(0, 0, 0, 0)
        folded.setSpacing(theme.SPACE_S)
        folded.addWidget(self._limits)
        folded.addWidget(self._more)
        self._folded.hide()
        column.addWidget(self._folded)
        self._use.setObjectName("use_lane_settings_button")
        self._use.setProperty("look", "primary")
        self._use.setDefault(True)
        self._use.clicked.connect(self._accept)
        cancel = QPushButton(self.tr("Cancel"))
        cancel.setObjectName("cancel_lane_settings_button")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        buttons.addStretch(1)
        buttons.addWidget(cancel)
        buttons.addWidget(self._use)
        self.hold(contents, buttons)

    def _reset_chain(self) -> None:
        self._settings = msgspec.structs.replace(self._settings, order=STAGES, off=())
        self._show()

    def _change(self, name: str, value: object) -> None:
        self._settings = msgspec.structs.replace(self._settings, **{name: value}).validated()
        self._show()

    def _take_preset(self, index: int) -> None:
        name = self._box.itemData(index)
        if not isinstance(name, str):
            return
        now, preset = self._settings, self._presets[name]
        kept: dict[str, object] = {"seed": now.seed, "max_tokens": now.max_tokens}
        if name in PRESETS:
            kept.update(stop=now.stop, grammar=now.grammar)
        self._settings = msgspec.structs.replace(preset, **kept).validated()
        self._show()

    def _free_or_keep_seed(self) -> None:
        self._change("seed", None if self._settings.seed is not None else self._before.seed)

    def _show(self) -> None:
        values = self._settings
        for name, row in self._rows.items():
            row.set_value(getattr(values, name))
        show_idle(self._rows, values)
        self._chain.show_values(values)
        self._limits.show_values(values)
        self._limits.show_seed_button(fixed=values.seed is not None, last=self._before.seed)
        self._more.show_values(values)
        equal = (name for name, preset in self._presets.items() if self._is_like(preset))
        place = self._box.findData(next(equal, None))
        self._box.setCurrentIndex(place if place >= 0 else self._box.count() - 1)

    def _is_like(self, preset: SamplingSettings) -> bool:
        now = self._settings
        limits = {"seed": now.seed, "max_tokens": now.max_tokens, "stop": now.stop, "grammar": now.grammar}
        return msgspec.structs.replace(preset, **limits) == now

    def _accept(self) -> None:
        self.used.emit(self._lane, self._settings)
        self.accept()
