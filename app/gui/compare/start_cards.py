"""The quick starts: steps of one setting, greedy against the present settings, several seeds, a grid of two settings."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.core.comparison import MOST_AT_ONCE
from app.core.sampling import SamplingSettings
from app.gui import theme
from app.gui.chat.footer import short_names, shown_value
from app.gui.compare.grid_maker import GridMaker
from app.gui.compare.lane_words import BETWEEN, setting_titles, shared_words
from app.gui.compare.start_card import StartCard
from app.gui.widgets.boxes import NumberBox
from app.gui.widgets.words import set_hint
from app.services.lane_starts import STARTS, STEPS, Start

translate = QCoreApplication.translate
ACROSS = 4
USUAL_SEEDS, FEWEST_SEEDS = 4, 2
BOX_PX = 56


class StartCards(QWidget):
    """Buttons; each puts lanes into the list."""

    chosen = Signal(str, int)
    """Somebody wants the lanes of a quick start (`Start`); the number is how many seeds."""
    grid_made = Signal(object)
    """Somebody wants the lanes of a grid (`Lanes`)."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._is_grid = False
        self.grid = GridMaker()
        self.grid.hide()
        self.grid.made.connect(self.grid_made)
        self._seeds = NumberBox(FEWEST_SEEDS, MOST_AT_ONCE, whole=True, words={}, step=1)
        self._seeds.setObjectName("compare_seeds_box")
        self._seeds.setAccessibleName(self.tr("How many seeds"))
        self._seeds.setFixedWidth(theme.scaled(BOX_PX))
        self._seeds.setValue(USUAL_SEEDS)
        set_hint(self._seeds, self.tr("How many seeds"))
        self._cards = {start: _card(start, themes) for start in STARTS}
        self._cards["seeds"].hold(self._seeds)
        self._grid_card = StartCard(
            "start_grid",
            self.tr("Grid of two settings"),
            self.tr("Up to 4 × 4"),
            self.tr("Choose two settings and values of each: every pair gets a lane, shown as small multiples."),
            themes,
        )
        for start, card in self._cards.items():
            card.clicked.connect(lambda _checked=False, start=start: self._choose(start))
        self._seeds.valueChanged.connect(lambda _value: self._choose("seeds"))
        self._grid_card.clicked.connect(self._toggle_grid)
        self._lay_out()

    def show_present(self, present: SamplingSettings) -> None:
        """Let the lanes have these settings where they do not differ."""
        self.grid.show_present(present)
        short = short_names()["temperature"]
        values = (f"{short} 0", f"{short} {shown_value(present, 'temperature')}")
        self._cards["greedy"].show_values(BETWEEN.join(values))
        self._cards["greedy"].setAccessibleDescription(BETWEEN.join((values[0], shared_words(present, ()))))

    def show_start(self, start: Start | None, *, is_grid: bool) -> None:
        """Mark the quick start that the lanes come from."""
        for each, card in self._cards.items():
            card.setChecked(each == start)
        self._is_grid = is_grid
        self._grid_card.setChecked(is_grid)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setSpacing(theme.SPACE_S)
        cards = [*(self._cards[start] for start in STARTS), self._grid_card]
        for place, card in enumerate(cards):
            grid.addWidget(card, place // ACROSS, place % ACROSS)
            grid.setRowMinimumHeight(place // ACROSS, card.sizeHint().height())  # a style sheet lets it be lower
        for across in range(ACROSS):
            grid.setColumnStretch(across, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addLayout(grid)
        column.addWidget(self.grid)

    def _choose(self, start: Start) -> None:
        self.grid.hide()
        self.chosen.emit(start, int(self._seeds.value()))

    def _toggle_grid(self) -> None:
        """Take the lanes of the grid, and let its values be chosen; once more puts the choice away."""
        self.grid.setVisible(not self.grid.isVisibleTo(self))
        if not self._is_grid:
            self.grid.make()
        self._grid_card.setChecked(self._is_grid)  # with values that make no grid the lanes are still the other ones


def _card(start: Start, themes: theme.Themes) -> StartCard:
    name = f"start_{start}"
    if start == "seeds":
        title, hint = (
            translate("Compare", "Seeds"),
            translate("Compare", "The same settings with other random numbers"),
        )
        return StartCard(name, title, translate("Compare", "A lane for each"), hint, themes)
    if start == "greedy":
        title = translate("Compare", "Greedy or as now")
        hint = translate("Compare", "Always the likeliest token, beside the settings that you have now")
        return StartCard(name, title, "", hint, themes)
    title = setting_titles()[start]
    off = translate("TurnBlock", "off")
    is_off = {"top_k": 0.0, "top_p": 1.0, "min_p": 0.0}
    values = BETWEEN.join(off if is_off.get(start) == value else f"{value:g}" for value in STEPS[start])
    words = translate("Compare", "A lane for each of these values of {setting}; everything else as you have it now")
    return StartCard(name, title, values, words.format(setting=title), themes)
