"""The sampling settings as sliders and boxes; what moves here is in force from the next token on.

The preset and five sliders are always there, everything else stands under “More”. Knows no conversation: the service
says whose settings these are.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.commands import WhenFull
from app.gui import theme
from app.gui.sampling.chain_line import ChainLine
from app.gui.sampling.controls import main_controls
from app.gui.sampling.fold_button import FoldButton
from app.gui.sampling.grammar_row import GrammarRow
from app.gui.sampling.idle import show_idle
from app.gui.sampling.limits import Limits
from app.gui.sampling.more import MoreSettings
from app.gui.sampling.preset_row import PresetRow
from app.gui.widgets.slider_row import SliderRow
from app.services.sampling import Sampling


class SamplingPanel(QWidget):
    """The settings, without a heading: the column that holds the panel has one."""

    when_full_chosen = Signal(str)
    """Somebody wants another policy of a full context: the policy."""
    grammar_wanted = Signal()
    """Somebody wants to set or change what answers have to fit."""

    def __init__(self, sampling: Sampling, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sampling = sampling
        self._presets = PresetRow(sampling)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(self._presets)
        column.addSpacing(theme.SPACE_XS)
        self._rows: dict[str, SliderRow] = {}
        for control in main_controls():
            row = SliderRow(control.name, control.title, control.hint, control.scale)
            row.moved.connect(lambda value, name=control.name: self._change(name, value))
            self._rows[control.name] = row
            column.addWidget(row)
        self._chain = ChainLine()
        column.addWidget(self._chain)
        self._grammar = GrammarRow("grammar_in_force", only_in_force=True)
        self._grammar.edit_wanted.connect(self.grammar_wanted)
        column.addWidget(self._grammar)
        self._fold = FoldButton("sampling_more_button")
        self._limits = Limits()
        self._more = MoreSettings()
        self._folded_part = self._made_folded_part()
        column.addWidget(self._fold)
        column.addWidget(self._folded_part)
        for part in (self._limits, self._more):
            part.changed.connect(self._change)
        self._chain.reset_clicked.connect(sampling.reset_stages)
        self._limits.seed_clicked.connect(self._take_or_free_seed)
        self._limits.when_full_chosen.connect(self.when_full_chosen)
        self._limits.grammar_wanted.connect(self.grammar_wanted)
        self._fold.setChecked(sampling.more_shown)
        self._folded_part.setVisible(sampling.more_shown)
        self._fold.toggled.connect(self._show_more)
        self._disconnect = [
            sampling.changed.connect(self._show),
            sampling.presets_changed.connect(self._show_presets),
        ]
        self._show()

    def disconnect_services(self) -> None:
        """Listen to the settings no longer."""
        for disconnect in self._disconnect:
            disconnect()

    def show_when_full(self, policy: WhenFull) -> None:
        """Show the policy that is in force."""
        self._limits.show_when_full(policy)

    def _made_folded_part(self) -> QWidget:
        made = QWidget()
        made.setObjectName("sampling_more")
        column = QVBoxLayout(made)
        column.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._limits)
        column.addWidget(self._more)
        return made

    def _change(self, name: str, value: object) -> None:
        self._sampling.change(**{name: value})

    def _take_or_free_seed(self) -> None:
        fixed = self._sampling.values.seed is not None
        self._change("seed", None if fixed else self._sampling.last_seed)

    def _show_more(self, shown: bool) -> None:
        self._folded_part.setVisible(shown)
        self._sampling.more_shown = shown
        self._show_grammar()

    def _show_grammar(self) -> None:
        """Say what is in force where the row under “More” does not."""
        self._grammar.show_grammar(None if self._sampling.more_shown else self._sampling.values.grammar)

    def _show(self) -> None:
        values = self._sampling.values
        for name, row in self._rows.items():
            row.set_value(getattr(values, name))
        show_idle(self._rows, values)
        self._chain.show_values(values)
        self._show_grammar()
        self._limits.show_values(values)
        self._more.show_values(values)
        in_use = self._limits.in_use(values) + self._more.in_use(values)
        words = self.tr("More · {count} changed").format(count=in_use) if in_use else self.tr("More")
        hint = self.tr(
            "Seed, longest answer, stop strings, a grammar, a full context, and finer settings of chance and repetition"
        )
        self._fold.set_words(words, hint)
        self._presets.show_values()
        self._show_seed_button()

    def _show_presets(self) -> None:
        self._presets.show_presets()
        self._show_seed_button()

    def _show_seed_button(self) -> None:
        sampling = self._sampling
        self._limits.show_seed_button(fixed=sampling.values.seed is not None, last=sampling.last_seed)
