"""What stands first under “More”: the seed, how long an answer gets, where it stops, and what a full context does.

The last of these is in force from the next question on, and for every chat. Knows no conversation.
"""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget

from app.core.commands import WhenFull
from app.core.grammar import Grammar
from app.core.sampling import BOUNDS, MAX_SEED, Bounds, SamplingSettings
from app.gui import theme
from app.gui.sampling.grammar_choice import GrammarChoice
from app.gui.sampling.grammar_row import GrammarRow
from app.gui.sampling.number_row import NumberRow
from app.gui.sampling.text_list import TextList
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.labels import label
from app.gui.widgets.slider_row import Scale
from app.gui.widgets.words import set_hint

RANDOM_SEED = -1
ANSWER_STEP = 16
POLICIES: tuple[WhenFull, ...] = get_args(WhenFull)


class Limits(QWidget):
    """Rows for what says where an answer begins and ends."""

    changed = Signal(str, object)
    """Somebody wants another value: the setting's name and the value."""
    seed_clicked = Signal()
    """Somebody wants to keep the seed of the last answer, or a new one for each answer again."""
    when_full_chosen = Signal(str)
    """Somebody wants another policy of a full context: the policy."""
    grammar_wanted = Signal()
    """Somebody wants to set or change what answers have to fit."""

    def __init__(self, parent: QWidget | None = None, *, of_chat: bool = True) -> None:
        """Without `of_chat` what holds for every chat is left out: what a full context does; grammars are only chosen."""
        super().__init__(parent)
        self._keep_seed = QToolButton()
        self._keep_seed.setObjectName("seed_button")
        self._keep_seed.setProperty("look", "outlined")
        self._seed = self._seed_row()
        self._limit = self._limit_row()
        self._stops = TextList(
            "stop_strings",
            self.tr("Stop strings"),
            self.tr("The answer ends where one of these texts would come. \\n is a line break, \\t a tab."),
        )
        self._grammar = GrammarRow() if of_chat else GrammarChoice("lane_grammar")
        self._when_full = ChoiceBox()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_S)
        column.addWidget(self._seed)
        column.addWidget(self._keep_seed, 0, Qt.AlignmentFlag.AlignRight)
        for widget in (self._limit, self._stops):
            column.addWidget(widget)
        column.addWidget(self._grammar)
        if of_chat:
            column.addWidget(self._policy_part(self._when_full))
        self._keep_seed.clicked.connect(self.seed_clicked)
        if isinstance(self._grammar, GrammarRow):
            self._grammar.edit_wanted.connect(self.grammar_wanted)
        else:
            self._grammar.chosen.connect(lambda grammar: self.changed.emit("grammar", grammar))
        self._seed.moved.connect(
            lambda value: self.changed.emit("seed", None if value == RANDOM_SEED else int(value))
        )
        self._limit.moved.connect(lambda value: self.changed.emit("max_tokens", int(value)))
        self._stops.edited.connect(lambda texts: self.changed.emit("stop", tuple(texts)))

    def show_values(self, values: SamplingSettings) -> None:
        """Show the values that are in force."""
        self._seed.set_value(RANDOM_SEED if values.seed is None else values.seed)
        self._limit.set_value(values.max_tokens)
        self._stops.set_texts(values.stop)
        self._grammar.show_grammar(values.grammar)

    def offer_grammar(self, grammar: Grammar | None) -> None:
        """Have one more grammar to choose from, where one is chosen."""
        if isinstance(self._grammar, GrammarChoice):
            self._grammar.offer(grammar)

    def in_use(self, values: SamplingSettings) -> int:
        """Return how many of these settings are not as they are by default."""
        usual = SamplingSettings()
        return sum(
            getattr(values, name) != getattr(usual, name) for name in ("seed", "max_tokens", "stop", "grammar")
        )

    def show_when_full(self, policy: WhenFull) -> None:
        """Show the policy that is in force."""
        self._when_full.setCurrentIndex(POLICIES.index(policy))

    def show_seed_button(self, *, fixed: bool, last: int | None) -> None:
        """Offer to keep the last answer's seed, or to give a fixed one up."""
        button = self._keep_seed
        button.setText(self.tr("Random") if fixed else self.tr("Keep last seed"))
        button.setEnabled(fixed or last is not None)
        if fixed:
            hint = self.tr("Draw a new seed for each answer")
        elif last is None:
            hint = self.tr("There is no answer yet whose seed could be kept")
        else:
            hint = self.tr("Keep {seed}, the seed of the last answer").format(seed=last)
        set_hint(button, hint)
        button.setAccessibleName(hint)

    def _policy_part(self, box: ChoiceBox) -> QWidget:
        box.setObjectName("when_full_box")
        caption = label(self.tr("When the context is full"))
        caption.setBuddy(box)
        box.setAccessibleName(caption.text())
        names: dict[WhenFull, str] = {"stop": self.tr("Stop"), "drop_oldest": self.tr("Drop the oldest turns")}
        box.addItems([names[policy] for policy in POLICIES])
        set_hint(
            box,
            self.tr(
                "The context is all that the model has in mind at once. Stop: a chat that no longer fits is not sent. "
                "Drop: its oldest turns are left out; the system prompt and the last question always stay."
            ),
        )
        box.activated.connect(lambda index: self.when_full_chosen.emit(POLICIES[index]))
        made = QWidget()
        column = QVBoxLayout(made)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(theme.SPACE_XS)
        column.addWidget(caption)
        column.addWidget(box)
        return made

    def _seed_row(self) -> NumberRow:
        return NumberRow(
            "seed",
            self.tr("Seed"),
            self.tr(
                "The number that all chance comes from: with the same seed, settings and chat, the answer is the same. "
                "-1 draws a new one for each answer."
            ),
            Scale(Bounds(RANDOM_SEED, MAX_SEED), RANDOM_SEED, MAX_SEED, 1, {RANDOM_SEED: self.tr("random")}),
        )

    def _limit_row(self) -> NumberRow:
        bounds = BOUNDS["max_tokens"]
        return NumberRow(
            "max_tokens",
            self.tr("Longest answer"),
            self.tr(
                "The answer is cut after this many tokens: words or pieces of words. 0 is no limit but the context."
            ),
            Scale(bounds, 0, bounds.high, ANSWER_STEP, {0: self.tr("no limit")}),
        )
