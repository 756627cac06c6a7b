"""Sentences from below, in the language of the window."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.core.words import Sentence


def render(sentence: Sentence) -> str:
    """Return a sentence translated and filled in."""
    return QCoreApplication.translate(sentence.context, sentence.template).format(**sentence.values)
