"""The sampling settings as sliders and boxes; what moves here is in force from the next token on.

What becomes of a full context stands with the limits, and is in force from the next question on.
"""

from __future__ import annotations

from typing import NamedTuple, get_args

from PySide6.QtCore import QCoreApplication, QSignalBlocker, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from app.core.commands import WhenFull
from app.core.sampling import BOUNDS, MAX_SEED, PRESETS
from app.gui import theme
from app.gui.widgets.boxes import ChoiceBox, NumberBox
from app.gui.widgets.card import Card
from app.gui.widgets.labels import label
from app.gui.widgets.slider_row import Scale, SliderRow
from app.services.sampling import Sampling

translate = QCoreApplication.translate
RANDOM_SEED = -1
POLICIES: tuple[WhenFull, ...] = get_args(WhenFull)


class _Control(NamedTuple):
    name: str
    title: str
    hint: str
    scale: Scale


def _controls() -> list[_Control]:
    """Return the sliders in the order of the chain's importance to people."""
    return [
        _Control(
            "temperature",
            translate("SamplingPanel", "Temperature"),
            translate("SamplingPanel", "Higher is more surprising; 0 always takes the most likely token."),
            Scale(BOUNDS["temperature"], 0.0, 2.0, 0.05, 2),
        ),
        _Control(
            "top_k",
            translate("SamplingPanel", "Top-k"),
            translate("SamplingPanel", "Keep this many of the most likely tokens; 0 is off."),
            Scale(BOUNDS["top_k"], 0, 200, 1, 0),
        ),
        _Control(
            "top_p",
            translate("SamplingPanel", "Top-p"),
            translate("SamplingPanel", "Keep the most likely tokens that together reach this share; 1 is off."),
            Scale(BOUNDS["top_p"], 0.0, 1.0, 0.01, 2),
        ),
        _Control(
            "min_p",
            translate("SamplingPanel", "Min-p"),
            translate("SamplingPanel", "Keep tokens with at least this share of the likeliest; 0 is off."),
            Scale(BOUNDS["min_p"], 0.0, 1.0, 0.01, 2),
        ),
        _Control(
            "repeat_penalty",
            translate("SamplingPanel", "Repeat penalty"),
            translate("SamplingPanel", "Makes recent tokens less likely; 1 is off."),
            Scale(BOUNDS["repeat_penalty"], 1.0, 2.0, 0.01, 2),
        ),
    ]


class SamplingPanel(Card):
    """The card with the settings."""

    when_full_chosen = Signal(str)
    """Somebody wants another policy of a full context: the policy."""

    def __init__(self, sampling: Sampling, parent: QWidget | None = None) -> None:
        super().__init__(translate("SamplingPanel", "Sampling"), parent)
        self._sampling = sampling
        self._preset = ChoiceBox()
        self._preset.setObjectName("preset_box")
        self._preset.setAccessibleName(self.tr("Preset"))
        self._preset.addItems([_preset_name(name) for name in PRESETS])
        self._preset.activated.connect(self._choose_preset)
        self.body.addWidget(self._preset)
        self._rows: dict[str, SliderRow] = {}
        for control in _controls():
            row = SliderRow(*control)
            row.moved.connect(lambda value, name=control.name: self._change(name, value))
            self._rows[control.name] = row
            self.body.addWidget(row)
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.SPACE_M)
        grid.setVerticalSpacing(theme.SPACE_S)
        self._seed = self._box(grid, 0, "seed", self.tr("Seed"), RANDOM_SEED, MAX_SEED, self.tr("random"))
        self._limit = self._box(
            grid,
            1,
            "max_tokens",
            self.tr("Longest answer"),
            0,
            BOUNDS["max_tokens"].high,
            self.tr("no limit"),
        )
        self._seed.setToolTip(self.tr("The same seed, settings and history give the same answer; -1 is random."))
        self._limit.setToolTip(self.tr("Most tokens of one answer; 0 is no limit but the context."))
        self._when_full = self._policy_box(grid, 2)
        self.body.addLayout(grid)
        self._seed.valueChanged.connect(self._change_seed)
        self._limit.valueChanged.connect(lambda value: self._sampling.change(max_tokens=int(value)))
        self._disconnect = sampling.changed.connect(self._show)
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the settings no longer."""
        self._disconnect()

    def show_when_full(self, policy: WhenFull) -> None:
        """Show the policy that is in force."""
        self._when_full.setCurrentIndex(POLICIES.index(policy))

    def _policy_box(self, grid: QGridLayout, row: int) -> ChoiceBox:
        box = ChoiceBox()
        box.setObjectName("when_full_box")
        caption = label(self.tr("When the context is full"))
        caption.setBuddy(box)
        box.setAccessibleName(caption.text())
        names: dict[WhenFull, str] = {"stop": self.tr("Stop"), "drop_oldest": self.tr("Drop the oldest turns")}
        box.addItems([names[policy] for policy in POLICIES])
        box.setToolTip(
            self.tr(
                "Stop: a chat that no longer fits is not sent. Drop: whole turns are left out, oldest first; the system "
                "prompt and the last question always stay."
            )
        )
        box.activated.connect(lambda index: self.when_full_chosen.emit(POLICIES[index]))
        grid.addWidget(caption, row, 0, 1, 2)
        grid.addWidget(box, row + 1, 0, 1, 2)
        return box

    def _box(
        self, grid: QGridLayout, row: int, name: str, title: str, low: float, high: float, special: str
    ) -> NumberBox:
        box = NumberBox(low, high, 0)
        box.setObjectName(f"{name}_box")
        box.setAccessibleName(title)
        box.setSpecialValueText(special)
        caption: QLabel = label(title)
        caption.setBuddy(box)
        grid.addWidget(caption, row, 0)
        grid.addWidget(box, row, 1)
        return box

    def _change(self, name: str, value: float) -> None:
        self._sampling.change(**{name: value})

    def _change_seed(self, value: float) -> None:
        self._sampling.change(seed=None if value == RANDOM_SEED else int(value))

    def _choose_preset(self, index: int) -> None:
        if index < len(PRESETS):
            self._sampling.use_preset(list(PRESETS)[index])

    def _show(self) -> None:
        values = self._sampling.values
        for name, row in self._rows.items():
            row.set_value(getattr(values, name))
        with QSignalBlocker(self._seed), QSignalBlocker(self._limit):
            self._seed.setValue(RANDOM_SEED if values.seed is None else values.seed)
            self._limit.setValue(values.max_tokens)
        preset = self._sampling.preset
        own = self._preset.count() > len(PRESETS)
        if preset is None and not own:
            self._preset.addItem(self.tr("Own settings"))
        elif preset is not None and own:
            self._preset.removeItem(len(PRESETS))
        self._preset.setCurrentIndex(len(PRESETS) if preset is None else list(PRESETS).index(preset))


def _preset_name(name: str) -> str:
    names = {
        "Greedy": translate("SamplingPanel", "Greedy"),
        "Precise": translate("SamplingPanel", "Precise"),
        "Balanced": translate("SamplingPanel", "Balanced"),
        "Creative": translate("SamplingPanel", "Creative"),
        "Wild": translate("SamplingPanel", "Wild"),
    }
    return names.get(name, name)
