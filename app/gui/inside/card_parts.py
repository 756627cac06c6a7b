"""What all cards of the sampler laboratory have: a head of one height, and below it what the stage is."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.gui import theme
from app.gui.inside.card_words import explanation, stage_title
from app.gui.widgets.labels import label
from app.gui.widgets.words import set_hint

HEAD_PX = 30
"""As high as the buttons that move a stage."""


def explanation_label(name: str) -> QLabel:
    """Return what a stage does, in the two lines that the longest explanation needs."""
    made = label(explanation(name), look="muted", pixels=theme.SMALL_PX)
    made.setWordWrap(True)
    made.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
    made.setFixedHeight(made.fontMetrics().lineSpacing() * 2 + 2)
    return made


def title_label(name: str) -> QLabel:
    """Return the heading of a card that has no switch; it says what the stage is where that is not shown."""
    made = label(stage_title(name), bold=True)
    made.setFixedHeight(theme.scaled(HEAD_PX))
    set_hint(made, explanation(name))
    return made
