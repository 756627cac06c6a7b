"""A change that needs less memory, in words: the same wherever one is offered."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.words import Sentence
from app.gui.widgets.words import render
from app.services.units import byte_size

translate = QCoreApplication.translate


def lever_text(change: Sentence, saves: int, *, fits: bool, is_needed: bool = True) -> str:
    """Return a change with what it saves, and whether that is enough where it is needed."""
    if not is_needed:
        text = translate("Lever", "{change} · saves {size}")
    elif fits:
        text = translate("Lever", "{change} · saves {size}, then it fits")
    else:
        text = translate("Lever", "{change} · saves {size}, not enough alone")
    return text.format(change=render(change), size=byte_size(saves))
