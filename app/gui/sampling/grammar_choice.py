"""A row that chooses among grammars that are there already: none, those that were offered, and ready ones."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.core.grammar import Grammar
from app.gui import theme
from app.gui.sampling.grammar_examples import examples
from app.gui.widgets.boxes import ChoiceBox
from app.gui.widgets.grammar_words import grammar_name
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint


class GrammarChoice(QWidget):
    """Writes no grammar; that is for the dialog of the chat."""

    chosen = Signal(object)
    """Somebody wants another one: the `Grammar`, or None."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._known: list[Grammar | None] = []
        self._box = ChoiceBox()
        self._box.setObjectName(f"{name}_box")
        self._box.setAccessibleName(self.tr("Grammar"))
        hint = self.tr("What the whole answer has to fit. Others are written in the chat, under More in Sampling.")
        caption = label(self.tr("Grammar"))
        caption.setBuddy(self._box)
        for widget in (caption, self._box):
            set_hint(widget, hint)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(caption)
        row.addWidget(self._box, 1)
        self.offer(None)
        for example in examples():
            self.offer(example.grammar)
        self._box.activated.connect(lambda index: self.chosen.emit(self._known[index]))

    def offer(self, grammar: Grammar | None) -> None:
        """Have one more to choose from."""
        if grammar not in self._known:
            self._known.append(grammar)
            self._box.addItem(grammar_name(grammar))

    def show_grammar(self, grammar: Grammar | None) -> None:
        """Show which one is chosen."""
        self.offer(grammar)
        self._box.setCurrentIndex(self._known.index(grammar))
