"""Which layer and which head is shown: two sliders, whose first stop is the average over all."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from app.gui import theme
from app.gui.inside.attention.words import choice_words, lack_words
from app.gui.widgets.boxes import WheelSlider
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint
from app.services.attention_rows import AttentionRows

_WORDS_PX = 148


class LayerChoice(QWidget):
    """Says what somebody chooses; whoever owns it says what is shown."""

    chosen = Signal(object, object)
    """Somebody wants a layer and a head, counted from 0; None is the average."""

    def __init__(self) -> None:
        super().__init__()
        self.layer, self.head = (WheelSlider() for _ in range(2))
        self.layer_words, self.head_words = (label(name=f"attention_{name}_words") for name in ("layer", "head"))
        for name, slider in (("layer", self.layer), ("head", self.head)):
            slider.setObjectName(f"attention_{name}")
            slider.setPageStep(1)
            slider.setProperty("stage", "kv")
        self._rows: AttentionRows | None = None
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(theme.SPACE_XS)
        for line, (slider, words) in enumerate(((self.layer, self.layer_words), (self.head, self.head_words))):
            words.setFixedWidth(theme.scaled(_WORDS_PX))
            grid.addWidget(words, line, 0)
            grid.addWidget(slider, line, 1)
        self.layer.valueChanged.connect(self._choose)
        self.head.valueChanged.connect(self._choose)

    def show_choice(self, rows: AttentionRows | None, layer: int | None, head: int | None) -> None:
        """Show what is chosen, of so many layers and heads as there are."""
        self._rows = rows
        layers = len(rows.layers) if rows is not None else 0
        heads = rows.layers[layer].rows - 1 if rows is not None and layer is not None else 0
        with QSignalBlocker(self.layer), QSignalBlocker(self.head):
            self.layer.setRange(0, layers)
            self.layer.setValue(0 if layer is None else layer + 1)
            self.head.setRange(0, max(heads, 0))
            self.head.setValue(0 if head is None else head + 1)
        self.layer.setEnabled(layers > 0)
        self.head.setEnabled(heads > 0)
        which, whose = choice_words(rows, layer, head)
        self.layer_words.setText(which)
        self.head_words.setText(whose)
        self.layer.setAccessibleName(self.tr("Layer: {which}").format(which=which))
        self.head.setAccessibleName(self.tr("Head: {which}").format(which=whose))
        why = lack_words(rows, layer) if rows is not None and layer is not None else ""
        if layer is None:
            why = self.tr("Heads of different layers have nothing to do with each other: choose a layer first.")
        elif not why and rows is not None and rows.are_averaged:
            why = self.tr("The rows of all heads would be too much for so many tokens: these are their averages.")
        for each in (self.head, self.head_words):
            set_hint(each, why)

    def _choose(self) -> None:
        layer, head = self.layer.value(), self.head.value()
        if not layer:
            self.chosen.emit(None, None)
            return
        most = self._rows.layers[layer - 1].rows - 1 if self._rows is not None else 0
        self.chosen.emit(layer - 1, min(head, max(most, 0)) - 1 if min(head, max(most, 0)) else None)
