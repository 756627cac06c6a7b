"""The row that says what answers have to fit, and opens where that is written; shown in the section while one is on."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.core.grammar import Grammar
from app.gui import theme
from app.gui.widgets.grammar_words import grammar_name
from app.gui.widgets.labels import ElidedLabel, label
from app.gui.widgets.words import set_hint


class GrammarRow(QWidget):
    """Tells the grammar by its name."""

    edit_wanted = Signal()
    """Somebody wants to see or change it."""

    def __init__(self, name: str = "grammar", *, only_in_force: bool = False) -> None:
        """With `only_in_force` it is hidden while there is no grammar."""
        super().__init__()
        self.setObjectName(f"{name}_row")
        self._only_in_force = only_in_force
        self._said = ElidedLabel()
        self._said.setObjectName(f"{name}_name")
        self._edit = QToolButton()
        self._edit.setObjectName(f"{name}_button")
        self._edit.setProperty("look", "outlined")
        self._edit.clicked.connect(self.edit_wanted)
        caption = label(self.tr("Grammar"), bold=only_in_force)
        caption.setBuddy(self._edit)
        hint = self.tr(
            "A grammar or a JSON schema that the whole answer has to fit: every token that would not is cut before all "
            "other stages. It holds from the next answer on."
        )
        for widget in (caption, self._said):
            set_hint(widget, hint)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.SPACE_S)
        row.addWidget(caption)
        row.addWidget(self._said, 1)
        row.addWidget(self._edit)
        self.show_grammar(None)

    def show_grammar(self, grammar: Grammar | None) -> None:
        """Show what is in force."""
        self._said.set_text(grammar_name(grammar))
        words = self.tr("Set…") if grammar is None else self.tr("Change…")
        self._edit.setText(words)
        said = self.tr("Set a grammar for answers") if grammar is None else self.tr("Change the grammar of answers")
        self._edit.setAccessibleName(said)
        set_hint(self._edit, said)
        if self._only_in_force:
            self.setVisible(grammar is not None)
