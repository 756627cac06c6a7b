"""The first card of the sampler laboratory where a grammar is in force: how many tokens it masks before the first stage."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QVBoxLayout

from app.core.sampler_cards import GrammarCard
from app.gui import theme
from app.gui.inside.card_parts import explanation_label, title_label
from app.gui.inside.card_words import GRAMMAR, grammar_fact, grammar_spoken
from app.gui.widgets.fixed_text import FixedText
from app.gui.widgets.labels import label
from app.services.units import count

WIDTH_PX = 200


class GrammarCardView(QFrame):
    """Shows what the grammar lets through; it always comes first, and the answer's settings alone have it."""

    def __init__(self, themes: theme.Themes) -> None:
        super().__init__()
        self._themes = themes
        self._masks = False
        self.setObjectName("lab_grammar_card")
        self.setProperty("look", "card")
        self.setFixedWidth(theme.scaled(WIDTH_PX))
        title = title_label(GRAMMAR)
        self.what = explanation_label(GRAMMAR)
        self.figure = FixedText(pixels=theme.FIGURE_PX, bold=True, muted=False, name="lab_grammar_left")
        self._fact = FixedText(name="lab_grammar_fact")
        self._unknown = label(look="muted", pixels=theme.SMALL_PX, name="lab_grammar_unknown")
        self._unknown.setWordWrap(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        column.setSpacing(theme.SPACE_XS)
        for widget in (title, self.what, self.figure, self._fact, self._unknown):
            column.addWidget(widget)
        column.addStretch(1)
        themes.changed.connect(self._show_theme)
        self.show_card(None)

    def show_card(self, card: GrammarCard | None) -> None:
        """Show what the grammar cuts of a step; None where there is no step yet."""
        figure, said = "", "" if card is None else grammar_fact(card)
        is_known = card is not None and card.vocabulary is not None and card.masked is not None
        if card is not None and card.vocabulary is not None and card.masked is not None:
            figure = f"{count(card.vocabulary)} → {count(card.vocabulary - card.masked)}"
        self._masks = card is not None and bool(card.masked)
        self.figure.set_text(figure)
        self._fact.set_text(said if is_known else "")
        self._unknown.setText("" if is_known else said)
        self._unknown.setVisible(bool(said) and not is_known)
        for widget in (self, self.figure):
            widget.setAccessibleName(grammar_spoken(card))
        self._show_theme()

    def _show_theme(self) -> None:
        self.figure.set_colour(self._themes.current.colour("stage_sampling" if self._masks else "muted"))
